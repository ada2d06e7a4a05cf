package warm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/warm"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestEndsInADirectory: where the command left the shell is told.
func TestEndsInADirectory(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	for command, want := range map[string]string{
		"ls": "", "cd src": "src", "cd src; exit 3": "src", "cd src && cd deep": "src/deep", "cd nowhere": "",
		"(cd src)": "", "cd src; cd - >/dev/null": "", "cd src | cat": "", "x=$(cd src)": "", "cd src; nosuchprogram": "src",
	} {
		_, result, err := warmly(t, pool, dir, command)
		if err != nil || result.Dir != filepath.Join(dir, want) {
			t.Errorf("%s: in %s, %v", command, result.Dir, err)
		}
	}
	if _, _, err := warmly(t, pool, filepath.Join(dir, "nowhere"), "echo no"); !errors.Is(err, warm.ErrAgain) {
		t.Errorf("a directory that is none: %v", err)
	}
}

// TestFit refuses without a shell.
func TestFit(t *testing.T) {
	t.Parallel()
	pool := warm.New(warm.Options{Start: func(context.Context, *warm.Launch) (warm.Process, error) {
		t.Error("a shell is started")
		return nil, errors.ErrUnsupported
	}})
	defer pool.Close()
	for _, command := range []string{
		"", "a\x00b", "\xff", "echo " + strings.Repeat("a", 5000), "echo $$", "echo ${BASHPID}", "cat /proc/self/fd", `"set" -x`,
		"echo ${x?}", "${x:?no}", "trap - EXIT", "a;exec b", "echo $SECONDS", "echo $RANDOM",
	} {
		if _, err := pool.Run(t.Context(), &warm.Request{Command: command, Dir: "/"}); !errors.Is(err, warm.ErrUnfit) {
			t.Errorf("%.40q: %v", command, err)
		}
	}
	for _, command := range []string{"ls", "git log", "cd src && grep -rn settings .", "echo ${x:-no}"} {
		if !warm.Fit(command) {
			t.Errorf("%s: not fit", command)
		}
	}
}

// firstWrite calls a function at what is written first.
type firstWrite struct {
	bytes.Buffer
	call func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	w.call()
	return w.Buffer.Write(p)
}

// TestCancelled: output comes while the command runs, and the end of its context is
// the end of it.
func TestCancelled(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	out := &firstWrite{call: func() { cancel(cause) }}
	_, err := pool.Run(ctx, &warm.Request{Env: environment(), Dir: dir, Command: "echo begun; sleep 1000", Stdout: out})
	if !errors.Is(err, cause) || out.String() != "begun\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if got, _, err := warmly(t, pool, dir, "echo next"); err != nil || got.Stdout != "next\n" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestOutput: all bytes, in order, and the streams as one.
func TestOutput(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	var both bytes.Buffer
	run := func(command string, to io.Writer) error {
		_, err := pool.Run(t.Context(), &warm.Request{Env: environment(), Dir: dir, Command: command, Stdout: to})
		return err
	}
	if err := run("for i in 1 2 3; do echo out $i; echo err $i >&2; done; nosuchprogram", &both); err != nil ||
		both.String() != "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nbash: line 1: nosuchprogram: command not found\n" {
		t.Errorf("%q, %v", both.String(), err)
	}
	both.Reset()
	const most = 2_000_000
	if err := run(fmt.Sprintf("seq %d", most), &both); err != nil || !strings.HasSuffix(both.String(), fmt.Sprintf("\n%d\n", most)) || strings.Count(both.String(), "\n") != most {
		t.Errorf("%d bytes, %v", both.Len(), err)
	}
	full := errors.New("the disk is full")
	if err := run("seq 1000000", failing{full}); !errors.Is(err, full) || errors.Is(err, warm.ErrAgain) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestNoNamespaceOfItsOwn: a shell that sees the host's processes is not let go on,
// since it would kill them. It is a stand-in that would only say so.
func TestNoNamespaceOfItsOwn(t *testing.T) {
	t.Parallel()
	wentOn := filepath.Join(t.TempDir(), "went-on")
	var started warm.Process
	pool := newPool(t, warm.Options{Start: func(ctx context.Context, l *warm.Launch) (p warm.Process, err error) {
		started, err = launchAs(ctx, l, testenv.NeedTool(t, "bash"), bash, "-c",
			`printf '%s\0' "$(readlink /proc/self/ns/pid)" >&3; IFS= read -r -d '' -u 3 x && : >"$0"`, wentOn)
		return started, err
	}})
	_, _, err := warmly(t, pool, "/", "true")
	if !errors.Is(err, warm.ErrUnfit) || !strings.Contains(err.Error(), "PID namespace") {
		t.Errorf("got %v", err)
	}
	<-started.Gone()
	if _, err := os.Stat(wentOn); err == nil {
		t.Error("it went on")
	}
}

// TestShellThatDoesNotStart leaves the command to others.
func TestShellThatDoesNotStart(t *testing.T) {
	t.Parallel()
	broken := errors.New("no user namespaces")
	starts := map[string]func(context.Context, *warm.Launch) (warm.Process, error){
		"not at all": func(context.Context, *warm.Launch) (warm.Process, error) { return nil, broken },
		"gone at once": func(ctx context.Context, l *warm.Launch) (warm.Process, error) {
			return launchAs(ctx, l, testenv.NeedTool(t, "true"), "true")
		},
	}
	for name, start := range starts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := warmly(t, newPool(t, warm.Options{Start: start}), "/", "true"); !errors.Is(err, warm.ErrUnfit) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestOldestGoes where another is wanted and there are as many as may be.
func TestOldestGoes(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	var started atomic.Int32
	counted := func(ctx context.Context, l *warm.Launch) (warm.Process, error) {
		started.Add(1)
		return launch(ctx, l)
	}
	pool := newPool(t, warm.Options{Start: counted, Max: 2, Idle: time.Hour})
	for _, key := range []string{"a", "b", "a", "c", "a", "c"} {
		if _, err := pool.Run(t.Context(), &warm.Request{Key: key, Env: environment(), Dir: dir, Command: "true", Stdout: io.Discard}); err != nil {
			t.Fatal(err)
		}
	}
	if n := started.Load(); n != 3 { // b's place went to c
		t.Errorf("%d shells started", n)
	}
}

// TestIdleShellsGo: nobody uses them.
func TestIdleShellsGo(t *testing.T) {
	t.Parallel()
	pool := newPool(t, warm.Options{Idle: time.Millisecond})
	if _, _, err := warmly(t, pool, "/", "true"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "idle shells to go", func() bool { return pool.Shells() == 0 })
}

// TestReady starts a shell before the first call, once.
func TestReady(t *testing.T) {
	t.Parallel()
	pool := newPool(t, warm.Options{})
	r := &warm.Request{Env: environment(), Dir: "/", Command: "true", Stdout: io.Discard}
	for range 3 {
		pool.Ready(r)
	}
	if n := pool.Shells(); n != 1 {
		t.Errorf("%d shells", n)
	}
}

// TestCloseWhileInUse ends what runs.
func TestCloseWhileInUse(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{}), tree(t)
	out := &firstWrite{call: func() { go pool.Close() }}
	_, err := pool.Run(t.Context(), &warm.Request{Env: environment(), Dir: dir, Command: "echo begun; sleep 1000", Stdout: out})
	if !errors.Is(err, warm.ErrAgain) {
		t.Errorf("got %v", err)
	}
	if _, _, err := warmly(t, pool, dir, "true"); !errors.Is(err, warm.ErrUnfit) {
		t.Errorf("closed: %v", err)
	}
}

// TestHammer: many at once get their own answers, or none.
func TestHammer(t *testing.T) {
	t.Parallel()
	pool, dir := newPool(t, warm.Options{Max: 3, Idle: 20 * time.Millisecond}), tree(t)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 25 {
				command := fmt.Sprintf("echo %d; echo %d >&2; exit %d", g, i, g)
				ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
				var stdout, stderr bytes.Buffer
				result, err := pool.Run(ctx, &warm.Request{
					Key: strconv.Itoa(g % 2), Env: environment(), Dir: dir, Command: command, Stdout: &stdout, Stderr: &stderr,
				})
				cancel()
				if errors.Is(err, warm.ErrUnfit) {
					continue
				}
				if err != nil || result.Exit != g || stdout.String() != fmt.Sprintln(g) || stderr.String() != fmt.Sprintln(i) {
					t.Errorf("%d, %d: %+v %q %q %v", g, i, result, stdout.String(), stderr.String(), err)
				}
			}
		})
	}
	all.Wait()
}
