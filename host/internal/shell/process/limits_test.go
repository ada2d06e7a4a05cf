//go:build linux

package process_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

// boxed is a command of bash in a PID namespace, with a limit of address space that the
// system holds: nothing in it can grow over the machine's head.
func boxed(tb testing.TB, script, mark string, more ...string) process.Command {
	tb.Helper()
	testenv.NeedTool(tb, "bwrap")
	c := bash(tb, `ulimit -v 2000000; exec bwrap --dev-bind / / --unshare-pid --proc /proc --die-with-parent "$@"`, mark)
	c.Args = append(append(c.Args, "bash"), more...)
	c.Args = append(c.Args, "bash", "-c", script)
	return c
}

func TestLimits(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for _, test := range []struct {
		name, script string
		limits       process.Limits
		want         string
	}{
		{"memory", `a=x; for i in {1..27}; do a=$a$a; done; sleep 1000`, process.Limits{Memory: 60 * mega}, process.LimitMemory},
		{"memory of several", `for i in 1 2 3 4; do (a=$(printf %30000000s); sleep 20; :) & done; wait`, process.Limits{Memory: 80 * mega}, process.LimitMemory},
		{"shared memory", `a=$(printf %30000000s); for i in 1 2 3 4; do (sleep 0.5; :) & done; wait`, process.Limits{Memory: 120 * mega}, ""},
		{"processes", `for i in {1..60}; do setsid sleep 20 & done; wait`, process.Limits{Processes: 50}, process.LimitProcesses},
		{"few processes", `for i in {1..40}; do sleep 0.3 & done; wait`, process.Limits{Processes: 50}, ""},
		{"processor time", `while :; do :; done`, process.Limits{CPU: 200 * time.Millisecond}, process.LimitCPU},
		{"processor time of the dead", `while :; do (for ((i=0;i<1000;i++)); do :; done); done`, process.Limits{CPU: 200 * time.Millisecond}, process.LimitCPU},
		{"sleep", `sleep 1.2`, process.Limits{CPU: time.Second, Memory: 60 * mega, Processes: 10}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := supervisors(t)
			m := mark(t)
			c := boxed(t, test.script, m)
			c.Limits = test.limits
			p := start(t, k, c)
			s := finish(t, p)
			if s.Limit != test.want || s.Err != nil || (s.Code == 0) != (test.want == "") {
				t.Errorf("%+v, want limit %q", s, test.want)
			}
			noSurvivors(t, m, 0)
		})
	}
}

func TestLimitsOfTheSystem(t *testing.T) {
	k := supervisors(t)
	c := bash(t, `for i in {10..200}; do eval "exec $i</dev/null" || exit 3; done`, mark(t))
	c.Limits.OpenFiles = 1
	if got, s := output(t, k, c); s.Code == 0 || !strings.Contains(got, "Too many open files") && !strings.Contains(got, "Bad file descriptor") {
		t.Errorf("%q, %+v", got, s)
	}
	file := t.TempDir() + "/file"
	c = bash(t, `printf %100000s > "$1"`, mark(t))
	c.Args = append(c.Args, "bash", file)
	c.Limits.FileSize = 4096
	s := finish(t, start(t, k, c))
	info, err := os.Stat(file)
	if err != nil || info.Size() != 4096 || s.Signal != syscall.SIGXFSZ {
		t.Errorf("%+v, %v, %+v", info, err, s)
	}
	if os.Getuid() != 0 { // root may raise limits
		c = bash(t, "ulimit -f unlimited", mark(t))
		c.Limits.FileSize = 4096
		if s := finish(t, start(t, k, c)); s.Code == 0 {
			t.Error("the limit was raised")
		}
	}
}

// TestSandboxesAreNotLeft runs sandboxes whose own processes end a moment after them.
func TestSandboxesAreNotLeft(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	for range 20 {
		if s := finish(t, start(t, k, boxed(t, "true", mark(t)))); status(s) != (process.Status{}) {
			t.Errorf("%+v", s)
		}
	}
}
