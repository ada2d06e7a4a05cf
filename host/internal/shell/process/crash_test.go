//go:build linux

package process_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

// helpers are what the test binary can be besides a supervisor.
var helpers = map[string]func(){
	"idle":     func() { crashing(func(h host) { <-h.start(`exit 0`).Gone() }) },
	"running":  func() { crashing(func(h host) { h.saying(everything) }) },
	"held":     func() { crashing(func(h host) { h.saying(held) }) },
	"stopping": func() { crashing(func(h host) { h.saying(everything).Stop(time.Hour) }) },
	"killing": func() {
		crashing(func(h host) {
			for range 5 {
				h.saying(everything).Stop(0)
			}
		})
	},
	"starting": func() {
		crashing(func(h host) {
			for range 3 {
				go func() {
					for {
						h.start(`setsid sleep 1000 & exit 0`)
					}
				}()
			}
		})
	},
	"ready": func() { crashing(func(h host) { h.supervisors.Ready() }) },
	"bomb":  defuse,
}

// everything is what is hard to end, in one.
var everything = stubborn["ignored signals"] + " & " + stubborn["a daemon"] + " & " + stubborn["a stopped process"]

// held is a sandbox that waits to be let go, for ever: it has both ends of the pipe that
// it listens to. In this state its own processes do not end with their parents.
const held = `exec 3<> <(:); echo; exec bwrap --unshare-user --unshare-pid --die-with-parent --block-fd 3 --ro-bind / / sleep 1000`

// nobody is an ordinary user.
const nobody = 65534

// host is what a helper works with. Its faults end it: then the test hears nothing.
type host struct {
	supervisors *process.Supervisors
	mark        string
}

// crashing makes a helper that gets into a state, says so, and waits to be killed.
func crashing(do func(host)) {
	mark := markName + "=" + os.Getenv(markName)
	do(host{process.New(process.Options{Command: []string{"/proc/self/exe", mark}}), mark})
	fmt.Println("there")
	select {}
}

func (h host) start(script string, files ...*os.File) *process.Process {
	p, err := h.supervisors.Start(context.Background(), process.Command{
		Path: "/bin/bash", Args: []string{"bash", "-c", script}, Files: files,
		Env: []string{"PATH=" + os.Getenv("PATH"), h.mark},
	})
	if err != nil {
		panic(err)
	}
	return p
}

func (h host) saying(script string) *process.Process {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	p := h.start(script, nil, w)
	if _, err := r.Read(make([]byte, 1)); err != nil {
		panic(err)
	}
	return p
}

// asUsers runs a test as the user that there is, and as an ordinary one.
func asUsers(t *testing.T, do func(*testing.T, *syscall.SysProcAttr)) {
	t.Helper()
	t.Run("as is", func(t *testing.T) { do(t, &syscall.SysProcAttr{}) })
	if os.Getuid() == 0 {
		t.Run("as nobody", func(t *testing.T) {
			testenv.SkipUnlessThorough(t)
			do(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}})
		})
	}
}

// TestHostKilled kills hosts, with the signal that nobody can answer, in each state.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "bash")
	testenv.NeedTool(t, "bwrap")
	asUsers(t, func(t *testing.T, user *syscall.SysProcAttr) {
		t.Helper()
		for name, rounds := range map[string]int{"idle": 1, "ready": 3, "running": 2, "held": 2, "stopping": 2, "killing": 5, "starting": 10} {
			t.Run(name, func(t *testing.T) {
				if !testenv.Thorough() {
					rounds = 1
				}
				for i := range rounds {
					killHost(t, user, name, time.Duration(i)*7*time.Millisecond)
				}
			})
		}
	})
}

// killHost starts a host and kills it some time after it is in a state.
func killHost(t *testing.T, user *syscall.SysProcAttr, state string, after time.Duration) {
	t.Helper()
	m := mark(t)
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), helperName + "=" + state, m}
	cmd.SysProcAttr = user
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line(t, out)
	time.Sleep(after)
	switch state {
	case "running":
		populated(t, m, 8)
	case "held":
		populated(t, m, 4) // host, supervisor, and two of bubblewrap
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	noSurvivors(t, m, gone)
}

// populated returns when so many processes with a text are there.
func populated(t *testing.T, text string, many int) {
	t.Helper()
	for deadline := time.Now().Add(testenv.Patience); len(survivors(t, text)) < many; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %q is there", survivors(t, text))
		}
	}
}

// TestHeldSandbox kills single processes around a sandbox that is held back.
func TestHeldSandbox(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "bwrap")
	for name, victim := range map[string]func(*process.Process) int{
		"its first process": (*process.Process).Pid,
		"its supervisor":    func(p *process.Process) int { return parent(t, p.Pid()) },
	} {
		t.Run(name, func(t *testing.T) {
			k := supervisors(t)
			m := mark(t)
			p := saying(t, k, bash(t, held, m))
			populated(t, m, 2)
			pid := victim(p)
			// Neither number can be another's: both have a parent here that did not reap it.
			if supervisor := parent(t, p.Pid()); parent(t, supervisor) != os.Getpid() || pid != supervisor && pid != p.Pid() {
				t.Fatalf("%d is none of these processes", pid)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			finish(t, p)
			noSurvivors(t, m, 0)
		})
	}
}

// parent is that of a process.
func parent(t *testing.T, pid int) int {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(content), ") ")
	var state string
	var number int
	if _, err := fmt.Sscan(rest, &state, &number); err != nil {
		t.Fatal(err)
	}
	return number
}

// bombs make processes faster than anything kills them one by one.
var bombs = map[string]string{
	"bash":    `f() { f | f & }; f; echo; sleep 1000`,
	"setsid":  `export B='for i in 1 2; do setsid bash -c "$B" & done; wait'; echo; eval "$B"`,
	"waiting": `export B='trap "" TERM; for i in 1 2 3; do bash -c "$B" & done; wait'; echo; eval "$B"`,
}

// TestBomb has a host defuse a bomb. Host, supervisor and bomb are together in a box that
// bounds their number and their lives: its PID namespace ends with the test.
func TestBomb(t *testing.T) {
	bwrap := testenv.NeedTool(t, "bwrap")
	program := publicCopy(t)
	for name := range bombs {
		t.Run(name, func(t *testing.T) {
			if name != "setsid" { // which is the fastest
				testenv.SkipUnlessThorough(t)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
			defer cancel()
			// In a user namespace of its own the limit of processes counts only those in it,
			// and for no root.
			cmd := exec.CommandContext(ctx, bwrap, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/",
				"--proc", "/proc", "--dev", "/dev", "--die-with-parent",
				"bash", "-c", `ulimit -u 400 -v 3000000; exec "$0"`, program)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), helperName + "=bomb", "BOMB=" + name, mark(t)}
			cmd.WaitDelay = gone // the box ends after its first process, once all in it did
			cmd.Dir = "/"
			if os.Getuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
			}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasSuffix(string(out), "defused\n") {
				t.Errorf("%v: %s", err, last(out))
			}
			t.Logf("%s", last(out))
		})
	}
}

// last is the end of a text.
func last(out []byte) []byte { return out[max(0, len(out)-400):] }

// publicCopy is a copy of this program that every user can run.
func publicCopy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "host")
	testenv.WriteProgram(t, path, content)
	return path
}

// defuse is the host that defuses a bomb.
func defuse() {
	mark := markName + "=" + os.Getenv(markName)
	h := host{process.New(process.Options{Command: []string{"/proc/self/exe", "supervisor"}}), mark}
	h.supervisors.Ready()
	// What is left up to the box's limit is the host's: its runtime needs threads.
	p := h.saying("ulimit -u 350; " + bombs[os.Getenv("BOMB")])
	time.Sleep(time.Second)
	entries, err := os.ReadDir("/proc")
	if err != nil {
		panic(err)
	}
	before := time.Now()
	p.Stop(100 * time.Millisecond)
	<-p.Gone()
	fmt.Printf("%+v after %v, of some %d\n", p.Status(), time.Since(before), len(entries)-60)
	if time.Since(before) > gone || p.Status().Err != nil {
		os.Exit(1)
	}
	fmt.Println("defused")
}
