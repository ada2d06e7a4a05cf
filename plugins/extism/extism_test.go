package extism_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
	"github.com/toolquay/toolquay/plugins/worker"
)

// TestMain makes the test binary fit to be its own worker, as any program does.
func TestMain(m *testing.M) {
	worker.Main(extism.New)
	os.Exit(m.Run())
}

var limits = plugins.Limits{
	Memory:          64 << 20,
	Time:            testenv.Patience,
	Output:          1 << 20,
	LogLines:        1000,
	CapabilityCalls: 100,
}

// manifest declares each export as a tool of that name.
func manifest(exports ...string) *abi.Manifest {
	m := &abi.Manifest{Manifest: 1, Name: "guest", ABI: abi.ABIExtism}
	for _, e := range exports {
		m.Tools = append(m.Tools, abi.Tool{Name: "T_" + e, Export: e})
	}
	return m
}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	wasm, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}

func load(tb testing.TB, wasm []byte, l plugins.Limits, exports ...string) (plugins.Instance, error) {
	tb.Helper()
	runner := extism.New(plugins.RunnerOptions{CacheDir: testenv.CompileCache()})
	m := plugins.Module{Manifest: manifest(exports...), Hash: sha256.Sum256(wasm), Wasm: wasm, Limits: l}
	instance, err := runner.Load(tb.Context(), m)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() {
		ctx := context.WithoutCancel(tb.Context())
		if err := errors.Join(instance.Close(ctx), runner.Close(ctx)); err != nil {
			tb.Error(err)
		}
	})
	return instance, nil
}

func mustLoad(tb testing.TB, wasm []byte, l plugins.Limits, exports ...string) plugins.Instance {
	tb.Helper()
	instance, err := load(tb, wasm, l, exports...)
	if err != nil {
		tb.Fatal(err)
	}
	return instance
}

func invocation(export string) plugins.Invocation {
	return plugins.Invocation{
		Tool:  &abi.Tool{Name: "T_" + export, Export: export},
		ID:    "call-1",
		Input: json.RawMessage(`{"text":"x"}`),
	}
}

// reports collects log lines, without the stacks of traps, which are ours.
type reports struct {
	mu    sync.Mutex
	lines []abi.Log
}

func (r *reports) take(p abi.ProgressHead) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !strings.HasPrefix(p.Log.Message, "stack trace of the module:") {
		r.lines = append(r.lines, *p.Log)
	}
}

func wantError(tb testing.TB, err error, code abi.Code, text string) {
	tb.Helper()
	var e *abi.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Error(), text) {
		tb.Errorf("got the error %v (%s), want the code %s and %q", err, abi.CodeOf(err), code, text)
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "guest.wasm"), limits, "echo")
	for export, want := range map[string]abi.ToolResult{
		"echo":    {Content: []abi.Block{abi.TextBlock(`{"text":"x"}`)}},
		"nothing": {Content: []abi.Block{abi.TextBlock("")}},
		"json":    {Content: []abi.Block{abi.TextBlock(`{"b":1, "a":[2]}`)}},
		"config":  {Content: []abi.Block{abi.TextBlock("hello")}},
		"fail":    {Content: []abi.Block{abi.TextBlock("it went wrong")}, IsError: true},
		"code":    {Content: []abi.Block{abi.TextBlock("The tool failed with code 7 and no message.")}, IsError: true},
	} {
		t.Run(export, func(t *testing.T) {
			t.Parallel()
			inv := invocation(export)
			inv.Config = map[string]json.RawMessage{"greeting": json.RawMessage(`"hello"`)}
			got, err := guest.Call(t.Context(), inv)
			if err != nil {
				t.Fatal(err)
			}
			if got.ToolUseID != "call-1" || got.IsError != want.IsError || got.Text() != want.Text() || len(got.Content) != 1 {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestStructuredOutput(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "guest.wasm"), limits, "echo")
	inv := invocation("json")
	inv.Tool.OutputSchema = `{"type":"object"}`
	got, err := guest.Call(t.Context(), inv)
	if err != nil || string(got.Structured) != `{"a":[2],"b":1}` {
		t.Errorf("got %s, %v; want the output as canonical JSON", got.Structured, err)
	}
	inv = invocation("nothing")
	inv.Tool.OutputSchema = `{"type":"object"}`
	_, err = guest.Call(t.Context(), inv)
	wantError(t, err, abi.CodeProtocol, "not JSON")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "guest.wasm"), limits, "echo")
	for export, want := range map[string]struct {
		code abi.Code
		text string
	}{
		"exit3":       {abi.CodeTrap, "exited before it answered, with code 3"},
		"stack":       {abi.CodeTrap, "the plugin's stack is used up"},
		"big":         {abi.CodeLimit, "2097152 bytes, over its limit output = 1MiB"},
		"binary":      {abi.CodeProtocol, "not UTF-8"},
		"http":        {abi.CodeUnsupported, "http_request"},
		"vars":        {abi.CodeTrap, "Variable store is full"},
		"broken":      {abi.CodeProtocol, "broken request"},
		"nowhere":     {abi.CodeProtocol, "no memory block starts"},
		"log_nowhere": {abi.CodeTrap, ""},
	} {
		t.Run(export, func(t *testing.T) {
			t.Parallel()
			result, err := guest.Call(t.Context(), invocation(export))
			if err == nil {
				t.Fatalf("got the result %q, want an error", result.Text())
			}
			wantError(t, err, want.code, want.text)
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
		})
	}
}

// TestLongOutputIsHeld: what an export puts out is the guest's own, within its limit
// of output, and nothing of it is spilled.
func TestLongOutputIsHeld(t *testing.T) {
	t.Parallel()
	large := limits
	large.Output = 4 << 20
	guest := mustLoad(t, fixture(t, "guest.wasm"), large, "echo")
	inv := invocation("big")
	inv.Spill = func() (abi.Spill, error) {
		t.Error("a text is spilled")
		return nil, abi.Errorf(abi.CodeInternal, "not here")
	}
	result, err := guest.Call(t.Context(), inv)
	if n := len(result.Text()); err != nil || n != 2<<20 || n <= abi.SpillOver {
		t.Errorf("got %d bytes, %v", n, err)
	}
}

func TestLoadErrors(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		wasm   []byte
		limits plugins.Limits
		export string
		text   string
	}{
		"4 GiB of memory":  {fixture(t, "memory_4g.wasm"), limits, "echo", "4294967296 bytes of memory"},
		"missing export":   {fixture(t, "bench.wasm"), limits, "ecko", `no export "ecko" for the tool T_ecko; it has echo, noop, pull`},
		"export with args": {fixture(t, "guest.wasm"), limits, "takes_one", "1 parameters"},
		"imports":          {fixture(t, "imports.wasm"), limits, "echo", "imports env.system"},
		"other import":     {fixture(t, "imports.wasm"), limits, "echo", "the only function there is toolquay_capability"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, tt.wasm, tt.limits, tt.export)
			wantError(t, err, abi.CodeLoad, tt.text)
		})
	}
}

func TestKeptIsRefused(t *testing.T) {
	t.Parallel()
	m := plugins.Module{Manifest: manifest("echo"), Wasm: fixture(t, "guest.wasm"), Limits: limits}
	m.Manifest.Instance = abi.InstanceKept
	_, err := extism.New(plugins.RunnerOptions{}).Load(t.Context(), m)
	wantError(t, err, abi.CodeLoad, "kept")
}

func TestEndlessLoopStopsAlone(t *testing.T) {
	t.Parallel()
	short := limits
	short.Time = 300 * time.Millisecond
	guest := mustLoad(t, fixture(t, "guest.wasm"), short, "echo")
	testenv.InTime(t, short.Time+time.Second, func() time.Duration {
		looping, late := make(chan error), false
		start := time.Now()
		go func() {
			_, err := guest.Call(t.Context(), invocation("loop"))
			looping <- err
		}()
		for range 5 {
			_, err := guest.Call(t.Context(), invocation("echo"))
			if late = late || abi.CodeOf(err) == abi.CodeTimeout; err != nil && !late {
				t.Errorf("a call beside the loop: %v", err)
			}
		}
		wantError(t, <-looping, abi.CodeTimeout, "limit of 300ms (limit time)")
		if late { // the machine was, or calls do wait for the loop
			return testenv.Patience
		}
		return time.Since(start)
	})
}
