package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	analysis "github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// marker is in the environment of the tests and must be in no child's.
const marker = "TOOLQUAY_TEST_SECRET=4711-marker"

func TestMain(m *testing.M) {
	process.Main() // returns, unless this process was started as a supervisor
	bridge()
	name, value, _ := strings.Cut(marker, "=")
	if err := os.Setenv(name, value); err != nil {
		panic(err)
	}
	testenv.Waiting()
	os.Exit(m.Run())
}

// session stands for a session: its directories, what it was told, and its tasks.
type session struct {
	tb        testing.TB
	dir, temp string
	spool     string
	hidden    []string
	protected []string
	environ   []string
	tools     map[string]bool
	outside   string // begins the commands that may leave the sandbox
	noTasks   bool
	refuse    error // why no task may begin
	history   capability.History
	// stage adds overlays to a command's policy; without it commands change the disk.
	stage func(ctx context.Context, p *capability.SandboxPolicy) error

	mu       sync.Mutex
	events   []capability.GitEvent
	spools   []string
	progress []abi.Progress
	begun    chan *task
}

// task is one that was begun.
type task struct {
	capability.NewTask
	ended chan capability.TaskOutcome
}

func (t *task) ID() string                   { return "b12345678" }
func (t *task) End(o capability.TaskOutcome) { t.ended <- o }
func (t *task) outcome(tb testing.TB) capability.TaskOutcome {
	tb.Helper()
	select {
	case o := <-t.ended:
		return o
	case <-time.After(testenv.Patience):
		tb.Fatal("the task does not end")
		return capability.TaskOutcome{}
	}
}

func newSession(tb testing.TB) *session {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	s := &session{
		tb: tb, dir: filepath.Join(root, "work"), temp: filepath.Join(root, "temp"), spool: filepath.Join(root, "spool"),
		environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "LANG=C.UTF-8"}, begun: make(chan *task, 8),
	}
	for _, dir := range []string{s.dir, s.temp, s.spool} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func (s *session) Analyse(command string) permissions.Command {
	return analysis.Analyse(command, analysis.Place{Cwd: s.dir, Working: []string{s.dir}})
}

func (s *session) SandboxPolicy(ctx context.Context, _, _ bool) (capability.SandboxPolicy, error) {
	p := capability.SandboxPolicy{Working: []string{s.dir}, Temp: s.temp, Hidden: s.hidden, Protected: s.protected}
	if s.stage == nil {
		return p, nil
	}
	err := s.stage(ctx, &p)
	return p, err
}

func (s *session) Environment(looks bool) []string {
	env := append([]string(nil), s.environ...)
	if looks {
		for _, v := range analysis.Environment() {
			if strings.Contains(v, "=") {
				env = append(env, v)
			}
		}
	}
	return env
}

func (s *session) Spool(capability.Call) (*os.File, error) {
	f, err := os.CreateTemp(s.spool, "out-*.txt")
	if err == nil {
		s.mu.Lock()
		s.spools = append(s.spools, f.Name())
		s.mu.Unlock()
	}
	return f, err
}

func (s *session) Tell(d capability.GitEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, d)
}

func (s *session) Offers(tool string) bool { return s.tools[tool] }

func (s *session) RunsOutside(command *permissions.Command) bool {
	return s.outside != "" && strings.HasPrefix(command.Text, s.outside)
}

func (s *session) OnlyReads(*permissions.Command) bool { return false }

// tasks is the part of the session that takes tasks.
type tasks struct {
	capability.Tasks
	s *session
}

func (t tasks) Begin(n capability.NewTask) (capability.Task, error) {
	if t.s.refuse != nil {
		return nil, t.s.refuse
	}
	begun := &task{NewTask: n, ended: make(chan capability.TaskOutcome, 1)}
	t.s.begun <- begun
	return begun, nil
}

func (s *session) report(p abi.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.progress = append(s.progress, p)
}

func (s *session) scope() capability.Scope {
	scope := capability.Scope{Cwd: s.dir, Report: s.report, Call: capability.Call{ID: "call", Tool: "Bash"}, Shell: s, History: s.history}
	if !s.noTasks {
		scope.Tasks = tasks{s: s}
	}
	return scope
}

// supervisors are shared by the tests, as they would be by sessions.
var supervisors = sync.OnceValue(func() *process.Supervisors { return process.New(process.Options{}) })

// newShell returns a capability without a sandbox.
func newShell(tb testing.TB, change ...func(*shell.Options)) *shell.Capability {
	tb.Helper()
	testenv.NeedTool(tb, "bash")
	o := shell.Options{Supervisors: supervisors(), Mode: "off"}
	for _, f := range change {
		f(&o)
	}
	c := shell.New(o)
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// result is what a call came to.
type result struct {
	abi.ShellOK
	out, err string
}

// try makes a call.
func (s *session) try(ctx context.Context, c *shell.Capability, args abi.ShellArgs) (result, error) {
	s.tb.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		s.tb.Fatal(err)
	}
	p, err := c.Plan(ctx, s.scope(), abi.Request{Name: abi.CapShellRun, Args: data})
	if err != nil {
		return result{}, err
	}
	want := permissions.Access{Kind: permissions.AccessExec, Target: args.Command}
	if got := p.Accesses(); len(got) != 1 || got[0] != want {
		s.tb.Errorf("accesses %+v; want the command", got)
	}
	answer, err := p.Do(ctx, nil)
	if err := errors.Join(err, p.Close()); err != nil {
		return result{}, err
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		s.tb.Fatal(err)
	}
	ok := answer.OK.(abi.ShellOK)
	if int64(len(body)) != answer.Size || answer.Size != ok.OutSize+ok.ErrSize {
		s.tb.Errorf("a body of %d bytes was announced as %d, of %d and %d", len(body), answer.Size, ok.OutSize, ok.ErrSize)
	}
	return result{ok, string(body[:ok.OutSize]), string(body[ok.OutSize:])}, nil
}

func (s *session) run(c *shell.Capability, args abi.ShellArgs) result {
	s.tb.Helper()
	r, err := s.try(s.tb.Context(), c, args)
	if err != nil {
		s.tb.Fatalf("%.200q: %v", args.Command, err)
	}
	return r
}

// bash runs a command as most calls do.
func (s *session) bash(c *shell.Capability, command string) result {
	s.tb.Helper()
	return s.run(c, abi.ShellArgs{Command: command})
}

// left are the files of outputs that are still there.
func (s *session) left() []string {
	s.tb.Helper()
	var names []string
	for _, dir := range []string{s.spool, s.temp} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			s.tb.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() { // sandboxes make some to mount on: these tests lie in /tmp
				names = append(names, e.Name())
			}
		}
	}
	return names
}
