package commands

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/host/internal/protected"
	shellrun "github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// fakeCall is a call, its session and its gate, without a host.
type fakeCall struct {
	dir      string
	policy   *permissions.Policy
	approved []permissions.Access
	remarks  []string
	analysed int
	temp     error
}

func (f *fakeCall) Temp() (string, error)    { return f.dir + "/tmp", f.temp }
func (f *fakeCall) Outputs() (string, error) { return f.dir, nil }
func (*fakeCall) Ended() <-chan struct{}     { return nil }

func (*fakeCall) Staging() Staging                 { return nil }
func (f *fakeCall) Backgrounds() bool              { return false }
func (f *fakeCall) Policy() *permissions.Policy    { return f.policy }
func (f *fakeCall) Approved() []permissions.Access { return f.approved }
func (f *fakeCall) MayRead(string) bool            { return false }
func (f *fakeCall) Place() shell.Place             { return shell.Place{Cwd: f.dir} }
func (f *fakeCall) Offers(string) bool             { return true }
func (f *fakeCall) Remark(text string)             { f.remarks = append(f.remarks, text) }
func (f *fakeCall) Tell(capability.GitEvent)       {}
func (f *fakeCall) Reachable(func(ctx context.Context, port int) (net.Conn, error)) {
}

func (f *fakeCall) Analyse(text string, at shell.Place) permissions.Command {
	f.analysed++
	return shell.Analyse(text, at)
}

// newFake returns a call in a directory of its own, whose policy denies reading .env and
// allows one host, and the shell that commands run by.
func newFake(tb testing.TB, o Options) (*fakeCall, *Shell) {
	tb.Helper()
	dir := paths.Real(tb.TempDir())
	f := &fakeCall{dir: dir}
	f.compile(tb, permissions.Dir{}, permissions.ModeDefault, "Read(.env)")
	o.Logger = slog.New(slog.DiscardHandler)
	var memory protected.Memory
	var links protected.HardLinks
	links.Begin(tb.Context(), f, &memory)
	return f, NewShell(NewRunner(o), Call{Tool: "Bash", Session: f, Gate: f, Analyser: f, Audience: f, Memory: &memory, Links: &links})
}

// compile makes the policy anew.
func (f *fakeCall) compile(tb testing.TB, home permissions.Dir, mode permissions.Mode, deny ...string) {
	tb.Helper()
	policy, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: f.dir, Real: f.dir}, Home: home}, Resolve: paths.Real, ResolveDirectory: paths.Real, Mode: mode,
		Rules: []permissions.RuleSet{{
			Source: permissions.SourceUser,
			Deny:   permissions.RuleTexts(append(deny, "WebFetch(domain:evil.example.org)")...), Allow: permissions.RuleTexts("WebFetch(domain:example.com)"),
		}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	f.policy = policy
}

func (f *fakeCall) make(tb testing.TB, names ...string) {
	tb.Helper()
	for _, name := range names {
		path := filepath.Join(f.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// TestSandboxPolicy makes the policy of a sandbox from rules and files alone.
func TestSandboxPolicy(t *testing.T) {
	t.Parallel()
	caches := paths.Real(t.TempDir())
	f, s := newFake(t, Options{
		Writable: []string{caches}, Hosts: []string{"*.example.org"}, Shell: shellrun.Settings{Network: sandbox.NetworkHosts},
	})
	f.make(t, "sub/deep/.env", "sub/.vscode/settings.json", "plain")
	p, err := s.SandboxPolicy(t.Context(), true, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{f.dir, caches}; !slices.Equal(p.Working, want) || p.Temp != f.dir+"/tmp" {
		t.Errorf("writable are %q and %s, want %q", p.Working, p.Temp, want)
	}
	if want := f.dir + "/sub/deep/.env"; !slices.Contains(p.Hidden, want) {
		t.Errorf("hidden are %q, without %s", p.Hidden, want)
	}
	if want := f.dir + "/sub/.vscode"; !slices.Contains(p.Protected, want) {
		t.Errorf("protected are %q, without %s", p.Protected, want)
	}
	for host, want := range map[string]bool{"example.com": true, "api.example.org": true, "evil.example.org": false, "example.net": false, "localhost": false} {
		if got := p.Host(t.Context(), host); got != want {
			t.Errorf("%s is reachable: %t, want %t", host, got, want)
		}
	}
	if note := p.Made(); note != "" {
		t.Errorf("nothing was made, and told is %q", note)
	}
	f.make(t, "sub/.idea/workspace.xml")
	if note := p.Made(); !strings.Contains(note, "sub/.idea") {
		t.Errorf("told is %q", note)
	}
}

// TestApproved opens what a person allowed the call, and nothing that a rule denies.
func TestApproved(t *testing.T) {
	t.Parallel()
	f, s := newFake(t, Options{})
	outside := paths.Real(t.TempDir())
	for _, name := range []string{"file", "tree/in/it"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(outside, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(outside, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(outside, "link")
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	access := func(kind permissions.AccessKind, target string, tree bool) {
		f.approved = append(f.approved, permissions.Access{Kind: kind, Target: target, Real: target, Tree: tree})
	}
	access(permissions.AccessWrite, outside+"/file", false)
	access(permissions.AccessWrite, outside+"/tree", true)
	access(permissions.AccessWrite, outside+"/tree/in", false) // a directory, but not what is in it
	access(permissions.AccessWrite, outside+"/missing", false)
	access(permissions.AccessWrite, link, false) // not where it leads
	access(permissions.AccessWrite, f.dir+"/inside", false)
	access(permissions.AccessRead, outside+"/tree/in/it", false)
	access(permissions.AccessWrite, "/", true)
	for _, host := range []string{"https://shown.example/path", "localhost:3000", "evil.example.org"} {
		access(permissions.AccessNet, host, false)
	}
	p, err := s.SandboxPolicy(t.Context(), true, true)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{outside + "/file", outside + "/tree"}; !slices.Equal(p.Opened, want) || !p.HostsOpened {
		t.Errorf("opened are %q and hosts %t, want %q", p.Opened, p.HostsOpened, want)
	}
	for host, want := range map[string]struct{ reached, local bool }{
		"shown.example": {reached: true}, "localhost": {true, true}, "evil.example.org": {},
		"example.com": {local: true}, // rules open nothing where commands reach no hosts
	} {
		if got := p.Host(t.Context(), host); got != want.reached {
			t.Errorf("%s is reachable: %t, want %t", host, got, want.reached)
		}
		if got := p.Local(host); got != want.local {
			t.Errorf("%s may be local: %t, want %t", host, got, want.local)
		}
	}
}

// TestSandboxPolicyOfReaders looks for no more than a command needs.
func TestSandboxPolicyOfReaders(t *testing.T) {
	t.Parallel()
	f, s := newFake(t, Options{})
	f.make(t, "sub/.env", "sub/.vscode/settings.json")
	reading, err := s.SandboxPolicy(t.Context(), true, false)
	if err != nil || reading.Made != nil || !slices.Contains(reading.Hidden, f.dir+"/sub/.env") || slices.Contains(reading.Protected, f.dir+"/sub/.vscode/") {
		t.Errorf("a reader is held to %+v (%v)", reading, err)
	}
	open, err := s.SandboxPolicy(t.Context(), false, true)
	if err != nil || len(open.Hidden)+len(open.Protected) > 0 || open.Host != nil {
		t.Errorf("a command without a sandbox is held to %+v (%v)", open, err)
	}
}

// TestSandboxPolicyFails says why there is none.
func TestSandboxPolicyFails(t *testing.T) {
	t.Parallel()
	f, s := newFake(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.SandboxPolicy(ctx, true, false); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("a call that is over gets %v", err)
	}
	f.temp = os.ErrClosed
	if _, err := s.SandboxPolicy(t.Context(), false, false); err == nil || !strings.Contains(err.Error(), "temporary files") {
		t.Errorf("a session that is over gets %v", err)
	}
}

// TestShellAnalysesOnce judges and plans by one analysis of a command.
func TestShellAnalysesOnce(t *testing.T) {
	t.Parallel()
	f, s := newFake(t, Options{})
	if first, second := s.Analyse("cat a"), s.Analyse("cat a"); !first.ReadOnly || !second.ReadOnly || f.analysed != 1 {
		t.Errorf("analysed %d times: %+v", f.analysed, first)
	}
	if s.Cwd() != f.dir {
		t.Errorf("commands begin in %s", s.Cwd())
	}
}

// TestEnvironment passes the usual variables, and what settings name; what keeps a command
// read-only comes before both.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	r := NewRunner(Options{
		Environ:     []string{"PATH=/bin", "LC_ALL=C", "TOKEN=secret", "MY_A=1", "PAGER=less", "GIT_DIR=/elsewhere", "GIT_AUTHOR_NAME=A"},
		Environment: []string{"MY_*", "PAGER", "GIT_DIR"},
	})
	usual, looking := r.Environment(false), r.Environment(true)
	for _, want := range []string{"PATH=/bin", "LC_ALL=C", "MY_A=1", "PAGER=cat", "GIT_DIR=/elsewhere", "GIT_AUTHOR_NAME=A", "TERM=dumb"} {
		if !slices.Contains(usual, want) {
			t.Errorf("%s is not in %q", want, usual)
		}
	}
	if slices.Contains(usual, "TOKEN=secret") || slices.Contains(looking, "GIT_DIR=/elsewhere") || !slices.Contains(looking, "GIT_OPTIONAL_LOCKS=0") {
		t.Errorf("the environments are %q and, for commands that only read, %q", usual, looking)
	}
	usual[0] = ""
	if slices.Contains(r.Environment(false), "") {
		t.Error("a caller's change reaches the next one")
	}
}

// TestRunnerClosed says why nothing runs any more.
func TestRunnerClosed(t *testing.T) {
	t.Parallel()
	r := NewRunner(Options{Logger: slog.New(slog.DiscardHandler)})
	reason := errors.New("it is closed")
	if err := errors.Join(r.Close(reason), r.Close(reason)); err != nil {
		t.Fatal(err)
	}
	_, err := r.Plan(t.Context(), capability.Scope{}, abi.Request{Name: abi.CapShellRun})
	if !errors.Is(err, reason) || abi.CodeOf(err) != abi.CodeCancelled || r.Confines(t.Context()) {
		t.Errorf("a closed runner says %v", err)
	}
}

// TestOddEnvironment takes the last of several values, and nothing from entries without one.
func TestOddEnvironment(t *testing.T) {
	t.Parallel()
	got := environmentOf([]string{"PATH=/usr/bin", "PATH", "LANG=a", "LANG=b", "SECRET=x"}, nil, false)
	for _, want := range []string{"PATH=/usr/bin", "LANG=b"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
	if slices.Contains(got, "SECRET=x") {
		t.Errorf("a secret is in %v", got)
	}
}

// TestConfigurationIsCopied gives a command copies of the configurations of repositories, and
// takes over what it may change.
func TestConfigurationIsCopied(t *testing.T) {
	t.Parallel()
	git := testenv.NeedTool(t, "git")
	f, s := newFake(t, Options{})
	f.make(t, "tmp/x", "config", "sub/plain/config")
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	run(f.dir, "init", "-q")
	run(f.dir, "init", "-q", "sub/own")
	for _, copying := range []bool{false, true} {
		p := capability.SandboxPolicy{Working: []string{f.dir}, Temp: f.dir + "/tmp"}
		var live *liveCopies
		if copying {
			live = &liveCopies{}
		}
		if err := sandboxPolicy(t.Context(), &s.runner.options, &s.call, f.policy, &p, true, live); err != nil {
			t.Fatal(err)
		}
		var copied []string
		for _, c := range p.Copies {
			copied = append(copied, strings.TrimPrefix(c.Path, f.dir+"/"))
			if slices.Contains(p.Protected, c.Path) {
				t.Errorf("%s is protected", c.Path)
			}
		}
		if want := []string{".git/config", "sub/own/.git/config"}; copying && !slices.Equal(copied, want) || !copying && len(copied) > 0 {
			t.Errorf("copied are %q", copied)
		}
		if !copying {
			continue
		}
		run(f.dir, "config", "--file", p.Copies[1].Private, "user.name", "B")
		run(f.dir, "config", "--file", p.Copies[1].Private, "core.pager", "x")
		next := capability.SandboxPolicy{Working: []string{f.dir}, Temp: f.dir + "/tmp"}
		if err := sandboxPolicy(t.Context(), &s.runner.options, &s.call, f.policy, &next, true, live); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(next.Copies[1].Private); err != nil || !strings.Contains(string(text), "name = B") {
			t.Errorf("the next command gets %s, %v", text, err)
		}
		run(f.dir, "config", "--file", next.Copies[0].Private, "alias.x", "y")
		if err := os.WriteFile(next.Copies[1].Private, []byte("["), 0o600); err != nil {
			t.Fatal(err)
		}
		if note := next.Made(); !strings.Contains(note, "into .git/config: alias.x.") || !strings.Contains(note, "what the command changed in sub/own/.git/config was not taken over") {
			t.Errorf("told is %q", note)
		}
		note := p.Made()
		if len(live.all) > 0 {
			t.Errorf("%d are live", len(live.all))
		}
		if !strings.HasPrefix(note, "Not taken over into sub/own/.git/config: core.pager.") || !strings.HasSuffix(note, " Taken over: user.name.") {
			t.Errorf("told is %q", note)
		}
		if text, err := os.ReadFile(f.dir + "/sub/own/.git/config"); err != nil || !strings.Contains(string(text), "name = B") || strings.Contains(string(text), "pager") {
			t.Errorf("there is %s, %v", text, err)
		}
		if left, _ := filepath.Glob(f.dir + "/tmp/git-*"); len(left) > 0 {
			t.Errorf("left are %q", left)
		}
	}
}
