//go:build amd64 || arm64

package shell_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// desk is a session that has Bash, and nothing of its own but a directory.
type desk struct {
	testing.TB
	host    *host.Host
	session *host.Session
	dir     string
	calls   atomic.Int32
}

// setup is what a desk is made of.
type setup struct {
	host    host.Options
	session host.SessionOptions
}

// newDesk makes one whose commands run in a sandbox, and whose rules let every command
// run. Both can be changed.
func newDesk(tb testing.TB, changes ...func(*setup)) *desk {
	tb.Helper()
	testenv.NeedTool(tb, "bash")
	testenv.NeedTool(tb, "bwrap")
	root := folder(tb)
	d := &desk{TB: tb, dir: root + "/work"}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	s := setup{host: options(root)}
	s.session.Cwd = d.dir
	for _, change := range changes {
		change(&s)
	}
	d.open(s)
	tb.Cleanup(d.close)
	return d
}

// cache keeps the compiled guests of all hosts; one that is to be killed, whose
// temporary directory is its own, is told where it is.
func cache() string { return cmp.Or(os.Getenv(cacheName), testenv.CompileCache()) }

// options are the usual ones of a host.
func options(root string) host.Options {
	return host.Options{
		Builtins: true, Storage: host.StorageOptions{CacheDir: cache()}, Paths: host.PathOptions{Home: root}, Observe: host.ObserveOptions{Logger: slog.New(slog.DiscardHandler)},
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Allow: permissions.RuleTexts("Bash")}}},
		Shell:       &host.Shell{Sandbox: host.SandboxOptions{State: root + "/state", Mode: host.SandboxRequired}, Environ: append(os.Environ(), "HOME="+root)},
	}
}

// unconfined has commands run without a sandbox.
func unconfined(s *setup) { s.host.Shell.Sandbox.Mode = host.SandboxOff }

// ruled adds rules.
func ruled(set permissions.RuleSet) func(*setup) {
	return func(s *setup) {
		set.Source = permissions.SourceUser
		s.host.Permissions.Rules = append(s.host.Permissions.Rules, set)
	}
}

// folder makes a temporary one, as it really lies, whose path is short enough for
// sockets.
func folder(tb testing.TB) string {
	tb.Helper()
	dir, err := shortDir()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	return dir
}

func shortDir() (string, error) {
	dir, err := os.MkdirTemp("", "d")
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

func (d *desk) open(s setup) {
	d.Helper()
	var err error
	if d.host, err = host.Open(context.Background(), s.host); err != nil {
		d.Fatal(err)
	}
	if d.session, err = d.host.NewSession(s.session); err != nil {
		d.Fatal(err)
	}
}

// close is safe to repeat.
func (d *desk) close() {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	defer cancel()
	if err := errors.Join(d.session.Close(ctx), d.host.Close(ctx)); err != nil {
		d.Error(err)
	}
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

// put writes a file, which a command could.
func (d *desk) put(name, content string) {
	d.Helper()
	path := d.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		d.Fatal(err)
	}
}

// has reports whether there is something at a path.
func (d *desk) has(name string) bool {
	_, err := os.Lstat(d.path(name))
	return err == nil
}

// input is that of a call.
type input map[string]any

func (d *desk) use(tool string, in input) abi.ToolUse {
	d.Helper()
	return use(d.calls.Add(1), tool, in)
}

func use(n int32, tool string, in input) abi.ToolUse {
	text, err := json.Marshal(in)
	if err != nil {
		panic(err) // it is plain data
	}
	return abi.ToolUse{ID: "c" + strconv.Itoa(int(n)), Name: tool, Input: text}
}

// answer is what a call came to.
type answer struct {
	abi.ToolResult
	// What Bash says for programs.
	Exit      *int   `json:"exit_code"`
	Limit     string `json:"limit"`
	TimedOut  bool   `json:"timed_out"`
	Task      string `json:"task_id"`
	Sandboxed bool   `json:"sandboxed"`
	Took      int64  `json:"duration_ms"`
}

// ran reports whether there was a command at all.
func (a *answer) ran() bool { return len(a.Structured) > 0 }

// output is what the model is told without the notes.
func (a *answer) output() string {
	text := a.Text()
	for strings.HasPrefix(text, "[") {
		_, rest, _ := strings.Cut(text, "\n")
		text = rest
	}
	if strings.HasSuffix(text, "completed with no output)") {
		return ""
	}
	return text
}

// call makes a call in a turn of its own.
func (d *desk) call(ctx context.Context, tool string, in input) answer {
	d.Helper()
	return d.read(d.session.Results(ctx, []abi.ToolUse{d.use(tool, in)})[0])
}

// read reads what a result has for programs.
func (d *desk) read(r abi.ToolResult) answer {
	d.Helper()
	a := answer{ToolResult: r}
	if len(r.Structured) > 0 {
		if err := json.Unmarshal(r.Structured, &a); err != nil {
			d.Fatal(err)
		}
	}
	return a
}

// bash runs a command, with whatever more its input is to have.
func (d *desk) bash(command string, more ...input) answer {
	d.Helper()
	in := input{"command": command}
	for _, m := range more {
		maps.Copy(in, m)
	}
	return d.call(d.Context(), "Bash", in)
}

// unseen runs a command that no judgement sees through, in the shell itself: it comes
// from a file that commands of a sandbox cannot write.
func (d *desk) unseen(command string) answer {
	d.Helper()
	d.put("../unseen.sh", command)
	return d.bash(". " + filepath.Dir(d.dir) + "/unseen.sh")
}

// says runs a command that has to put out just this.
func (d *desk) says(want, command string) {
	d.Helper()
	if a := d.bash(command); !a.ran() || a.output() != want {
		d.Errorf("%s: %q; want %q", command, a.Text(), want)
	}
}

// refused is a call that must not run.
func (d *desk) refused(why string, a answer) {
	d.Helper()
	if !a.IsError || a.ran() || !strings.Contains(a.Text(), why) {
		d.Errorf("%q is no refusal that says %q", a.Text(), why)
	}
}
