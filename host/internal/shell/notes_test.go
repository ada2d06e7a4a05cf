package shell_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

// What the sandbox keeps from a command is told, and what can be done about it.
func TestSandboxIsBlamed(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	for _, test := range []struct {
		command, note string
	}{
		{"echo 'error: could not lock config file .git/config: Read-only file system' >&2; :>made", "settings of a repository"},
		{"echo 'error: could not write config file .git/config: Device or resource busy'; :>made; false", "settings of a repository"},
		{"echo \"error: could not write config file .git/config\"; echo \"branch 'x' set up to track 'origin/x'.\"; :>made", "git push origin HEAD"},
		{"echo 'error: could not lock config file /root/.gitconfig: Read-only file system'; :>made; false", "user's own settings of git"},
		{"echo '*** Please tell me who you are.'; :>made; false", "git -c user.name=NAME -c user.email=ADDRESS commit"},
		{"echo 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock.'; :>made; false", "no Unix sockets work"},
		{"echo 'connect: /run/x.sock: No such file or directory'; :>made; false", "no Unix sockets work"},
		{"echo 'self.socket.bind(address): Address already in use'; :>made; false", ""},
		{"echo 'could not create socket: Operation not permitted'; :>made; false", "no Unix sockets work"},
		{"echo 'curl: (6) Could not resolve host: x.test'; :>made; false", "without a network"},
		{"echo 'npm error getaddrinfo EAI_AGAIN registry.test'; :>made; false", "without a network"},
		{":>made; false", ""}, {"echo 'permission denied'; :>made", ""}, {"echo unix:///x; :>made", ""}, {"echo 'please tell me who you are'; :>made", ""},
	} {
		r := s.bash(c, test.command)
		if !strings.Contains(r.Note, test.note) || test.note == "" && r.Note != "" {
			t.Errorf("%s: got the note %q", test.command, r.Note)
		}
	}
}

// A command that failed in the sandbox and may leave it is told how.
func TestLeavingIsTold(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.outside = "sh "
	c := newShell(t, s.sandboxed())
	for command, told := range map[string]bool{"sh -c 'exit 3'": true, "sh -c 'exit 0'": false, "bash -c 'exit 3'": false} {
		r := s.bash(c, command)
		if strings.Contains(r.Note, "call it with dangerouslyDisableSandbox = true") != told {
			t.Errorf("%s: got the note %q", command, r.Note)
		}
	}
}

// What failed for a wall is told by the wall, and not by another one.
func TestSandboxPolicyIsNamed(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	hooks := filepath.Join(s.dir, ".git/hooks")
	outside := filepath.Join(filepath.Dir(s.dir), "outside")
	for _, dir := range []string{hooks, filepath.Join(s.dir, "secrets")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{".env", "secrets/key", ".bashrc"} {
		if err := os.WriteFile(filepath.Join(s.dir, file), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.hidden = []string{filepath.Join(s.dir, ".env"), filepath.Join(s.dir, "secrets")}
	s.protected = []string{hooks, filepath.Join(s.dir, ".bashrc"), filepath.Join(s.dir, ".vimrc")}
	s.tools = map[string]bool{"Edit": true}
	for _, test := range []struct{ command, note string }{
		{"cat .env", "/.env is hidden"},
		{"echo 'error: .env: can only add regular files, symbolic links or git-directories'; :>made; false", "git add -A -- ':!.env'"},
		{":>made; cat .env", "/.env is hidden"},
		{":>made; cd secrets; cat ../.env", "/secrets is hidden"},
		{"echo \"PermissionError: [Errno 13] Permission denied: '.env'\"; :>made; false", "/.env is hidden"},
		{":>made; ls secrets", "/secrets is hidden"},
		{"echo x >.git/hooks/pre-commit", "/pre-commit is protected from commands, as programs outside the sandbox run or believe what is in it. Edit and Write"},
		{"echo x >.bashrc", "/.bashrc is protected"},
		{":>made; mv .bashrc other", "/.bashrc is protected"},
		{"echo x >" + outside, "only " + s.dir + " and /tmp, which is " + s.temp + ", can be written to"},
		{"echo x >/usr/share/made", "The user can open it with:\n[sandbox]\nwritable = [\"/usr/share\"]\nin the settings"},
		{"echo x >/etc/made", "can be written to; that may be why it failed."},
	} {
		r := s.bash(c, test.command)
		if r.Exit == 0 || !strings.Contains(r.Note, test.note) || strings.Contains(test.note, "/.") && strings.Contains(r.Note, "written to") {
			t.Errorf("%s: got the note %q, and %s", test.command, r.Note, r.out)
		}
	}
}

// What lies in one /tmp and not in the other is told by where it lies.
func TestTemporaryFilesAreFound(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	outside, err := os.CreateTemp("/tmp", "toolquay-test-*.py")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(outside.Name()) })
	if err := outside.Close(); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"cat ", ":>made; cat "} {
		r := s.bash(c, command+outside.Name())
		if r.Exit == 0 || !strings.Contains(r.Note, outside.Name()+" is there, but commands have a /tmp of their own") || !strings.Contains(r.Note, s.temp) {
			t.Errorf("got %+v", r)
		}
	}
	if r := s.bash(c, "seq 3 >/tmp/numbers.txt"); r.Note != "Commands have a /tmp of their own: other tools find /tmp/numbers.txt as "+filepath.Join(s.temp, "numbers.txt")+"." {
		t.Errorf("got %+v", r)
	}
	if r := s.bash(c, "cat /tmp/numbers.txt"); r.out != "1\n2\n3\n" || r.Note != "" {
		t.Errorf("got %+v", r)
	}
	r := s.bash(c, "mktemp; :>made")
	if name := strings.TrimSpace(r.out); filepath.Dir(name) != s.temp {
		t.Errorf("got %q", r.out)
	} else if _, err := os.Stat(name); err != nil {
		t.Error(err)
	}
}

// find says one thing in two ways.
func TestFindIsExplainedByWhatItSays(t *testing.T) {
	t.Parallel()
	s, c := newSession(t), newShell(t)
	if r := s.bash(c, "find . -newer nosuch"); r.Exit != 1 || r.Program != "" {
		t.Errorf("got %+v", r)
	}
	if r := s.bash(c, "echo 'find: x: Permission denied'; find . -newer nosuch"); r.Exit != 1 || r.Program != "find" {
		t.Errorf("got %+v", r)
	}
}

// A real git whose settings are read-only does the rest of what it was told.
func TestProtectedSettings(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	s := newSession(t)
	c := newShell(t, s.sandboxed())
	if r := s.run(c, abi.ShellArgs{Command: "git init -q", Unsandboxed: true}); r.Exit != 0 {
		t.Fatalf("got %+v", r)
	}
	s.protected = []string{filepath.Join(s.dir, ".git/config")}
	r := s.bash(c, "git config a.b c; git remote add x ../y; :>made")
	if r.Exit != 0 || !strings.Contains(r.Note, "cannot be changed in a sandbox") {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "made")); err != nil {
		t.Error(err)
	}
}

// Nobody is told to use what there is not.
func TestAdviceCanBeFollowed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		longer, background bool
		want               string
	}{
		{true, true, "Give it a longer timeout, or run_in_background."}, {true, false, "Give it a longer timeout."},
		{false, true, "No timeout is longer here: use run_in_background."}, {false, false, "No timeout is longer here."},
	} {
		s, most := newSession(t), 100*time.Millisecond
		if test.longer {
			most = time.Minute
		}
		s.noTasks = !test.background
		c := newShell(t, kills, func(o *shell.Options) { o.Time.Default, o.Time.Max = 100*time.Millisecond, most })
		if r := s.bash(c, "exec tail -f /dev/null"); !r.TimedOut || r.Note != test.want {
			t.Errorf("got the note %q, want %q", r.Note, test.want)
		}
		r := s.bash(newShell(t), "sleep 100 & true")
		if r.Left == 0 || strings.Contains(r.Note, "run_in_background") != test.background {
			t.Errorf("got %+v", r)
		}
	}
}

// A home is not to be opened as a whole; a directory in it may be.
func TestHomesAreNotToBeOpened(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=/usr/share"}
	c := newShell(t, s.sandboxed())
	for path, hint := range map[string]bool{"made": false, ".tool/made": false, "man/made": true} {
		r := s.bash(c, "mkdir -p ~/.tool; echo x >~/"+path)
		if !strings.Contains(r.Note, "can be written to") || strings.Contains(r.Note, "writable = [\"/usr/share") != hint {
			t.Errorf("%s: got the note %q", path, r.Note)
		}
	}
}
