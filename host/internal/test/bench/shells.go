package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/results"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/host/internal/stage"
	analysis "github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// shells are what the rows on commands share: making it takes longer than what they
// measure.
type shells struct {
	work, temp, spool, kept string

	supervisors *process.Supervisors
	box         *sandbox.Sandbox // nil is none
	// The capability and a session, without a sandbox and with one, nil where there is
	// none.
	plain, boxed     *shell.Capability
	session, confine *host.Session
	closers          []func() error
	// ended is closed when the session of the capability's commands ends, and guarded says
	// that some paths are hidden and protected from them.
	ended   chan struct{}
	guarded bool
	// stage takes the changes of commands; nil means that commands change the disk.
	stage *stage.Store
	// history keeps the files that commands change; nil keeps nothing.
	history capability.History
}

// guards is how many paths are hidden, and how many protected.
const guards = 10

// begin ends the session of the capability's commands and begins another one.
func (s *shells) begin() {
	if s.ended != nil {
		close(s.ended)
	}
	s.ended = make(chan struct{})
}

// limits are such as people set.
var limits = process.Limits{Processes: 1000, Memory: 4 << 30, OpenFiles: 4096}

// shells makes them, once.
func (l *lab) shells(b *testing.B) *shells {
	b.Helper()
	if l.commands != nil {
		return l.commands
	}
	s := &shells{supervisors: process.New(process.Options{})}
	if err := s.open(filepath.Join(l.dir, "shells"), filepath.Join(l.dir, "cache")); err != nil {
		b.Fatal(errors.Join(err, s.close()))
	}
	l.commands = s
	return s
}

func (s *shells) open(dir, cache string) error {
	s.work, s.temp, s.spool, s.kept = filepath.Join(dir, "work"), filepath.Join(dir, "temp"), filepath.Join(dir, "spool"), filepath.Join(dir, "kept")
	for _, d := range []string{s.work, s.temp, s.spool} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(s.work, largeName), bytes.Repeat(content, largeSize/mib1+1)[:largeSize], 0o600); err != nil {
		return err
	}
	if git, err := exec.LookPath("git"); err == nil { // whose configuration commands have a copy of
		if err := exec.CommandContext(context.Background(), git, "-C", s.work, "init", "-q").Run(); err != nil {
			return err
		}
	}
	s.begin()
	for i := range 2 * guards {
		if err := os.WriteFile(s.guard(i), content[:100], 0o600); err != nil {
			return err
		}
	}
	state := filepath.Join(dir, "state")
	if box, report := sandbox.Find(context.Background(), sandbox.Options{State: state}); report.Available {
		s.box = box
	}
	s.plain = shell.New(shell.Options{Settings: shell.Settings{Limits: limits}, Supervisors: s.supervisors, Mode: sandbox.Off})
	s.closers = append(s.closers, s.plain.Close)
	var err error
	if s.session, err = s.newSession(cache, state, sandbox.Off); err != nil || s.box == nil {
		return err
	}
	s.boxed = shell.New(shell.Options{Settings: shell.Settings{Limits: limits}, Supervisors: s.supervisors, Mode: sandbox.Required, Sandbox: s.box})
	s.closers = append(s.closers, s.boxed.Close)
	s.confine, err = s.newSession(cache, state, sandbox.Required)
	return err
}

func (s *shells) newSession(cache, state string, mode sandbox.Mode) (*host.Session, error) {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Options{
		Storage: host.StorageOptions{CacheDir: cache, Sessions: s.kept}, Builtins: true, Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{fiftyRules()}},
		Shell: &host.Shell{Sandbox: host.SandboxOptions{State: state, Mode: mode}, Environ: os.Environ(), Limits: limits},
	})
	if err != nil {
		return nil, err
	}
	asks := permissions.ModeBypass
	if mode == sandbox.Required { // as people have it where there is one
		asks = permissions.ModeAcceptEdits
	}
	session, err := h.NewSession(host.SessionOptions{Cwd: s.work, Mode: asks})
	if err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	s.closers = append(s.closers, func() error { return errors.Join(session.Close(ctx), h.Close(ctx)) })
	return session, nil
}

func (s *shells) close() error {
	var faults []error
	for _, f := range s.closers {
		faults = append(faults, f())
	}
	return errors.Join(append(faults, s.supervisors.Close())...)
}

// run runs a command by the capability, and reads what it answers first.
func (s *shells) run(b *testing.B, confined bool, args json.RawMessage) {
	b.Helper()
	c, ctx := s.plain, context.Background()
	if confined {
		c = s.boxed
	}
	scope := capability.Scope{Cwd: s.work, Report: func(abi.Progress) {}, Call: capability.Call{ID: "1", Tool: "Bash"}, Shell: s, History: s.history}
	plan, err := c.Plan(ctx, scope, abi.Request{Name: abi.CapShellRun, Args: args})
	if err != nil {
		b.Fatal(err)
	}
	answer, err := plan.Do(ctx, nil)
	if err != nil {
		b.Fatal(err)
	}
	if ok, is := answer.OK.(abi.ShellOK); !is || ok.Exit != 0 || ok.Sandboxed != confined {
		b.Fatalf("%+v", answer.OK)
	}
	if err := answer.Close(); err != nil {
		b.Fatal(err)
	}
}

// call calls Bash.
func (s *shells) call(b *testing.B, confined bool, input json.RawMessage) {
	b.Helper()
	session := s.session
	if confined {
		session = s.confine
	}
	if r := session.Results(context.Background(), []abi.ToolUse{{ID: "1", Name: "Bash", Input: input}})[0]; r.IsError {
		b.Fatalf("%.300s", r.Text())
	}
}

// tidy removes what long outputs leave, unmeasured.
func (s *shells) tidy(b *testing.B) {
	b.Helper()
	b.StopTimer()
	defer b.StartTimer()
	for _, pattern := range []string{
		filepath.Join(s.spool, "*"), filepath.Join(s.kept, "*", "output", "*"), filepath.Join(s.kept, "*", results.Dir, "*"),
	} {
		left, err := filepath.Glob(pattern)
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range left {
			if err := os.Remove(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// What follows is what the capability knows of a session: s implements
// [capability.Shell].
var _ capability.Shell = (*shells)(nil)

// Analyse finds out what a command would do.
func (s *shells) Analyse(command string) permissions.Command {
	return analysis.Analyse(command, analysis.Place{Cwd: s.work, Working: []string{s.work}})
}

// guard is one of the paths that are hidden or protected.
func (s *shells) guard(i int) string { return filepath.Join(s.work, fmt.Sprintf("guarded-%d", i)) }

// SandboxPolicy hides and protects something only if that is measured.
func (s *shells) SandboxPolicy(ctx context.Context, _, _ bool) (capability.SandboxPolicy, error) {
	p := capability.SandboxPolicy{Working: []string{s.work}, Temp: s.temp, Ended: s.ended}
	for i := 0; s.guarded && i < guards; i++ {
		p.Hidden, p.Protected = append(p.Hidden, s.guard(i)), append(p.Protected, s.guard(guards+i))
	}
	if s.stage == nil {
		return p, nil
	}
	began := time.Now()
	found, err := s.stage.Layers([]string{s.work}) //nolint:contextcheck // it takes none
	if err != nil {
		return p, err
	}
	overlays, err := s.boxed.Stage(ctx, s.ended, []sandbox.Layer{sandbox.Layer(found[0])})
	if err != nil {
		return p, err
	}
	end := func() { _ = overlays.Close() } // a failure changes no measurement
	p.Staged, p.Discard, p.Made = overlays, end, func() string {
		defer end()
		if err := s.stage.Scan(ctx, began, capability.Call{}); err != nil {
			panic(err)
		}
		return ""
	}
	return p, nil
}

// Environment is this process's, and what makes a command read-only.
func (s *shells) Environment(looks bool) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
	for _, setting := range analysis.Environment() {
		if looks && strings.Contains(setting, "=") {
			env = append(env, setting)
		}
	}
	return env
}

// Spool makes a file for an output.
func (s *shells) Spool(capability.Call) (*os.File, error) { return os.CreateTemp(s.spool, "*.out") }

// Tell listens to nobody.
func (s *shells) Tell(capability.GitEvent) {}

// RunsOutside says that no command leaves the sandbox.
func (s *shells) RunsOutside(*permissions.Command) bool { return false }

// OnlyReads says that none is taken for one that only reads.
func (s *shells) OnlyReads(*permissions.Command) bool { return false }

// Offers says that there is no other tool.
func (s *shells) Offers(string) bool { return false }
