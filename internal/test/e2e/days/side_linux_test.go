package days

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
)

// side is one of the two places that a day is spent in: with a home as a new user has it,
// an empty directory to work in, and a remote of its own.
type side struct {
	home, dir, temp, bare string
	env                   []string
	port, url, remote     string
	task                  string
	// cwd is where bash alone is.
	cwd string
	// outside is what commands have in their environment that no sandbox gives it. The
	// registry is its own proxy, as its name is known in the sandbox alone.
	outside []string
}

// newSide makes one.
func newSide(t *testing.T, r *registry, d day, name string) *side {
	t.Helper()
	return sideIn(t, r, d, name, t.TempDir(), freePort(t))
}

// sideIn makes a side in an empty directory, with more variables in its environment.
func sideIn(t *testing.T, r *registry, d day, name, top, port string, environment ...string) *side {
	t.Helper()
	s := &side{
		home: filepath.Join(top, "home"), dir: filepath.Join(top, "home", "src"), temp: filepath.Join(top, "temp"),
		bare: filepath.Join(r.repositories, name+".git"), port: port,
		url: "http://" + net.JoinHostPort(registryHost, r.port),
	}
	s.outside = []string{"TMPDIR=" + s.temp, "http_proxy=http://127.0.0.1:" + r.port, "no_proxy=localhost,127.0.0.1"}
	s.remote, s.cwd = s.url+"/git/"+name+".git", s.dir
	s.env = []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "USER=dev", "LOGNAME=dev", "SHELL=/bin/bash",
		"GIT_TERMINAL_PROMPT=0", "PAGER=cat", "GIT_PAGER=cat", "GIT_EDITOR=true", "EDITOR=false", "TERM=dumb",
	}
	s.env = append(s.env, environment...)
	for _, dir := range []string{s.dir, s.temp, filepath.Join(s.home, ".cache")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.put(t, s.home, d.Home)
	s.publish(t, filepath.Join(top, "seed"), d.Files)
	return s
}

// fill puts into a text of a day what is known now.
func (s *side) fill(text string) string {
	return strings.NewReplacer("@URL@", s.url, "@REMOTE@", s.remote, "@BARE@", s.bare, "@DIR@", s.dir,
		"@PORT@", s.port, "@TASK@", s.task).Replace(text)
}

func (s *side) put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(s.fill(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// publish makes the remote, with one commit.
func (s *side) publish(t *testing.T, seed string, files map[string]string) {
	t.Helper()
	s.put(t, seed, files)
	a := s.bash(t, seed, `set -e
git init -q -b main . && git add -A && git commit -q -m "Begin"
git init -q --bare -b main "`+s.bare+`" && git -C "`+s.bare+`" config http.receivepack true
git push -q "`+s.bare+`" main`)
	if a.state != "ok" {
		t.Fatal(a.text)
	}
}

// project is where the clone lies, once it is there.
func (s *side) project() string {
	if dir := filepath.Join(s.dir, "app"); isDir(dir) {
		return dir
	}
	return s.dir
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// bash runs a command outside any sandbox, in a directory.
func (s *side) bash(t *testing.T, dir, command string) answer {
	t.Helper()
	c := s.command(t, dir, command)
	began := time.Now()
	out, err := c.CombinedOutput()
	a := answer{state: "ok", text: string(out), seconds: time.Since(began).Seconds()}
	if err != nil {
		a.state, a.text = "failed", a.text+err.Error()
	}
	return a
}

// on runs the next command of a day by bash alone, where the one before left off.
func (s *side) on(t *testing.T, command string) answer {
	t.Helper()
	at := filepath.Join(s.temp, "cwd")
	a := s.bash(t, s.cwd, "trap 'pwd >"+at+"' EXIT\n"+command)
	if dir, err := os.ReadFile(at); err == nil {
		s.cwd = strings.TrimSpace(string(dir))
	}
	return a
}

func (s *side) command(t *testing.T, dir, command string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-c", command)
	c.Dir, c.Env, c.WaitDelay = dir, slices.Concat(s.env, s.outside), time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// background starts a command that runs until the test ends.
func (s *side) background(t *testing.T, command string) answer {
	t.Helper()
	c := s.command(t, s.cwd, command)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Cancel() // it may have ended
		_ = c.Wait()
	})
	return answer{state: "ok"}
}

// freePort is a port that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// compiled lets a home have what the tests have compiled of the tools. Without it each day
// would begin with compiling them, which is no part of a day.
func (s *side) compiled(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(testenv.CompileCache(), 0o700); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(s.home, ".cache", "toolquay")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(testenv.CompileCache(), filepath.Join(own, "compiled")); err != nil {
		t.Fatal(err)
	}
}
