package worker_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

func pidOf(t *testing.T, in plugins.Instance) int {
	t.Helper()
	pid, err := strconv.Atoi(ask(t, in, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// TestWorkerIsLimited asks the system what a worker may have.
func TestWorkerIsLimited(t *testing.T) {
	t.Parallel()
	pid := pidOf(t, load(t, options(t), abiProbe, moduleOf(nil)))
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 64}
	for resource, want := range limits {
		var got unix.Rlimit
		if err := unix.Prlimit(pid, resource, nil, &got); err != nil || got != (unix.Rlimit{Cur: want, Max: want}) {
			t.Errorf("resource %d: %+v, %v; want %d", resource, got, err, want)
		}
	}
}

// alive reports whether there is such a process; one that ended and was not
// reaped counts as one.
func alive(pid int) bool { return unix.Kill(pid, 0) == nil }

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(testenv.Patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// begin makes a call that hangs. It is under way in the worker when begin returns.
func begin(in plugins.Instance) <-chan error {
	asked, ended := make(chan struct{}), make(chan error, 1)
	inv := probing("ask and hang")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		close(asked)
		return abi.Answer{OK: struct{}{}}, nil
	}
	go func() {
		_, err := in.Call(context.Background(), inv)
		ended <- err
	}()
	<-asked
	return ended
}

func TestKilledWorkerFailsItsCalls(t *testing.T) {
	in := load(t, options(t), abiProbe, moduleOf(nil))
	other := load(t, options(t), abiProbe, moduleOf(nil))
	pid := pidOf(t, in)
	ended, asked, release, untouched := begin(in), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	asking := probing("ask")
	asking.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		close(asked)
		<-release
		return abi.Answer{OK: struct{}{}}, nil
	}
	go func() {
		_, err := other.Call(context.Background(), asking)
		untouched <- err
	}()
	<-asked
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	runnertest.WantCode(t, <-ended, abi.CodeTrap, "plugin fixture", "the worker process ended", "killed")
	close(release)
	if err := <-untouched; err != nil {
		t.Errorf("another worker's call: %v", err)
	}
	if again := pidOf(t, in); again == pid || alive(pid) {
		t.Errorf("the next call was served by %d; %d is alive: %t", again, pid, alive(pid))
	}
}

// TestDefectsOfTheWorker ends workers from within.
func TestDefectsOfTheWorker(t *testing.T) {
	tests := map[string]struct {
		code abi.Code
		says []string
	}{
		"panic":  {abi.CodeTrap, []string{"exit status 2", "panic: a defect in the runner"}},
		"exit":   {abi.CodeTrap, []string{"exit status 7"}},
		"memory": {abi.CodeLimit, []string{"memory", "300MiB"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			o.CompileMemory, o.Parallel = 300<<20, 11
			in := load(t, o, abiProbe, moduleOf(nil))
			_, err := in.Call(t.Context(), probing(name))
			runnertest.WantCode(t, err, test.code, test.says...)
			if got := ask(t, in, "nothing"); got != "" {
				t.Errorf("the next call answered %q", got)
			}
		})
	}
}

func TestWorkerThatDiesAgainAndAgainHasToRest(t *testing.T) {
	in := load(t, options(t), abiProbe, moduleOf(nil))
	rested := false
	for n := 0; n < 10 && !rested; n++ { // the first rests are short
		_, err := in.Call(t.Context(), probing("exit"))
		runnertest.WantCode(t, err, abi.CodeTrap)
		rested = strings.Contains(err.Error(), "started again in")
	}
	if !rested {
		t.Error("it was started each time")
	}
	eventually(t, "it is never started again", func() bool {
		_, err := in.Call(t.Context(), probing("nothing"))
		return err == nil
	})
}

// TestBackstop has a runner in the worker that does not keep its word.
func TestBackstop(t *testing.T) {
	t.Parallel()
	t.Run("a call that is over its time", func(t *testing.T) {
		t.Parallel()
		in := load(t, options(t), abiProbe, moduleOf(nil, func(m *plugins.Module) { m.Limits.Time = 100 * time.Millisecond }))
		_, err := in.Call(t.Context(), probing("hang"))
		runnertest.WantCode(t, err, abi.CodeTimeout, "100ms", "limit time")
	})
	t.Run("a call that is cancelled", func(t *testing.T) {
		t.Parallel()
		in := load(t, options(t), abiProbe, moduleOf(nil))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user went home")) })
		began := time.Now()
		_, err := in.Call(ctx, probing("spin"))
		runnertest.WantCode(t, err, abi.CodeCancelled, "the user went home")
		if took := time.Since(began); took > testenv.Patience/2 { // its limit of time would end it
			t.Errorf("it took %v", took)
		}
		if got := ask(t, in, "nothing"); got != "" {
			t.Errorf("the next call answered %q", got)
		}
	})
	t.Run("waiting for the host does not count", func(t *testing.T) {
		t.Parallel()
		runnertest.Waits(t, func(limit time.Duration) error {
			in := load(t, options(t), abiProbe, moduleOf(nil, func(m *plugins.Module) { m.Limits.Time = limit }))
			inv := probing("ask")
			inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
				time.Sleep(4*limit + 2*time.Second) // a worker is killed after twice its limit and a second
				return abi.Answer{OK: struct{}{}}, nil
			}
			result, err := in.Call(t.Context(), inv)
			if err == nil && result.Text() != "{}" {
				t.Errorf("got %q", result.Text())
			}
			return err
		})
	})
}

// TestCloseEndsTheWorker closes a module whose worker serves a call that another
// one waits for.
func TestCloseEndsTheWorker(t *testing.T) {
	o := options(t)
	o.Parallel = 1
	in := load(t, o, abiProbe, moduleOf(nil))
	pid := pidOf(t, in)
	served, waiting := begin(in), make(chan error, 1)
	go func() {
		_, err := in.Call(context.Background(), probing("hang"))
		waiting <- err
	}()
	time.Sleep(50 * time.Millisecond) // whether it waits by now or not, its end is the same
	if err := in.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if alive(pid) {
		t.Error("the worker is alive")
	}
	runnertest.WantCode(t, <-served, abi.CodeCancelled, "being unloaded")
	runnertest.WantCode(t, <-waiting, abi.CodeCancelled, "being unloaded")
	_, err := in.Call(t.Context(), probing("nothing"))
	runnertest.WantCode(t, err, abi.CodeCancelled, "being unloaded")
	_, err = in.Assess(t.Context(), plugins.Question{Tool: tool, Input: []byte("{}")})
	runnertest.WantCode(t, err, abi.CodeCancelled, "being unloaded")
	if left := children(t); len(left) > 0 {
		t.Errorf("the processes %v are left", left)
	}
}

// TestCloseWhileTheWorkerStarts closes modules whose worker is being started again
// for a call.
func TestCloseWhileTheWorkerStarts(t *testing.T) {
	o := options(t)
	o.Idle = time.Millisecond
	for i := range 10 {
		in := load(t, o, abiProbe, moduleOf(nil))
		eventually(t, "the worker goes on", func() bool { return len(children(t)) == 0 })
		ended := make(chan error, 1)
		go func() {
			_, err := in.Call(context.Background(), probing("hang"))
			ended <- err
		}()
		time.Sleep(time.Duration(i) * time.Millisecond)
		if err := in.Close(t.Context()); err != nil {
			t.Error(err)
		}
		runnertest.WantCode(t, <-ended, abi.CodeCancelled, "being unloaded")
		if left := children(t); len(left) > 0 {
			t.Errorf("the processes %v are left", left)
		}
	}
}

func TestIdleWorkerEndsAndComesBack(t *testing.T) {
	o := options(t)
	o.Idle = 100 * time.Millisecond
	in := load(t, o, abiProbe, moduleOf(nil))
	pid := pidOf(t, in)
	eventually(t, "the worker goes on", func() bool { return !alive(pid) })
	if again := pidOf(t, in); again == pid {
		t.Errorf("it is %d again", again)
	}
}

// TestKeptStateOutlivesIdlenessNotTheWorker keeps a counter for a session.
func TestKeptStateOutlivesIdlenessNotTheWorker(t *testing.T) {
	o := options(t)
	o.Idle = 50 * time.Millisecond
	in := load(t, o, abi.ABIDirect, moduleOf(fixture(t, "counter"), func(m *plugins.Module) { m.Manifest.Instance = abi.InstanceKept }))
	var session plugins.Session
	defer session.Close(context.Background())
	var logged []string
	inv := invocation("{}")
	inv.Session = &session
	inv.Report = func(p abi.ProgressHead) { logged = append(logged, p.Log.Message) }
	count := func() string {
		result, err := in.Call(t.Context(), inv)
		if err != nil {
			t.Fatal(err)
		}
		return result.Text()
	}
	first := count()
	time.Sleep(4 * o.Idle) // a worker that keeps nothing would end
	if got := first + count(); got != "12" || len(logged) != 0 {
		t.Fatalf("counted %s, and logged %q", got, logged)
	}
	for _, pid := range children(t) {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the worker is still there", func() bool { return len(children(t)) == 0 })
	// Where the host does not know yet that it is gone, the next call does not either.
	result, err := in.Call(t.Context(), inv)
	if abi.CodeOf(err) == abi.CodeTrap {
		result, err = in.Call(t.Context(), inv)
	}
	if err != nil || result.Text() != "1" || len(logged) != 1 || !strings.Contains(logged[0], "lost the state") {
		t.Errorf("counted %s, %v, and logged %q", result.Text(), err, logged)
	}
	if err := session.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestKeptStateOutlivesALateEnd: a worker that keeps something is not idle, also
// while the host still waits for what its last call left behind.
func TestKeptStateOutlivesALateEnd(t *testing.T) {
	o := options(t)
	o.Idle = time.Millisecond
	in := load(t, o, abiProbe, moduleOf(nil, func(m *plugins.Module) { m.Manifest.Instance = abi.InstanceKept }))
	var session plugins.Session
	defer session.Close(context.Background())
	asked, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	call := func(name string) string {
		inv := probing(name)
		inv.Session = &session
		inv.Report = func(p abi.ProgressHead) { t.Errorf("logged %q", p.Log.Message) }
		inv.Capability = func(_ context.Context, r abi.Request) (abi.Answer, error) {
			if r.Name == "test.asked" {
				<-asked
			} else {
				close(asked)
				<-release
			}
			return abi.Answer{OK: struct{}{}}, nil
		}
		result, err := in.Call(t.Context(), inv)
		if err != nil {
			t.Fatal(err)
		}
		return result.Text()
	}
	if first, second := call("leave"), call("pid"); first != second {
		t.Errorf("the state was kept in the worker %s; the next call came to %s", first, second)
	}
}

// lateBody is a body whose first bytes come when they are released, closed or not.
type lateBody struct{ release <-chan struct{} }

func (b lateBody) Read(p []byte) (int, error) { <-b.release; return len(p), nil }
func (lateBody) Close() error                 { return nil }

// TestSessionOfADeafWorkerCloses has a worker that reads no more, and is being sent
// more than its pipe holds.
func TestSessionOfADeafWorkerCloses(t *testing.T) {
	in := load(t, options(t), abiProbe, moduleOf(nil, func(m *plugins.Module) { m.Manifest.Instance = abi.InstanceKept }))
	pid := pidOf(t, in) // which was not a session's
	var session plugins.Session
	release := make(chan struct{})
	inv := probing("answer and stop")
	inv.Session = &session
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{OK: struct{}{}, Body: lateBody{release}, Size: -1}, nil
	}
	_, err := in.Call(t.Context(), inv)
	runnertest.WantCode(t, err, abi.CodeTrap, "so it is")
	eventually(t, "the worker goes on", func() bool { return state(pid) == "T" })
	close(release)
	time.Sleep(50 * time.Millisecond) // until the pipe is full
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- session.Close(ctx) }()
	select {
	case err := <-closed:
		runnertest.WantCode(t, err, abi.CodeTimeout, "still in a call")
	case <-time.After(testenv.Patience):
		t.Error("it does not close")
	}
}

// children are the processes that this one has, zombies included.
func children(t *testing.T) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestWorkersStartNoWorkers(t *testing.T) {
	in := load(t, options(t), abiProbe, moduleOf(nil))
	if got := ask(t, in, "children"); !strings.Contains(got, "started as a worker and starts none itself") {
		t.Errorf("got %q", got)
	}
}

// TestNothingIsLeft makes many calls in few workers, and few in many.
func TestNothingIsLeft(t *testing.T) {
	files := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	some := func(calls int) {
		in, err := worker.New(abi.ABIDirect, options(t)).Load(t.Context(), moduleOf(fixture(t, "pass_through")))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range calls / 4 {
					inv := invocation("{}")
					inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) { return abi.Answer{OK: struct{}{}}, nil }
					if _, err := in.Call(context.Background(), inv); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := in.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	some(4)
	goroutines, open := runtime.NumGoroutine(), files()
	some(1000)
	for range 10 {
		some(8)
	}
	eventually(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= goroutines })
	eventually(t, "files are left", func() bool { return files() <= open })
	if left := children(t); len(left) > 0 {
		t.Errorf("the processes %v are left", left)
	}
}

// TestWorkerDiesWithItsHost kills a host that has a worker. Started with the
// variable set, this test is that host.
func TestWorkerDiesWithItsHost(t *testing.T) {
	const role = "TOOLQUAY_TEST_HOST"
	if os.Getenv(role) != "" {
		in := load(t, options(t), abiProbe, moduleOf(nil))
		_, _ = os.Stdout.WriteString("worker " + ask(t, in, "pid") + "\n")
		_, _ = in.Call(t.Context(), probing("spin"))
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(program, "-test.run=^TestWorkerDiesWithItsHost$")
	host.Env = append(os.Environ(), role+"=1")
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "worker "); ok {
			if pid, err = strconv.Atoi(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if pid == 0 || !alive(pid) {
		t.Fatalf("the host's worker is %d", pid)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait() // it was killed
	eventually(t, "the worker outlives its host", func() bool { return !running(pid) })
}

// running reports whether a process runs: one that is somebody else's to reap
// does not.
func running(pid int) bool {
	s := state(pid)
	return s != "" && s != "Z" && s != "X"
}

// state is the letter that proc(5) has for how a process is, "" for none.
func state(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest[:1]
}
