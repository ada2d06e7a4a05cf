package shell_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox/proxy"
	"github.com/toolquay/toolquay/internal/testenv"
)

// bridging is the first argument of this program as a bridge.
const bridging = "bridge"

// bridge serves where this process was started as a bridge.
func bridge() {
	if len(os.Args) < 3 || os.Args[1] != bridging {
		return
	}
	exit, err := proxy.Bridge(context.Background(), os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(exit)
}

// sandboxed has commands of the session run in a sandbox.
func (s *session) sandboxed() func(*shell.Options) { return s.sandboxedBy("") }

// sandboxedBy is sandboxed by a bubblewrap; empty is what this machine offers.
func (s *session) sandboxedBy(program string) func(*shell.Options) {
	s.tb.Helper()
	testenv.Permitted(s.tb, testenv.Linux)
	root := filepath.Dir(s.dir)
	box, report := sandbox.Find(s.tb.Context(), sandbox.Options{
		State: filepath.Join(root, "state"), Home: root, Bridge: []string{executable(), bridging}, Program: program,
	})
	if !report.Available {
		testenv.Missing(s.tb, "no sandbox: "+report.String())
	}
	return func(o *shell.Options) { o.Mode, o.Sandbox, o.Network = sandbox.Required, box, sandbox.NetworkOff }
}

var executable = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
})

func TestCommandsAreConfined(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	r := s.bash(c, "echo x >made && echo y >/tmp/temporary && ls -a && (echo z >../outside) 2>&1; ls /proc/self/fd; cd /usr")
	if !r.Sandboxed || !strings.HasPrefix(r.out, ".\n..\nmade\n") || !strings.HasSuffix(r.out, "\n0\n1\n2\n3\n") || r.Refused != "/usr" {
		t.Errorf("got %+v", r)
	}
	if content(t, filepath.Join(s.dir, "made")) != "x\n" || content(t, filepath.Join(s.temp, "temporary")) != "y\n" {
		t.Error("what it wrote is not there")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(s.dir), "outside")); err == nil {
		t.Error("it wrote outside")
	}
	r = s.bash(c, "mkdir sub; cd sub; echo x >/usr/outside")
	if r.Exit != 1 || !strings.Contains(r.Note, "ran in a sandbox in which only "+s.dir) || r.Cwd != filepath.Join(s.dir, "sub") {
		t.Errorf("got %+v", r)
	}
	if r := s.run(c, abi.ShellArgs{Command: "touch ../outside", Unsandboxed: true}); r.Exit != 0 || r.Sandboxed || r.Note != "" {
		t.Errorf("outside: got %+v", r)
	}
}

func TestReadingCommandsCanDoNothingElse(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	if err := os.Mkdir(filepath.Join(s.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(s.dir, "sub")
	for _, test := range []struct {
		command, out, cwd string
		exit              int
	}{
		{"echo hello", "hello\n", "", 0},
		{"cd sub && pwd", sub + "\n", sub, 0}, // ready shells
		{"cd sub; pwd; echo $$ >/dev/null", sub + "\n", sub, 0},
		{"grep x /dev/null", "", "", 1},
		{"cat nosuchfile 2>/dev/null; echo $?", "1\n", "", 0},
		{"printf 'a\\0\\xff'", "a\x00\uFFFD", "", 0},
	} {
		for range 3 {
			r := s.bash(c, test.command)
			if r.out != test.out || r.Cwd != test.cwd || r.Exit != test.exit || !r.Sandboxed || r.Refused != "" {
				t.Errorf("%q: got %+v", test.command, r)
			}
		}
	}
	r := s.run(c, abi.ShellArgs{Command: "cat sub/../work nosuch; echo out", Separate: true})
	if r.out != "out\n" || !strings.Contains(r.err, "nosuch") {
		t.Errorf("separately: got %+v", r)
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestReadingCommandsEnd(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxed(), kills)
	for range 2 {
		eventually(t, "a command has begun by its limit", func() bool {
			r := s.run(c, abi.ShellArgs{Command: "echo begun; cat /dev/zero | head -c 1000000000000 | tail -c 1", Timeout: 300})
			if !r.TimedOut || r.Duration > 30_000 {
				t.Errorf("got %+v", r)
			}
			return r.out == "begun\n"
		})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.try(ctx, c, abi.ShellArgs{Command: "echo x"}); abi.CodeOf(err) != abi.CodeCancelled {
			t.Errorf("got %v", err)
		}
		if r := s.bash(c, "echo again"); r.out != "again\n" {
			t.Errorf("got %+v", r)
		}
	}
}

func TestNetworkByHost(t *testing.T) {
	t.Parallel()
	curl := testenv.NeedTool(t, "curl")
	s := newSession(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "reached") }))
	t.Cleanup(server.Close)
	c := newShell(t, s.sandboxed(), func(o *shell.Options) { o.Network = sandbox.NetworkHosts })
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	// The machine's own services are reached by no rule of this session.
	r := s.bash(c, "mkdir -p sub; cd sub; "+curl+" -sS --noproxy '' http://127.0.0.1:"+port+" ; "+curl+" -sS --noproxy '*' http://127.0.0.1:"+port)
	if strings.Contains(r.out, "reached") || r.Exit == 0 || r.Cwd != filepath.Join(s.dir, "sub") || !strings.Contains(r.out, "allow") {
		t.Errorf("got %+v", r)
	}
	if !strings.Contains(r.Note, "kept it from 127.0.0.1 (no rule lets commands reach 127.0.0.1)") {
		t.Errorf("got the note %q", r.Note)
	}
	// The proxy knows whom it refused, whatever a program says, and also where it goes on.
	for _, command := range []string{curl + " -s https://other.test:8443 >/dev/null; :>made; false", curl + " -s https://other.test | cat; :>made"} {
		r = s.bash(c, command)
		if r.Note != "It ran in a sandbox, which kept it from other.test (no rule lets commands reach other.test). The user can open it with:\n[permissions]\nallow = [\"WebFetch(domain:other.test)\"]\nin the settings" {
			t.Errorf("got the note %q", r.Note)
		}
	}
	if left := s.left(); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Where commands have no network the proxy refuses everything, and so knows what was asked for.
func TestNoNetworkIsKnown(t *testing.T) {
	t.Parallel()
	curl := testenv.NeedTool(t, "curl")
	s := newSession(t)
	c := newShell(t, s.sandboxed(), func(o *shell.Options) { o.SettingsFile = "/home/u/settings.toml" })
	const note = "It ran in a sandbox, which kept it from other.test (commands have no network, and nobody allowed this one to reach other.test). The user can open it with:\n" +
		"[sandbox]\nnetwork = \"hosts\"\n[permissions]\nallow = [\"WebFetch(domain:other.test)\"]\nin /home/u/settings.toml"
	for _, end := range []string{"", " | tail -1", "; :>made"} {
		if r := s.bash(c, curl+" -s https://other.test"+end); r.Note != note {
			t.Errorf("%s: got the note %q", end, r.Note)
		}
	}
	for _, command := range []string{"mkdir -p sub; env > env", "cat sub/*"} { // what needs no network has no proxy
		if r := s.bash(c, command); strings.Contains(r.out, "proxy") {
			t.Errorf("%s: got %+v", command, r)
		}
	}
}

// A file that is hidden from a command and was saved meanwhile is hidden again. In bubblewrap's
// sandbox the command does not go on, for it could read the new one.
func TestHiddenFileReplacedWhileItRuns(t *testing.T) {
	t.Run("hidden again", func(t *testing.T) {
		t.Parallel()
		r, secret := replaceHidden(t, "", "touch runs; until [ -e saved ]; do sleep 0.01; done; while cat .env; do sleep 0.01; done >/dev/null 2>&1; cat .env; echo went on")
		if r.Exit != 0 || !strings.HasSuffix(r.out, "went on\n") || strings.Contains(r.out, "new") || !strings.Contains(r.out, "Permission denied") {
			t.Errorf("%s: got %+v", secret, r)
		}
	})
	t.Run("ended", func(t *testing.T) {
		t.Parallel()
		r, secret := replaceHidden(t, testenv.NeedTool(t, "bwrap"), "touch runs; sleep 1000; echo went on")
		if r.Exit == 0 || r.out != "" || !strings.HasPrefix(r.Note, secret+", which is hidden from commands, was replaced") {
			t.Errorf("got %+v", r)
		}
	})
}

// replaceHidden runs a command from which a file is hidden that is replaced once it runs.
func replaceHidden(t *testing.T, program, command string) (r result, secret string) {
	t.Helper()
	s := newSession(t)
	c := newShell(t, s.sandboxedBy(program))
	secret = filepath.Join(s.dir, ".env")
	if err := os.WriteFile(secret, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.hidden = []string{secret}
	go func() {
		for _, err := os.Stat(filepath.Join(s.dir, "runs")); err != nil; _, err = os.Stat(filepath.Join(s.dir, "runs")) {
			time.Sleep(time.Millisecond)
		}
		_ = os.WriteFile(secret+"~", []byte("new"), 0o600) // what the command tells shows whether it worked
		_ = os.Rename(secret+"~", secret)
		_ = os.WriteFile(filepath.Join(s.dir, "saved"), nil, 0o600) // as above
	}()
	return s.bash(c, command), secret
}

// What a command makes at a protected name that did not exist is undone, and told. The command
// goes on, unless it makes it again and again.
func TestMissingNamesAreUndone(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	s.protected = []string{filepath.Join(s.dir, ".npmrc")}
	for _, test := range []struct{ command, out, note string }{
		{"echo x > .npmrc; while [ -e .npmrc ]; do :; done; echo went on", "went on\n", ""},
		{"while :; do echo x > .npmrc; done", "", "/.npmrc, which commands may not make, was made again and again: the command was ended."},
		{"echo x > .npmrc", "", ""},
	} {
		r := s.bash(c, test.command)
		if (r.Exit == 0) != (test.note == "") || r.out != test.out || !strings.Contains(r.Note, test.note) || !strings.Contains(r.Note, "Undone: "+s.protected[0]+" (now ") {
			t.Errorf("%s: got %+v", test.command, r)
		}
		if left := s.left(); len(left) != 0 {
			t.Errorf("%s: left behind %q", test.command, left)
		}
		if _, err := os.Lstat(s.protected[0]); err == nil {
			t.Errorf("%s: it is left", test.command)
		}
	}
}

// A protected file that is saved outside ends nothing, and is told of where it cannot be protected
// again.
func TestProtectedFileReplacedWhileItRuns(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxedBy(testenv.NeedTool(t, "bwrap")))
	file := filepath.Join(s.dir, ".npmrc")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.protected = []string{file}
	go func() {
		for _, err := os.Stat(filepath.Join(s.dir, "runs")); err != nil; _, err = os.Stat(filepath.Join(s.dir, "runs")) {
			time.Sleep(time.Millisecond)
		}
		_ = os.WriteFile(file+"~", []byte("new"), 0o600) // what the command tells shows whether it worked
		_ = os.Rename(file+"~", file)
	}()
	r := s.bash(c, "touch runs; until [ $(cat .npmrc) = new ]; do sleep 0.01; done; sleep 2; echo went on")
	if r.Exit != 0 || r.out != "went on\n" || !strings.Contains(r.Note, "Another program replaced or moved "+file) {
		t.Errorf("got %+v", r)
	}
}
