//go:build amd64 || arm64

package shell_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// crashing are states in which a host is killed. Each returns when it is in its own.
var crashing = map[string]struct {
	rounds int
	get    func(c *crasher)
	change func(*setup)
}{
	"idle":                     {1, func(c *crasher) { c.call("true", 0); c.call("ls", 0) }, nil},
	"plain":                    {2, func(c *crasher) { c.begin("all in one", nil) }, unconfined},
	"sandboxed":                {2, func(c *crasher) { c.begin("all in one", nil) }, nil},
	"stopped itself":           {1, func(c *crasher) { c.begin("stopped", nil) }, nil},
	"warm":                     {2, func(c *crasher) { c.begin("only reads", nil) }, nil},
	"background":               {2, func(c *crasher) { c.begin("all in one", input{"run_in_background": true}) }, nil},
	"plain, background":        {2, func(c *crasher) { c.begin("all in one", input{"run_in_background": true}) }, unconfined},
	"being stopped":            {3, func(c *crasher) { c.begin("all in one", nil)() }, unconfined},
	"sandboxed, being stopped": {3, func(c *crasher) { c.begin("all in one", nil)() }, nil},
	"sandbox being made":       {8, func(c *crasher) { c.busy("setsid sleep MARK & touch made") }, nil},
	"shells being made":        {5, func(c *crasher) { c.busy("ls MARK") }, nil},
}

// The variables by which a host that is to be killed learns where it lives and by what
// its processes are known.
const (
	rootName = "TOOLQUAY_E2E_ROOT"
	markName = "TOOLQUAY_E2E_MARK"
	// placeName has the folder for the sandbox's state, and cacheName that of the guests.
	placeName = "TOOLQUAY_E2E_STATE"
	cacheName = "TOOLQUAY_E2E_CACHE"
)

// crasher is in a host that is to be killed. Its faults end it; then the test hears
// nothing.
type crasher struct {
	session *host.Session
	mark    mark
}

// crash gets a host into a state, says so, and waits to be killed. It ends with the test
// in any case.
func crash(state string) {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the test holds the other end
		os.Exit(1)
	}()
	root := os.Getenv(rootName)
	c := crasher{mark: mark(os.Getenv(markName))}
	s := setup{host: options(root), session: host.SessionOptions{ID: "mine", Cwd: root + "/work"}}
	s.host.Storage.Sessions = root + "/sessions"
	s.host.Shell.Supervisor = []string{"/proc/self/exe", string(c.mark)}
	if change := crashing[state].change; change != nil {
		change(&s)
	}
	h, err := host.Open(context.Background(), s.host)
	if err != nil {
		panic(err)
	}
	if c.session, err = h.NewSession(s.session); err != nil {
		panic(err)
	}
	crashing[state].get(&c)
	fmt.Println("there")
	select {}
}

// begin starts a stubborn command, and returns when it is there what gives it up.
func (c *crasher) begin(name string, more input) (giveUp func()) {
	command := c.mark.in(stubborn[name].command)
	ctx, cancel := context.WithCancel(context.Background())
	in := input{"command": command}
	maps.Copy(in, more)
	ended := make(chan struct{})
	go func() {
		c.session.Results(ctx, []abi.ToolUse{use(1, "Bash", in)})
		close(ended)
	}()
	for n := 0; n < stubborn[name].sleeps; time.Sleep(5 * time.Millisecond) {
		_, n = c.mark.sleeping()
	}
	if more != nil {
		<-ended // it goes on as a task
	}
	return cancel
}

// call runs a command to its end.
func (c *crasher) call(command string, n int32) {
	r := c.session.Results(context.Background(), []abi.ToolUse{use(n, "Bash", input{"command": c.mark.in(command)})})[0]
	if len(r.Structured) == 0 {
		panic(r.Text())
	}
}

// busy runs commands one after the other, without an end.
func (c *crasher) busy(command string) {
	c.call(command, 0) // what is made once is made
	go func() {
		for n := int32(1); ; n++ {
			c.call(command, n)
		}
	}()
}

// TestHostKilled kills hosts, with the signal that nobody can answer, in each state: what
// they ran is gone soon, and what they left lying about at the next start.
func TestHostKilled(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "bash")
	testenv.NeedTool(t, "bwrap")
	for state, c := range crashing {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			rounds := c.rounds
			if !testenv.Thorough() {
				rounds = 1
			}
			for round := range rounds {
				killHost(t, state, time.Duration(round)*7*time.Millisecond)
			}
		})
	}
}

// killHost starts a host, and kills it some time after it is in a state.
func killHost(t *testing.T, state string, after time.Duration) {
	t.Helper()
	root := folder(t)
	if err := os.Mkdir(root+"/work", 0o755); err != nil {
		t.Fatal(err)
	}
	_, m := marked("")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "TMPDIR="+root, stateName+"="+state, rootName+"="+root, markName+"="+string(m), cacheName+"="+testenv.CompileCache())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "there\n" {
		t.Fatalf("%q, %v", line, err)
	}
	time.Sleep(after)
	were := m.processes()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	m.none(t, were, gone)
	if left := litter(t, root+"/work"); len(were) == 0 || len(left) > 0 {
		t.Errorf("there were the processes %q, and %q are left", were, left)
	}
	afterwards(t, root, strings.HasSuffix(state, "background"))
}

// afterwards starts the next host in the same place: it tidies up, and knows what is lost.
func afterwards(t *testing.T, root string, background bool) {
	t.Helper()
	d := newDesk(t, func(s *setup) {
		s.host = options(root)
		s.host.Storage.Sessions = root + "/sessions"
		s.session = host.SessionOptions{ID: "mine", Cwd: root + "/work"}
	})
	if a := d.bash("echo again; :"); !strings.HasPrefix(a.output(), "again\n") {
		t.Errorf("%s", a.Text())
	}
	tasks := d.session.Tasks()
	if background != (len(tasks) == 1) || background && tasks[0].State != abi.TaskLost {
		t.Errorf("the tasks %+v", tasks)
	}
	d.close()
	if left := litter(t, filepath.Join(root, "work")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// early is how long after its start a host is killed at the latest by TestHostKilledEarly:
// by then it has looked for a sandbox and run its first command.
const early = 300 * time.Millisecond

// once is the state of a host that runs one command and closes.
const once = "once"

// TestHostKilledEarly kills hosts at moments of their start, when the sandbox is tried and
// directories are made. No process is left soon after, and no directory once another host was
// there.
func TestHostKilledEarly(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "bash")
	testenv.NeedTool(t, "bwrap")
	for _, state := range []string{"", "/state"} {
		t.Run("state in "+state, func(t *testing.T) {
			t.Parallel()
			root := folder(t)
			if err := os.Mkdir(root+"/work", 0o755); err != nil {
				t.Fatal(err)
			}
			for range testenv.Sample(30) {
				cmd := startOnce(root, state)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(rand.N(early))
				_ = cmd.Process.Kill() // it may have ended
				_ = cmd.Wait()
			}
			mark(root).none(t, nil, gone)
			if out, err := startOnce(root, state).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			left, err := filepath.Glob(root + "/toolquay-*")
			if err != nil {
				t.Fatal(err)
			}
			if left = append(left, litter(t, root+"/work")...); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}

// startOnce is a host that is to run one command.
func startOnce(root, state string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "TMPDIR="+root, stateName+"="+once, rootName+"="+root, cacheName+"="+testenv.CompileCache())
	if state != "" {
		cmd.Env = append(cmd.Env, placeName+"="+root+state)
	}
	return cmd
}

// runOnce is what a host of the state once does. Its processes are known by the folder:
// their sandboxes hide it, and their supervisors are given it.
func runOnce() {
	root := os.Getenv(rootName)
	s := setup{host: options(root), session: host.SessionOptions{Cwd: root + "/work"}}
	s.host.Shell.Supervisor = []string{"/proc/self/exe", root}
	s.host.Shell.Sandbox.State = os.Getenv(placeName)
	s.host.Shell.Sandbox.Network = host.NetworkHosts
	ctx := context.Background()
	h, err := host.Open(ctx, s.host)
	if err != nil {
		panic(err)
	}
	session, err := h.NewSession(s.session)
	if err != nil {
		panic(err)
	}
	for n, command := range []string{"true", "touch made"} {
		r := session.Results(ctx, []abi.ToolUse{use(int32(n), "Bash", input{"command": command})})[0]
		if len(r.Structured) == 0 {
			panic(r.Text())
		}
	}
	if err := errors.Join(session.Close(ctx), h.Close(ctx)); err != nil {
		panic(err)
	}
	os.Exit(0)
}
