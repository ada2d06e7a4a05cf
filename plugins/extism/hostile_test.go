package extism_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestHostileGuests holds every way of testdata/hostile.wasm to an end within
// its limit, with memory clean for the next call.
func TestHostileGuests(t *testing.T) {
	t.Parallel()
	roomy := limits
	roomy.Memory = 16 << 20
	tight := roomy
	tight.Time = 50 * time.Millisecond
	endless := mustLoad(t, fixture(t, "hostile.wasm"), tight, "look")
	others := mustLoad(t, fixture(t, "hostile.wasm"), roomy, "look")
	theirs := refer(t, fixture(t, "hostile.wasm"))
	for export, want := range map[string]struct {
		code abi.Code
		text string
	}{
		"flood":           {abi.CodeTimeout, "limit time"},
		"flood_small":     {abi.CodeTimeout, "limit time"},
		"free_all":        {abi.CodeTimeout, "limit time"},
		"reset_all":       {abi.CodeTimeout, "limit time"},
		"log_all":         {abi.CodeTimeout, "limit time"},
		"search":          {abi.CodeTimeout, "limit time"},
		"search_after":    {abi.CodeTimeout, "limit time"},
		"search_for_host": {abi.CodeTimeout, "limit time"},
		"search_for_log":  {abi.CodeTimeout, "limit time"},
		"ask_all":         {abi.CodeLimit, "goes on making capability calls"},
		"nonsense":        {abi.CodeProtocol, "no memory block starts"},
		"stain":           {"", ""},
		"stain_more":      {"", ""},
		"outside":         {"", ""},
		"wrong":           {"", ""},
		"gibibyte":        {"", ""},
		"name_big":        {"", ""},
		"var_big":         {abi.CodeTrap, "Variable store is full"},
		"var_name_big":    {abi.CodeTrap, "Variable store is full"},
	} {
		t.Run(export, func(t *testing.T) {
			inv := invocation(export)
			inv.Capability = func(context.Context, abi.Request) (abi.Answer, error) { return abi.Answer{OK: struct{}{}}, nil }
			guest := others
			if want.code == abi.CodeTimeout {
				guest = endless
			}
			var result abi.ToolResult
			var err error
			within(t, tight.Time, func() { result, err = guest.Call(t.Context(), inv) })
			switch {
			case want.code != "":
				wantError(t, err, want.code, want.text)
			case err != nil || result.IsError || result.Text() != "":
				t.Errorf("got %q, %v", result.Text(), err)
			case export != "stain_more" || testenv.Thorough(): // it takes go-sdk a second; stain is alike
				agree(t, behaviour{}, theirs.call(t, export, "", nil))
			}
			for range 3 {
				result, err := guest.Call(t.Context(), invocation("look"))
				if abi.CodeOf(err) == abi.CodeTimeout {
					continue // a busy machine
				}
				if err != nil || result.IsError {
					t.Errorf("the next call found %q, %v", result.Text(), err)
				}
			}
		})
	}
}

// TestBigBlocksAreNotCopied counts what the host allocates for guests that give it
// blocks of 8 MiB for what may be some thousand bytes. Nothing runs beside it.
func TestBigBlocksAreNotCopied(t *testing.T) {
	roomy := limits
	roomy.Memory = 16 << 20
	guest := mustLoad(t, fixture(t, "hostile.wasm"), roomy, "look")
	for _, export := range []string{"log_big", "name_big", "var_big", "var_name_big"} {
		var before, after runtime.MemStats
		_, _ = guest.Call(t.Context(), invocation("look")) // what the first call alone needs
		runtime.ReadMemStats(&before)
		_, _ = guest.Call(t.Context(), invocation(export)) // how they end is tested above
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
			t.Errorf("%s: the host allocated %d MiB", export, took>>20)
		}
	}
}

// TestLogLinesAreCutInTheGuest logs 50 lines of 8 MiB, of which two are wanted.
func TestLogLinesAreCutInTheGuest(t *testing.T) {
	t.Parallel()
	few := limits
	few.LogLines = 2
	guest := mustLoad(t, fixture(t, "hostile.wasm"), few, "look")
	var r reports
	inv := invocation("log_big")
	inv.Report = r.take
	if _, err := guest.Call(t.Context(), inv); err != nil {
		t.Fatal(err)
	}
	if len(r.lines) != 3 || len(r.lines[0].Message) != 4<<10 || !strings.Contains(r.lines[2].Message, "48 more") {
		t.Errorf("got %d lines: %.200v", len(r.lines), r.lines)
	}
}

// TestDeepStacksAreNotKept has a guest recurse once: of its native stack nothing
// is left to the calls that come after it.
func TestDeepStacksAreNotKept(t *testing.T) {
	wasm := fixture(t, "hostile.wasm")
	guest := mustLoad(t, wasm, limits, "look")
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	look := func(export string) {
		if _, err := guest.Call(t.Context(), invocation(export)); err != nil {
			t.Fatal(err)
		}
	}
	look("look")
	before := live()
	look("deep")
	look("look")
	// What is made ahead for the next call is, for a moment, held twice.
	after := live()
	for began := time.Now(); after > before+256<<10 && time.Since(began) < testenv.Patience; after = live() {
		time.Sleep(10 * time.Millisecond)
	}
	if after > before+256<<10 {
		t.Errorf("%d KiB more are held", (after-before)>>10)
	}
}

// within holds that a call ends with its limit of time.
func within(t *testing.T, limit time.Duration, call func()) {
	t.Helper()
	const late = 500 * time.Millisecond // 100 ms are promised, to machines that do nothing else
	testenv.InTime(t, limit+late, func() time.Duration { return testenv.Took(call) })
}

func TestForeignNames(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "names.wasm"), limits, "echo")
	for range 3 {
		result, err := guest.Call(t.Context(), invocation("echo"))
		if err != nil || result.Text() != `{"text":"x"}` {
			t.Errorf("got %q, %v", result.Text(), err)
		}
	}
}

// TestGrabbing holds that of the kernel a guest gets Extism's functions alone,
// and that everything wrong with a module is said at once.
func TestGrabbing(t *testing.T) {
	t.Parallel()
	_, err := load(t, fixture(t, "grab.wasm"), limits, "echo", "none")
	for _, want := range []string{
		"imports extism:host/env.alloc as (i32) -> (i32); it is (i64) -> (i64)",
		"imports extism:host/env.config_get as (i32) -> (); it is (i64) -> (i64)",
		"imports extism:host/env.exec, which Extism does not have",
		"imports extism:host/user.toolquay_capability as () -> (); it is (i64) -> (i64)",
		"imports the memory extism:host/env.memory; a plugin brings its own",
		"exports hs_init as () -> ()",
		`has no export "none" for the tool T_none`,
	} {
		wantError(t, err, abi.CodeLoad, want)
	}
	guest, err := load(t, fixture(t, "grab_global.wasm"), limits, "echo")
	if err == nil {
		_, err = guest.Call(t.Context(), invocation("echo"))
	}
	if err == nil || !strings.Contains(err.Error(), "extism:host/env") {
		t.Errorf("it got hold of the kernel's fuel: %v", err)
	}
}

func TestEndlessInitStops(t *testing.T) {
	t.Parallel()
	short := limits
	short.Time = 200 * time.Millisecond
	guest := mustLoad(t, fixture(t, "initialize_spin.wasm"), short, "initialize_spin")
	for range 2 {
		within(t, short.Time, func() {
			_, err := guest.Call(t.Context(), invocation("initialize_spin"))
			wantError(t, err, abi.CodeTimeout, "limit time")
		})
	}
}

func TestStartFunctionHasNoCall(t *testing.T) {
	t.Parallel()
	guest := mustLoad(t, fixture(t, "start_call.wasm"), limits, "echo")
	_, err := guest.Call(t.Context(), invocation("echo"))
	wantError(t, err, abi.CodeProtocol, "in its start function")
}

// TestStartThatLooksAtTheCall holds that a guest whose start reads what only its
// call has gets that call's, every time.
func TestStartThatLooksAtTheCall(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(i string) (input string, config map[string]string){
		"early_config.wasm": func(i string) (string, map[string]string) { return "", map[string]string{"k": i} },
		"early_input.wasm":  func(i string) (string, map[string]string) { return i, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasm := fixture(t, name)
			ours, theirs := mustLoad(t, wasm, limits, "told"), refer(t, wasm)
			for _, i := range []string{"one", "two", "", "three"} {
				input, config := call(i)
				got := callOurs(t, ours, "told", input, config)
				if got.text != i {
					t.Errorf("got %q, %q; want %q", got.text, got.failed, i)
				}
				agree(t, got, theirs.call(t, "told", input, config))
			}
		})
	}
}

// TestStartsAreChosenAsTheSDKDoes calls an export that tells how its runtime was
// started.
func TestStartsAreChosenAsTheSDKDoes(t *testing.T) {
	t.Parallel()
	wasm := fixture(t, "ctors.wasm")
	theirs := refer(t, wasm)
	for _, tools := range [][]string{{"count"}, {"count", "_start"}} {
		ours := mustLoad(t, wasm, limits, tools...)
		for _, export := range tools {
			for range 2 {
				agree(t, callOurs(t, ours, export, "", nil), theirs.call(t, export, "", nil))
			}
		}
	}
}
