package direct_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
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

// sharedCache holds compiled fixtures for the whole test binary.
var sharedCache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "toolquay-direct-")
	if err != nil {
		panic(err)
	}
	sharedCache = filepath.Join(dir, "cache")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

var testLimits = plugins.Limits{
	Memory:          4 << 20,
	Time:            300 * time.Millisecond,
	Output:          1 << 20,
	LogLines:        100,
	CapabilityCalls: 1000,
}

func moduleOf(wasm []byte, change ...func(*plugins.Module)) plugins.Module {
	m := plugins.Module{
		Manifest: &abi.Manifest{Name: "fixture"},
		Hash:     sha256.Sum256(wasm),
		Wasm:     wasm,
		Limits:   testLimits,
	}
	for _, c := range change {
		c(&m)
	}
	return m
}

func kept(m *plugins.Module) { m.Manifest.Instance = abi.InstanceKept }

func newRunner(tb testing.TB) *direct.Runner {
	tb.Helper()
	r := direct.New(direct.Options{CacheDir: sharedCache})
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func load(tb testing.TB, name string, change ...func(*plugins.Module)) plugins.Instance {
	tb.Helper()
	in, err := newRunner(tb).Load(tb.Context(), moduleOf(fixture(tb, name), change...))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := in.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return in
}

var tool = &abi.Tool{Name: "Fixture"}

func invocation(input string) plugins.Invocation {
	return plugins.Invocation{Tool: tool, ID: "toolu_1", Cwd: "/", Input: json.RawMessage(input)}
}

func echoing(body string) plugins.CapabilityFunc {
	return func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{
			OK:   map[string]int{"n": 1},
			Body: io.NopCloser(strings.NewReader(body)),
			Size: int64(len(body)),
		}, nil
	}
}

func wantCode(t *testing.T, err error, code abi.Code, parts ...string) {
	t.Helper()
	if err == nil || abi.CodeOf(err) != code {
		t.Fatalf("got error %v of code %s; want code %s", err, abi.CodeOf(err), code)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}

func TestCallEchoesItsInput(t *testing.T) {
	in := load(t, "echo")
	for _, size := range []int{0, 1, 100, 200_000} {
		input := `{"s":"` + strings.Repeat("x", size) + `"}`
		result, err := in.Call(t.Context(), invocation(input))
		if err != nil {
			t.Fatal(err)
		}
		if result.Text() != input {
			t.Errorf("%d bytes: got %.60q", size, result.Text())
		}
		if result.ToolUseID != "toolu_1" {
			t.Errorf("got the id %q", result.ToolUseID)
		}
	}
}

// TestBadCalls has one fixture for each way to break a call. Every one must
// fail by itself, with its cause and limit named, while a sound plugin of the
// same runner goes on answering.
func TestBadCalls(t *testing.T) {
	tests := map[string]struct {
		code abi.Code
		says []string
	}{
		"spin":             {abi.CodeTimeout, []string{"300ms", "limit time"}},
		"start_spin":       {abi.CodeTimeout, []string{"300ms", "limit time"}},
		"initialize_spin":  {abi.CodeTimeout, []string{"300ms", "limit time"}},
		"trap":             {abi.CodeTrap, []string{"unreachable"}},
		"trap_start":       {abi.CodeTrap, []string{"while starting", "unreachable"}},
		"answer_outside":   {abi.CodeProtocol, []string{"outside its memory", "0x20000", "65536"}},
		"answer_huge":      {abi.CodeLimit, []string{"1073741824", "output = 1MiB"}},
		"answer_garbage":   {abi.CodeProtocol, []string{"version 116"}},
		"alloc_outside":    {abi.CodeProtocol, []string{"alloc", "0x7fff0000"}},
		"alloc_null":       {abi.CodeProtocol, []string{"alloc", "0x0"}},
		"exit_zero":        {abi.CodeTrap, []string{"exited with code 0 before it answered"}},
		"progress_outside": {abi.CodeProtocol, []string{"progress", "outside its memory"}},
		"submit_outside":   {abi.CodeProtocol, []string{"submit", "outside its memory"}},
		"wait_unknown":     {abi.CodeProtocol, []string{"77", "never made"}},
		"submit_at_start":  {abi.CodeProtocol, []string{"start function"}},
	}
	r := newRunner(t)
	sound, err := r.Load(t.Context(), moduleOf(fixture(t, "ok")))
	if err != nil {
		t.Fatal(err)
	}
	defer sound.Close(context.Background())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in, err := r.Load(t.Context(), moduleOf(fixture(t, name)))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close(context.Background())
			began := time.Now()
			inv := invocation("{}")
			inv.Capability = echoing("hello")
			_, err = in.Call(t.Context(), inv)
			wantCode(t, err, test.code, test.says...)
			if took := time.Since(began); took > testLimits.Time+time.Second {
				t.Errorf("it took %v", took)
			}
			if result, err := sound.Call(t.Context(), invocation("{}")); err != nil || result.Text() != "ok" {
				t.Errorf("the sound plugin then answered %q, %v", result.Text(), err)
			}
		})
	}
}

func TestUnloadableModules(t *testing.T) {
	ok := fixture(t, "ok")
	tests := map[string]struct {
		wasm []byte
		says []string
	}{
		"not wasm":       {[]byte("#!/bin/sh\necho hello\n"), []string{"not a WebAssembly binary"}},
		"empty":          {nil, []string{"not a WebAssembly binary"}},
		"truncated":      {ok[:len(ok)-20], []string{"data section", "past the end"}},
		"invalid":        {bytes.Replace(ok, []byte{0x41, 0x80, 0x20, 0x0b}, []byte{0x42, 0x80, 0x20, 0x0b}, 1), []string{"does not compile"}},
		"4 GiB minimum":  {fixture(t, "memory_4gib"), []string{"memory section", "4294967296"}},
		"no exports":     {fixture(t, "no_exports"), []string{`"memory"`, "alloc (i32) -> (i32)", "call (i32, i32) -> (i64)"}},
		"wrong exports":  {fixture(t, "wrong_exports"), []string{"alloc as (i64) -> (i64)", "call as (i32) -> (i32)", "assess as () -> (i32)"}},
		"unknown import": {fixture(t, "unknown_import"), []string{"env.system", "toolquay:host/1"}},
		"next version":   {fixture(t, "next_version"), []string{"toolquay:host/2", "speaks toolquay:host/1"}},
		"wrong import":   {fixture(t, "wrong_import"), []string{"submit as (i32) -> (i32)", "(i32, i32) -> (i32)"}},
		"over its limit": {fixture(t, "read_answer"), []string{"memory section", "1048576"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := moduleOf(test.wasm, func(m *plugins.Module) { m.Limits.Memory = 1 << 20 })
			_, err := newRunner(t).Load(t.Context(), m)
			wantCode(t, err, abi.CodeLoad, test.says...)
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	in := load(t, "grow")
	result, err := in.Call(t.Context(), invocation("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if pages := len(result.Text()); pages != 64 {
		t.Errorf("the guest has %d pages; its limit is 64", pages)
	}
}

func TestCapabilityAnswers(t *testing.T) {
	body := strings.Repeat("0123456789", 5000)
	var asked []abi.Request
	inv := invocation("{}")
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		asked = append(asked, r)
		return echoing(body)(ctx, r)
	}

	t.Run("handed on unread", func(t *testing.T) {
		result, err := load(t, "pass_through").Call(t.Context(), inv)
		if err != nil || result.Text() != body {
			t.Fatalf("got %d bytes, %v", len(result.Text()), err)
		}
	})
	t.Run("read in pieces", func(t *testing.T) {
		body = body[:100] // so that the message's own header is UTF-8 too
		result, err := load(t, "read_answer").Call(t.Context(), inv)
		if err != nil {
			t.Fatal(err)
		}
		head, parts, err := abi.DecodeAnswer([]byte(result.Text()))
		if err != nil || string(head.OK) != `{"n":1}` || len(parts) != 1 || string(parts[0].Data) != body {
			t.Errorf("the guest read %s, %q, %v", head.OK, parts, err)
		}
	})
	for _, r := range asked {
		if r.Name != "test.echo" || string(r.Args) != `{"n":1}` {
			t.Errorf("the gate was asked for %s %s", r.Name, r.Args)
		}
	}
	if len(asked) != 2 {
		t.Errorf("the gate was asked %d times", len(asked))
	}
}

func TestRefusedCapability(t *testing.T) {
	inv := invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) {
		return abi.Answer{}, abi.Errorf(abi.CodeDenied, "the rule Read(./x) says no")
	}
	_, err := load(t, "pass_through").Call(t.Context(), inv)
	wantCode(t, err, abi.CodeDenied, "Read(./x)")
}

func TestPanickingCapability(t *testing.T) {
	inv := invocation("{}")
	inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) { panic("boom") }
	_, err := load(t, "pass_through").Call(t.Context(), inv)
	wantCode(t, err, abi.CodeInternal, "boom")
}

func TestOversizedAnswerIsRefused(t *testing.T) {
	inv := invocation("{}")
	inv.Capability = echoing(strings.Repeat("x", int(testLimits.Output)+1))
	_, err := load(t, "pass_through").Call(t.Context(), inv)
	wantCode(t, err, abi.CodeLimit, "limit output")
}

// TestBlockedCapability cancels a guest that waits for a capability. The
// guest's own clock stands still meanwhile: only the cancellation ends it.
func TestBlockedCapability(t *testing.T) {
	in := load(t, "read_answer")
	released := make(chan struct{})
	inv := invocation("{}")
	inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		<-ctx.Done()
		close(released)
		return abi.Answer{}, ctx.Err()
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 2*testLimits.Time)
	defer cancel()
	_, err := in.Call(ctx, inv)
	wantCode(t, err, abi.CodeTimeout, "time limit")
	if took := time.Since(began); took < 2*testLimits.Time || took > 2*testLimits.Time+time.Second {
		t.Errorf("it took %v", took)
	}
	<-released
}

func TestCancelledCall(t *testing.T) {
	in := load(t, "spin")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user wrote something new")) })
	_, err := in.Call(ctx, invocation("{}"))
	wantCode(t, err, abi.CodeCancelled, "the user wrote something new")
}

func TestLogFloodIsCut(t *testing.T) {
	in := load(t, "log_flood", func(m *plugins.Module) { m.Limits.Time = 20 * time.Second })
	var lines []string
	inv := invocation("{}")
	inv.Report = func(p abi.ProgressHead) { lines = append(lines, p.Log.Message) }
	result, err := in.Call(t.Context(), inv)
	if err != nil || result.Text() != "ok" {
		t.Fatalf("got %q, %v", result.Text(), err)
	}
	if len(lines) != testLimits.LogLines+1 {
		t.Fatalf("got %d lines", len(lines))
	}
	if last := lines[len(lines)-1]; !strings.Contains(last, "999900 more") || !strings.Contains(last, "log_lines = 100") {
		t.Errorf("the last line is %q", last)
	}
}

func TestCapabilityFloodIsRefused(t *testing.T) {
	in := load(t, "submit_flood", func(m *plugins.Module) { m.Limits.Time = 20 * time.Second })
	var mu sync.Mutex
	asked := 0
	inv := invocation("{}")
	inv.Capability = func(ctx context.Context, r abi.Request) (abi.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return abi.Answer{OK: struct{}{}}, nil
	}
	_, err := in.Call(t.Context(), inv)
	wantCode(t, err, abi.CodeLimit, "capability_calls = 1000", "32 outstanding")
	mu.Lock()
	defer mu.Unlock()
	if asked > testLimits.CapabilityCalls {
		t.Errorf("%d capability calls were made", asked)
	}
}

func TestAssess(t *testing.T) {
	q := plugins.Question{Tool: tool, Input: json.RawMessage("{}")}
	t.Run("answers", func(t *testing.T) {
		a, err := load(t, "assess").Assess(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if a.Invalid == nil || a.Invalid.Code != 7 || a.ReadOnly == nil || !*a.ReadOnly {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("absent", func(t *testing.T) {
		a, err := load(t, "ok").Assess(t.Context(), q)
		if err != nil || a != (abi.Assessment{}) {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("endless", func(t *testing.T) {
		_, err := load(t, "assess_spin").Assess(t.Context(), q)
		wantCode(t, err, abi.CodeTimeout, "limit of 250ms", "limit time")
	})
}

func TestKeptInstance(t *testing.T) {
	in := load(t, "counter", kept)
	count := func(s *plugins.Session) string {
		inv := invocation("{}")
		inv.Session = s
		result, err := in.Call(t.Context(), inv)
		if err != nil {
			t.Fatal(err)
		}
		return result.Text()
	}
	var a, b plugins.Session
	defer a.Close(context.Background())
	defer b.Close(context.Background())
	got := count(&a) + count(&a) + count(&b) + count(&a)
	if got != "1213" {
		t.Errorf("two sessions counted %s; want 1213", got)
	}
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	inv := invocation("{}")
	inv.Session = &a
	_, err := in.Call(t.Context(), inv)
	wantCode(t, err, abi.CodeCancelled, "session is closed")
}

func TestKeptInstanceIsLostOnTrap(t *testing.T) {
	in := load(t, "trap", kept)
	var s plugins.Session
	defer s.Close(context.Background())
	var logged []string
	inv := invocation("{}")
	inv.Session = &s
	inv.Report = func(p abi.ProgressHead) { logged = append(logged, p.Log.Message) }
	for range 2 {
		_, err := in.Call(t.Context(), inv)
		wantCode(t, err, abi.CodeTrap, "unreachable")
	}
	if len(logged) != 2 || !strings.Contains(logged[0], "lost the state") {
		t.Errorf("logged %q", logged)
	}
}

func TestKeptInstanceRefusesReentry(t *testing.T) {
	in := load(t, "pass_through", kept)
	var s plugins.Session
	defer s.Close(context.Background())
	inv := invocation("{}")
	inv.Session = &s
	inv.Capability = func(ctx context.Context, _ abi.Request) (abi.Answer, error) {
		_, err := in.Call(ctx, inv)
		return abi.Answer{}, err
	}
	_, err := in.Call(t.Context(), inv)
	wantCode(t, err, abi.CodeReentry, "cannot be called by itself")
}

func TestParallelCalls(t *testing.T) {
	in := load(t, "read_answer", func(m *plugins.Module) { m.Limits.Memory = 8 << 20; m.Limits.Time = 20 * time.Second })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			inv := invocation("{}")
			inv.Capability = echoing("hello")
			for range 50 {
				if _, err := in.Call(context.Background(), inv); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestNothingLeaks makes calls of every fate and then closes everything.
func TestNothingLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	r := direct.New(direct.Options{CacheDir: sharedCache})
	for _, name := range []string{"ok", "spin", "trap", "exit_zero", "pass_through", "read_answer", "submit_flood", "counter"} {
		in, err := r.Load(t.Context(), moduleOf(fixture(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			inv := invocation("{}")
			inv.Capability = echoing("hello")
			_, _ = in.Call(t.Context(), inv)
		}
		if err := in.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_, err = in.Call(t.Context(), invocation("{}"))
		wantCode(t, err, abi.CodeCancelled, "being unloaded")
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		buf := make([]byte, 1<<16)
		t.Errorf("%d goroutines before, %d after:\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
}

// TestFixturesAreBuiltFromSource assembles every fixture again.
func TestFixturesAreBuiltFromSource(t *testing.T) {
	testenv.NeedTool(t, "wat2wasm")
	dir := t.TempDir()
	if out, err := exec.Command("sh", "testdata/build.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil || len(built) == 0 {
		t.Fatalf("%d fixtures were built, %v", len(built), err)
	}
	for _, file := range built {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".wasm")
		if !bytes.Equal(fixture(t, name), want) {
			t.Errorf("testdata/%s.wasm is not what its source gives; run testdata/build.sh", name)
		}
	}
}
