//go:build amd64 || arm64

package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/testenv"
)

// partially has commands of the session run in the partial sandbox of a machine that offers no
// whole one.
func (s *session) partially() func(*shell.Options) {
	s.tb.Helper()
	root := filepath.Dir(s.dir)
	box, report := sandbox.Find(s.tb.Context(), sandbox.Options{
		State: filepath.Join(root, "state"), Home: root, Program: filepath.Join(root, "nothing"), Supervisors: supervisors(),
	})
	if report.Kind != "landlock" {
		testenv.Missing(s.tb, "no Landlock: "+report.String())
	}
	return func(o *shell.Options) {
		o.Mode, o.Sandbox, o.Network = sandbox.WhenAvailable, box, sandbox.NetworkHosts
	}
}

// TestPartialSandbox holds commands by the kernel alone, which is said to count as nothing.
func TestPartialSandbox(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.hidden = []string{filepath.Join(s.dir, "secret")}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(s.dir, "secret"), []byte("secret\n"), 0o600))
	must(os.Mkdir(filepath.Join(s.dir, "sub"), 0o700))
	c := newShell(t, s.partially())

	r := s.bash(c, "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; mkdir n; cd n; echo x >$TMPDIR/x; (echo x >/usr/x) 2>&1")
	if r.Sandboxed || r.Exit != 1 || !strings.Contains(r.out, "/usr/x: Permission denied") || r.Cwd != filepath.Join(s.dir, "n") ||
		!strings.Contains(r.Note, "It ran in a partial sandbox in which only "+s.dir+" and "+s.temp+", /tmp, /var/tmp can be written to") {
		t.Errorf("got %+v", r)
	}
	if content(t, filepath.Join(s.temp, "x")) != "x\n" || content(t, filepath.Join(s.dir, ".git/HEAD")) == "" {
		t.Error("what it wrote is not there")
	}
	if r = s.bash(c, "bash -c 'echo a >/dev/stderr; echo b | tee /dev/stdout; echo c >>/dev/fd/1; diff <(echo) <(echo); rm $(mktemp) >/dev/null'"); r.Exit != 0 || strings.Contains(r.out, "denied") {
		t.Errorf("got %+v", r)
	}
	if r = s.bash(c, "setsid sleep 1000 & echo begun"); r.Left == 0 || r.out != "begun\n" {
		t.Errorf("what it left behind is not ended: %+v", r)
	}
	// What only reads is held more closely, and tells where it went by a FIFO.
	if r = s.bash(c, "cat secret; cd sub && pwd"); !strings.Contains(r.out, "secret: Permission denied\n") || r.Cwd != filepath.Join(s.dir, "sub") {
		t.Errorf("got %+v", r)
	}
	if r = s.bash(c, "grep -r secret ."); r.Exit != 2 || r.Program != "grep" || !strings.Contains(r.Note, "secret is hidden") {
		t.Errorf("what only hidden files may hold is no failure: got %+v", r)
	}
	if r = s.run(c, abi.ShellArgs{Command: "grep -h secret secret ../work/secret", Unsandboxed: true}); r.out != "secret\nsecret\n" || r.Note != "" {
		t.Errorf("outside: got %+v", r)
	}
	if left := s.left(); len(left) != 1 { // x
		t.Errorf("left behind: %q", left)
	}
}

// TestPartialSandboxIsNone refuses commands where a sandbox is required.
func TestPartialSandboxIsNone(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.partially(), func(o *shell.Options) { o.Mode, o.Missing = sandbox.Required, "nothing is whole" })
	if _, err := s.try(t.Context(), c, abi.ShellArgs{Command: "echo x >made"}); abi.CodeOf(err) != abi.CodeUnsupported || !strings.Contains(err.Error(), "nothing is whole") {
		t.Errorf("got %v", err)
	}
}

// TestPartialNetwork has commands reach the machine's network, unless it is off or they only
// read.
func TestPartialNetwork(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	const ask = "exec 3<>/dev/tcp/127.0.0.1/9" // where nobody listens
	open := newShell(t, s.partially())
	if r := s.bash(open, ask); !strings.Contains(r.out, "refused") || strings.Contains(r.Note, "without a network") {
		t.Errorf("by hosts: got %+v", r)
	}
	off := newShell(t, s.partially(), func(o *shell.Options) { o.Network = sandbox.NetworkOff })
	if r := s.bash(off, ask); !strings.Contains(r.out, "not supported") || !strings.Contains(r.Note, "without a network") {
		t.Errorf("off: got %+v", r)
	}
}
