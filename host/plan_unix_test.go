//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/plan"
	sessionrules "github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/host/internal/storage"
	"github.com/toolquay/toolquay/permissions"
)

// planVictim is set in the environment of a process that accepts a plan and is killed at a moment
// of that, in the sessions' directory that planVictimDir names.
const planVictim, planVictimDir = "TOOLQUAY_TEST_PLAN_VICTIM", "TOOLQUAY_TEST_PLAN_VICTIM_DIR"

// dying is a session whose person accepts a changed plan, and that is killed at a moment.
type dying struct {
	*storage.Session
	moment string
}

func (d dying) at(moment string) {
	if d.moment == moment {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Hour) // until it is dead
	}
}

func (dying) Mode() permissions.Mode                   { return permissions.ModePlan }
func (dying) Enter() (bool, error)                     { return true, nil }
func (dying) Into() []permissions.Mode                 { return []permissions.Mode{permissions.ModeDefault} }
func (d dying) Path() (string, error)                  { return d.PlanFile() }
func (d dying) Read() (string, error)                  { return d.ReadPlan(d.file()) }
func (d dying) file() permissions.Dir                  { path, _ := d.PlanFile(); return sessionrules.File(path) }
func (d dying) Leave(permissions.Mode, []string) error { d.at("before the mode"); return nil }

func (dying) Ask(context.Context, capability.Ask) (capability.Reply, error) {
	return capability.Reply{Accepted: true, Content: json.RawMessage(`{"plan":"Leave it."}`)}, nil
}

func (d dying) Write(ctx context.Context, text string) error {
	d.at("before the file")
	if d.moment == "within the file" {
		path, _ := d.PlanFile()
		_ = os.WriteFile(filepath.Join(filepath.Dir(path), ".tmp-1"), []byte(text[:3]), 0o600)
		d.at(d.moment)
	}
	return d.WritePlan(ctx, d.file(), capability.Call{}, text)
}

// TestPlanVictim is no test: it is the process that TestPlanKilled kills.
func TestPlanVictim(t *testing.T) {
	moment := os.Getenv(planVictim)
	if moment == "" {
		return // there is nobody to kill
	}
	kept, err := storage.Open(storage.Options{Parent: os.Getenv(planVictimDir), ID: "one", Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	d := dying{kept, moment}
	p, err := plan.New().Plan(t.Context(), capability.Scope{Person: d, PlanMode: d, PlanFile: d}, abi.Request{Name: abi.CapSessionPlan, Args: json.RawMessage(`{"do":"exit"}`)})
	must(t, err)
	_, err = p.Do(t.Context(), nil)
	t.Fatalf("it is not dead: %v", err)
}

// TestPlanKilled: what a process leaves that is killed while a plan is accepted is the plan as it
// was, or as the person changed it. The next one is in the mode plan, and asks again.
func TestPlanKilled(t *testing.T) {
	t.Parallel()
	for moment, want := range map[string]string{"before the file": "Mend it.", "within the file": "Mend it.", "before the mode": "Leave it."} {
		sessions := filepath.Join(t.TempDir(), "sessions")
		open := func(answer host.Reply) (*host.Session, *recorder) {
			return planner(t, host.SessionOptions{ID: "one", Mode: permissions.ModePlan}, func(o *host.Options) { o.Storage.Sessions = sessions }, func(host.Question) host.Reply { return answer })
		}
		s, _ := open(yesReply)
		writePlan(t, s, "Mend it.")
		must(t, s.Close(t.Context()))
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPlanVictim$")
		cmd.Env = append(os.Environ(), planVictim+"="+moment, planVictimDir+"="+sessions)
		out, err := cmd.CombinedOutput()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("%s: it was not killed: %v\n%s", moment, err, out)
		}
		s, asker := open(yesReply)
		got := fields(t, call(t, s, "ExitPlanMode", `{}`))["plan"]
		if asked := last(t, asker).Plan.Plan; got != want || asked != want || s.Mode() != permissions.ModeDefault {
			t.Errorf("%s: %q was asked, and %q accepted, into %s", moment, asked, got, s.Mode())
		}
		if left, err := filepath.Glob(filepath.Join(s.Dir(), ".tmp-*")); err != nil || len(left) > 0 {
			t.Errorf("%s: %q is left, %v", moment, left, err)
		}
	}
}

// TestPlanFileIsReplacedWhileAsked: what the person accepted takes the place of whatever lies there
// by then, or the mode stays. Nothing waits for a writer.
func TestPlanFileIsReplacedWhileAsked(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "profile")
	must(t, os.WriteFile(target, []byte("hunter2"), 0o600))
	for name, test := range map[string]struct {
		by   func(path string) error
		says string // empty where the plan is accepted
	}{
		"a link":      {func(path string) error { return os.Symlink(target, path) }, "leads elsewhere"},
		"a FIFO":      {func(path string) error { return syscall.Mkfifo(path, 0o600) }, ""},
		"a directory": {func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) }, "the mode stays"},
		"100 MB": {func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 100<<20))
		}, ""},
		"nothing": {func(string) error { return nil }, ""},
	} {
		var path string
		s, _ := planner(t, host.SessionOptions{Mode: permissions.ModePlan}, nil, func(host.Question) host.Reply {
			must(t, errors.Join(os.Remove(path), test.by(path)))
			return yesReply
		})
		path = writePlan(t, s, "Mend it.")
		r, _ := one(t, s, "ExitPlanMode", `{}`)
		if r.IsError != (test.says != "") || !strings.Contains(r.Text(), test.says) || r.IsError != (s.Mode() == permissions.ModePlan) {
			t.Errorf("%s: %s, in %s", name, r.Text(), s.Mode())
		}
		if text, err := os.ReadFile(path); test.says == "" && (err != nil || string(text) != "Mend it.") {
			t.Errorf("%s: the plan is %.100q, %v", name, text, err)
		}
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "hunter2" {
		t.Errorf("another file has %q, %v", text, err)
	}
}
