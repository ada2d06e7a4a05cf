package plugins_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// one opens a single plugin with one tool, Show.
func one(t *testing.T, o plugins.Options, fixtureName string) (*plugins.Set, *plugins.Tool) {
	t.Helper()
	dir := t.TempDir()
	folder(t, dir, "one", manifest("one", "", "Show"), fixture(t, fixtureName))
	set := open(t, o, user(dir))
	return set, tool(t, set, "Show")
}

func TestAssessAsksTheGuest(t *testing.T) {
	t.Parallel()
	_, show := one(t, plugins.Options{}, "assess")
	for range 2 { // asked, then remembered
		a, err := show.Assess(t.Context(), plugins.Question{Input: []byte(`{}`), Cwd: "/"})
		if err != nil || a.Invalid == nil || a.Invalid.Message != "not on a Friday" {
			t.Errorf("got %+v, %v", a, err)
		}
	}
}

func TestAssessAsksTheSameQuestionOnce(t *testing.T) {
	t.Parallel()
	runner, o := counting()
	_, show := one(t, o, "ok")
	ask := func(q plugins.Question, want int32) {
		t.Helper()
		for range 2 {
			if _, err := show.Assess(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		if got := runner.assesses.Load(); got != want {
			t.Errorf("the guest was asked %d times, want %d", got, want)
		}
	}
	q := plugins.Question{Input: []byte(`{"a":1}`), Cwd: "/"}
	ask(q, 1)
	q.Input = []byte(`{"a":2}`)
	ask(q, 2)
	q.Cwd = "/tmp"
	ask(q, 3)
	q.Facts = []abi.Fact{{Path: "/tmp/a"}}
	ask(q, 4)
	q.Facts = []abi.Fact{{Path: "/tmp/a", Exists: true}}
	ask(q, 5)
	ask(plugins.Question{Input: []byte(`{"a":1}`), Cwd: "/"}, 5) // still known
	ask(plugins.Question{Input: []byte(`{"a":1}/`), Cwd: ""}, 6) // the same bytes, divided in another way
}

func TestAssessRemembersSoMuchAndNoMore(t *testing.T) {
	t.Parallel()
	const kept = 256
	runner, o := counting()
	_, show := one(t, o, "ok")
	ask := func(i int) {
		if _, err := show.Assess(t.Context(), plugins.Question{Input: fmt.Appendf(nil, "%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range kept + 1 {
		ask(i)
	}
	for i := kept; i > 0; i-- {
		ask(i)
	}
	if got := runner.assesses.Load(); got != kept+1 {
		t.Errorf("the last %d questions are not all remembered: asked %d times", kept, got)
	}
	ask(0)
	if got := runner.assesses.Load(); got != kept+2 {
		t.Errorf("the oldest question is remembered for ever: asked %d times", got)
	}
}

func TestAssessHammer(t *testing.T) {
	t.Parallel()
	_, o := counting()
	_, show := one(t, o, "ok")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 600 {
				if _, err := show.Assess(t.Context(), plugins.Question{Input: fmt.Appendf(nil, "%d", i%300)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestLoadFailuresAreOfTheCallAndTriedAgain(t *testing.T) {
	t.Parallel()
	runner, o := counting()
	failing := true
	runner.load = func() error {
		if failing {
			return errors.New("the disk is full")
		}
		return nil
	}
	_, show := one(t, o, "ok")
	for range 2 {
		_, err := call(t, show, "{}")
		wantProblem(t, err, abi.CodeLoad, "plugin one (", "cannot be loaded: the disk is full")
	}
	failing = false
	wantCall(t, show, "")
	if got := runner.loads.Load(); got != 3 {
		t.Errorf("loaded %d times, want 3", got)
	}
}

// A compiler that panics on a stranger's module does not take the host along.
func TestLoadThatPanics(t *testing.T) {
	t.Parallel()
	runner, o := counting()
	runner.load = func() error { panic("index out of range") }
	set, show := one(t, o, "ok")
	_, err := call(t, show, "{}")
	wantProblem(t, err, abi.CodeLoad, "the compiler failed: index out of range")
	if err := set.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestBrokenModulesFailTheirCallOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder(t, dir, "good", manifest("good", "", "Good"), fixture(t, "ok"))
	write(t, filepath.Join(dir, "garbage", abi.ManifestFile), []byte(manifest("garbage", "", "Garbage")))
	write(t, filepath.Join(dir, "garbage", "garbage.wasm"), []byte("\x00asm\x01\x00\x00\x00\x01\xff"))
	for _, name := range []string{"memory_4gib", "no_exports", "wrong_exports", "unknown_import", "trap"} {
		toml := manifest(strings.ReplaceAll(name, "_", "-"), "module = \""+name+".wasm\"", name)
		folder(t, dir, name, toml, fixture(t, name))
	}
	set := open(t, plugins.Options{}, user(dir))
	for _, bad := range set.Tools() {
		if bad.Name == "Good" {
			continue
		}
		_, err := call(t, bad, "{}")
		wantProblem(t, err, "", bad.Plugin.Name)
		wantCall(t, tool(t, set, "Good"), "ok")
	}
}

// A call that is given up does not wait for the compiler.
func TestCallGivenUpWhileLoading(t *testing.T) {
	t.Parallel()
	runner, o := counting()
	release := make(chan struct{})
	runner.load = func() error { <-release; return nil }
	set, show := one(t, o, "ok")
	for name, test := range map[string]struct {
		cause error
		code  abi.Code
	}{
		"cancelled":            {nil, abi.CodeCancelled},
		"any cause":            {errors.New("the user went home"), abi.CodeCancelled},
		"one that has a code":  {abi.Errorf(abi.CodeTimeout, "the time is up"), abi.CodeTimeout},
		"that of the deadline": {context.DeadlineExceeded, abi.CodeTimeout},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan error)
		go func() {
			_, err := show.Call(ctx, plugins.Invocation{Input: []byte("{}")})
			got <- err
		}()
		cancel(test.cause)
		within(t, func() {
			if err := <-got; abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), "while plugin one was being loaded") {
				t.Errorf("%s: got %v of code %s; want %s", name, err, abi.CodeOf(err), test.code)
			}
		})
	}
	close(release)
	wantCall(t, show, "") // by the load that was under way
	if got := runner.loads.Load(); got != 1 {
		t.Errorf("loaded %d times", got)
	}
	if err := set.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestParallelFirstCallsLoadOnce(t *testing.T) {
	t.Parallel()
	runner, o := counting()
	_, show := one(t, o, "ok")
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { wantCall(t, show, "") })
	}
	all.Wait()
	if got := runner.loads.Load(); got != 1 {
		t.Errorf("loaded %d times", got)
	}
}

func TestCloseWaitsForCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	top := "[[capabilities]]\nname = \"test.echo\"\n"
	folder(t, dir, "one", manifest("one", top, "Show"), fixture(t, "read_answer"))
	set, err := plugins.Open(plugins.Options{
		Sources: []plugins.Source{user(dir)}, Runners: []plugins.Runner{direct.New(direct.Options{})},
		Capabilities: []string{"test.echo"}, Granted: []string{"one"},
	})
	if err != nil {
		t.Fatal(err)
	}
	entered, release := make(chan struct{}), make(chan struct{})
	called := make(chan error, 1)
	go func() {
		_, err := tool(t, set, "Show").Call(t.Context(), plugins.Invocation{
			ID: "toolu_1", Cwd: "/", Input: json.RawMessage("{}"),
			Capability: func(context.Context, abi.Request) (abi.Answer, error) {
				close(entered)
				<-release
				return abi.Answer{OK: map[string]int{"n": 1}}, nil
			},
		})
		called <- err
	}()
	<-entered
	closed := make(chan error, 1)
	go func() { closed <- set.Close(t.Context()) }()
	select {
	case err := <-closed:
		t.Fatalf("closed under a call: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if err := <-called; err != nil {
		t.Errorf("the call that was under way: %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("closing: %v", err)
	}
	_, err = call(t, tool(t, set, "Show"), "{}")
	wantProblem(t, err, abi.CodeCancelled, "plugin one is being unloaded")
}

func TestCloseEndsEverything(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ok", "counter", "assess", "trap"} {
		folder(t, dir, name, manifest(name, "", name), fixture(t, name))
	}
	before := runtime.NumGoroutine()
	for range 3 {
		set := open(t, plugins.Options{}, user(dir))
		for _, each := range set.Tools() {
			for range 3 {
				_, _ = call(t, each, "{}") // trap fails, as it should
			}
		}
		for range 2 { // a second time is no harm
			if err := set.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for deadline := time.Now().Add(testenv.Patience); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestCloseFreesInstancesAndRunners(t *testing.T) {
	t.Parallel()
	runner, o := counting()
	set, show := one(t, o, "ok")
	wantCall(t, show, "")
	if err := set.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if runner.closedInstances.Load() != 1 || runner.closed.Load() != 1 {
		t.Errorf("closed %d instances and %d runners, want 1 and 1", runner.closedInstances.Load(), runner.closed.Load())
	}
	_, err := call(t, show, "{}")
	wantProblem(t, err, abi.CodeCancelled, "being unloaded")
}

// A plugin that was never called has nothing to close, and its module may be
// gone.
func TestCloseWithoutACall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := folder(t, dir, "one", manifest("one", "", "Show"), fixture(t, "ok"))
	set := open(t, plugins.Options{}, user(dir))
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := set.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

type keeper struct{ closed int }

func (k *keeper) Close(context.Context) error {
	k.closed++
	return errors.New("it hurts")
}

func TestSessionKeepsAndCloses(t *testing.T) {
	t.Parallel()
	var s plugins.Session
	k := new(keeper)
	for range 2 {
		got, err := s.Keep("a", func() plugins.Keeper { return k })
		if err != nil || got != k {
			t.Fatalf("got %v, %v", got, err)
		}
		k = got.(*keeper)
	}
	wantProblem(t, s.Close(t.Context()), "", "it hurts")
	if err := s.Close(t.Context()); err != nil || k.closed != 1 {
		t.Errorf("closed %d times, %v", k.closed, err)
	}
	if _, err := s.Keep("b", func() plugins.Keeper { return k }); !errors.Is(err, plugins.ErrSessionClosed) {
		t.Errorf("keeping after Close: %v", err)
	}
}

func TestToolWithAnUnusableSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	toml := "manifest = 1\nname = \"one\"\nversion = \"1.0.0\"\n[[tools]]\nname = \"Bad\"\ninput_schema = '{\"type\":\"object\",\"$ref\":\"http://127.0.0.1:1/x\"}'\n" +
		"[[tools]]\nname = \"Good\"\ninput_schema = '{\"type\":\"object\",\"required\":[\"file_path\"]}'\n"
	folder(t, dir, "one", toml, fixture(t, "ok"))
	set := open(t, plugins.Options{}, user(dir))
	wantProblem(t, tool(t, set, "Bad").Validate(json.RawMessage(`{}`)), abi.CodeLoad, "the input schema of Bad is unusable", "points outside the schema")
	wantProblem(t, tool(t, set, "Good").Validate(json.RawMessage(`{}`)), abi.CodeInvalidInput, "file_path: required")
}
