//go:build linux

package process_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestStatus(t *testing.T) {
	k := supervisors(t)
	for script, want := range map[string]process.Status{
		"true":                             {},
		"exit 7":                           {Code: 7},
		"kill -TERM $$":                    {Code: 143, Signal: syscall.SIGTERM},
		"sleep 1000 & sleep 1000 & exit 3": {Code: 3, Left: 2},
		"read < <(sleep 0.01 &); exit":     {Code: 1},
	} {
		if got := status(finish(t, start(t, k, bash(t, script, mark(t))))); got != want {
			t.Errorf("%s: %+v, want %+v", script, got, want)
		}
	}
}

func TestTimesAreOfAllProcesses(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	// The one that counts is nobody's child but the supervisor's.
	s := finish(t, start(t, k, bash(t, "(for ((i=0;i<200000;i++)); do :; done; : > /dev/null) & wait", mark(t))))
	if s.User < 20*time.Millisecond {
		t.Errorf("%v of processor time", s.User)
	}
}

func TestNotStarted(t *testing.T) {
	k := supervisors(t)
	for name, c := range map[string]process.Command{
		"no program":   {},
		"no such":      {Path: "/nowhere/to/be/found", Args: []string{"x"}},
		"a directory":  {Path: "/", Args: []string{"x"}},
		"no directory": {Path: "/bin/sh", Args: []string{"sh"}, Dir: "/nowhere/to/be/found"},
		"a NUL":        {Path: "/bin/sh", Args: []string{"sh", "-c", "a\x00b"}},
		"too long":     {Path: "/bin/sh", Args: []string{"sh", "-c", ":" + strings.Repeat(" ", 1<<20)}},
		"many files":   {Path: "/bin/sh", Files: make([]*os.File, 33)},
	} {
		p, err := k.Start(context.Background(), c)
		if p != nil || err == nil {
			t.Errorf("%s: started", name)
		}
		t.Logf("%s: %s: %v", name, abi.CodeOf(err), err)
	}
	// The supervisor is none the worse for it.
	if s := finish(t, start(t, k, bash(t, "exit 4", mark(t)))); s.Code != 4 {
		t.Errorf("%+v", s)
	}
}

func TestBytesArriveAsTheyAre(t *testing.T) {
	k := supervisors(t)
	odd := "\xff\xfe\n é \x01" + strings.Repeat("x", 120<<10)
	c := bash(t, `printf %s "$1$ODD"`, "ODD="+odd)
	c.Args = append(c.Args, "bash", odd)
	if got, s := output(t, k, c); got != odd+odd {
		t.Errorf("%d bytes, %+v", len(got), s)
	}
}

// TestNothingElseReachesTheCommand looks at all that a process inherits.
func TestNothingElseReachesTheCommand(t *testing.T) {
	t.Setenv("TOOLQUAY_SECRET", "swordfish")
	leak, err := syscall.Open("/etc/passwd", syscall.O_RDONLY, 0) // not closed on exec
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(leak)
	k := supervisors(t)
	m := mark(t)
	got, _ := output(t, k, bash(t, strings.Join([]string{
		`echo fds: /proc/self/fd/*`,
		`readlink /proc/self/fd/0`,
		`grep -E '^Sig(Ign|Blk)' /proc/self/status`,
		`cut -d' ' -f7 /proc/$$/stat; ps -o sid= -p $$ | tr -d ' '; echo $$`,
		`tr '\0' '\n' < /proc/$PPID/environ | sed 's/^/supervisor: /'`,
		`env | grep -c . ; pwd; ulimit -c; ulimit -Hc`,
	}, "\n"), m))
	lines := strings.Split(got, "\n")
	for _, want := range []string{
		"/dev/null", "SigIgn:\t0000000000000000", "SigBlk:\t0000000000000000", "0", "/",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "swordfish") || strings.Contains(got, "/"+strconv.Itoa(leak)+"\n") {
		t.Errorf("what belongs to the host is there:\n%s", got)
	}
	// 3 is the directory that the shell is reading.
	if !strings.Contains(got, "fds: /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n") {
		t.Errorf("descriptors:\n%s", got)
	}
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "supervisor: "); ok && !strings.HasPrefix(rest, "TOOLQUAY_KEEPER=") {
			t.Errorf("the supervisor's environment has %q", rest)
		}
	}
}

func TestSupervisorsAreUsedAgain(t *testing.T) {
	k := supervisors(t)
	var parents []string
	for range 5 {
		got, _ := output(t, k, bash(t, "echo $PPID", mark(t)))
		parents = append(parents, got)
	}
	for _, parent := range parents {
		if parent != parents[0] {
			t.Errorf("supervisors %q", parents)
		}
	}
	// Limits of the system stay with a supervisor: one of its own for each.
	c := bash(t, "echo $PPID; ulimit -n; ulimit -Hn; ulimit -f", mark(t))
	c.Limits = process.Limits{OpenFiles: 128, FileSize: 1 << 20}
	got, _ := output(t, k, c)
	if !strings.HasSuffix(got, "\n128\n128\n1024\n") || strings.HasPrefix(got, parents[0]) {
		t.Errorf("with limits: %q after %q", got, parents[0])
	}
	again, _ := output(t, k, c)
	without, _ := output(t, k, bash(t, "echo $PPID; ulimit -n", mark(t)))
	if again != got || !strings.HasPrefix(without, parents[0]) || strings.HasSuffix(without, "\n128\n") {
		t.Errorf("with limits %q, then %q, then without %q", got, again, without)
	}
}

func TestIdleSupervisorsEnd(t *testing.T) {
	t.Parallel()
	k := process.New(process.Options{Idle: 50 * time.Millisecond})
	defer k.Close()
	got, _ := output(t, k, bash(t, "echo $PPID", mark(t)))
	pid := strings.TrimSpace(got)
	deadline := time.Now().Add(testenv.Patience)
	for {
		b, err := os.ReadFile(filepath.Join("/proc", pid, "environ"))
		if err != nil || !strings.Contains(string(b), "TOOLQUAY_KEEPER") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still there")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s := finish(t, start(t, k, bash(t, "exit 5", mark(t)))); s.Code != 5 {
		t.Errorf("%+v", s)
	}
}

func TestClose(t *testing.T) {
	k := process.New(process.Options{})
	k.Ready()
	m := mark(t)
	p := saying(t, k, bash(t, "trap '' TERM; setsid sleep 1000 & echo; wait; sleep 1000", m))
	if took := testenv.Took(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}); took > gone {
		t.Errorf("it took %v", took)
	}
	await(t, "gone", p.Gone(), gone)
	noSurvivors(t, m, 0)
	if _, err := k.Start(context.Background(), bash(t, "true", m)); abi.CodeOf(err) != abi.CodeCancelled {
		t.Errorf("after Close: %v", err)
	}
	k.Ready()
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

func TestContextBoundsTheStartAlone(t *testing.T) {
	k := supervisors(t)
	ctx, cancel := context.WithCancel(context.Background())
	p, err := k.Start(ctx, bash(t, "sleep 0.2; exit 9", mark(t)))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if s := finish(t, p); s.Code != 9 {
		t.Errorf("%+v", s)
	}
	if _, err := k.Start(ctx, bash(t, "true", mark(t))); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is over: %v", err)
	}
}

// TestGivenUpStarts gives starts up at all moments.
func TestGivenUpStarts(t *testing.T) {
	t.Parallel()
	k := supervisors(t)
	m := mark(t)
	for i := range 60 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*50*time.Microsecond)
		p, err := k.Start(ctx, bash(t, "sleep 1000 & sleep 1000", m))
		if err == nil {
			p.Stop(0)
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		cancel()
	}
	noSurvivors(t, m, testenv.Patience)
}

// TestStartsInVain gives up starts by a supervisor that is late: it does not hear of anything
// before the start was given up.
func TestStartsInVain(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	late := `until [ -e "$1" ]; do sleep 0.02; done; exec "$0"`
	m := mark(t)
	testenv.InTime(t, 100*time.Millisecond, func() time.Duration {
		begin := filepath.Join(t.TempDir(), "begin")
		k := process.New(process.Options{Command: []string{testenv.NeedTool(t, "bash"), "-c", late, self, begin}})
		defer func() {
			if err := k.Close(); err != nil {
				t.Error(err)
			}
		}()
		p, took := startInVain(t, k, bash(t, "setsid sleep 1000 & sleep 1000", m))
		if err := os.WriteFile(begin, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		finish(t, p)
		noSurvivors(t, m, 0)
		return took
	})
}

// startInVain gives up a start when the supervisor has been sent it, and says how long Start
// went on.
func startInVain(t *testing.T, k *process.Supervisors, c process.Command) (p *process.Process, took time.Duration) {
	t.Helper()
	for soon := 50 * time.Millisecond; p == nil; soon *= 2 { // nil: nothing was sent by then
		ctx, cancel := context.WithCancel(t.Context())
		var given time.Time
		time.AfterFunc(soon, func() { given = time.Now(); cancel() })
		var err error
		p, err = k.Start(ctx, c)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, %v", p, err)
		}
		took = time.Since(given)
	}
	return p, took
}

func TestManyAtOnce(t *testing.T) {
	k := supervisors(t)
	m := mark(t)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			for j := range 5 {
				p, err := k.Start(context.Background(), bash(t, "sleep 1000 & exit "+strconv.Itoa(i), m))
				if err != nil {
					t.Error(err)
					return
				}
				if j%2 == 0 {
					go p.Stop(time.Duration(j) * time.Millisecond)
				}
				<-p.Gone()
				if s := p.Status(); s.Err != nil || s.Signal == 0 && s.Code != i {
					t.Errorf("%d: %+v", i, s)
				}
			}
		})
	}
	wg.Wait()
	noSurvivors(t, m, 0)
}

func TestStartsNothingWhereItIsASupervisor(t *testing.T) {
	t.Setenv("TOOLQUAY_KEEPER", "1-c2b7e0941d5f48a3")
	if _, err := supervisors(t).Start(context.Background(), bash(t, "true", mark(t))); abi.CodeOf(err) != abi.CodeUnsupported {
		t.Errorf("%v", err)
	}
}

// TestProgramsThatAreNoSupervisors are an error and no hang.
func TestProgramsThatAreNoSupervisors(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"true", "false", "sleep 1000"} {
		command := strings.Fields(line)
		testenv.NeedTool(t, command[0])
		k := process.New(process.Options{Command: command})
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		if _, err := k.Start(ctx, bash(t, "true", mark(t))); err == nil {
			t.Errorf("%s keeps", line)
		}
		cancel()
		if err := k.Close(); err != nil && len(command) == 1 {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// BenchmarkBashTrue compares a command below a supervisor with one of the standard library.
func BenchmarkBashTrue(b *testing.B) {
	path := testenv.NeedTool(b, "bash")
	k := supervisors(b)
	c := process.Command{Path: path, Args: []string{"bash", "-c", "true"}, Env: []string{"PATH=/usr/bin:/bin"}}
	kept := func(c process.Command) func(*testing.B) {
		return func(b *testing.B) {
			b.Helper()
			for b.Loop() {
				p := start(b, k, c)
				<-p.Gone()
				if s := p.Status(); s != (process.Status{User: s.User, System: s.System}) {
					b.Fatalf("%+v", s)
				}
			}
		}
	}
	plain := func(b *testing.B) {
		b.Helper()
		for b.Loop() {
			cmd := exec.Command(path, "-c", "true")
			cmd.Env = c.Env
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
		}
	}
	limited := c
	limited.Limits = process.Limits{Processes: 1000, Memory: 1 << 30, OpenFiles: 1024}
	b.Run("exec", plain)
	b.Run("supervisor", kept(c))
	b.Run("supervisor with limits", kept(limited))
	b.Run("exec again", plain)
}

// BenchmarkStartSupervisor starts a supervisor for each command.
func BenchmarkStartSupervisor(b *testing.B) {
	c := process.Command{Path: testenv.NeedTool(b, "true"), Args: []string{"true"}}
	for b.Loop() {
		k := process.New(process.Options{})
		<-start(b, k, c).Gone()
		if err := k.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
