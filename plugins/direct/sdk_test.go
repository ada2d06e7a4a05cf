package direct_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
)

// TestPanicBehindTheLogLimit is named all the same, and its trace is reported.
func TestPanicBehindTheLogLimit(t *testing.T) {
	t.Parallel()
	in := load(t, "log_trap", func(m *plugins.Module) { m.Limits.LogLines = 3 })
	inv, traced := invocation(`{}`), false
	inv.Report = func(p abi.ProgressHead) {
		traced = traced || strings.HasPrefix(p.Log.Message, "stack trace of the module:")
	}
	_, err := in.Call(t.Context(), inv)
	runnertest.WantCode(t, err, abi.CodeTrap, "panicked at src/lib.rs:4:5:")
	if !traced {
		t.Error("its trace was not reported")
	}
}

// TestGoGuestBreaks: an author learns where a Go guest broke, whichever way it did.
func TestGoGuestBreaks(t *testing.T) {
	t.Parallel()
	wasm := testenv.GoGuest(t, filepath.Join("..", "..", "sdk", "go"), "testdata/backup")
	in := runnertest.Load(t, newRunner(t), moduleOf(wasm, func(m *plugins.Module) {
		m.Limits = plugins.DefaultLimits
		m.Limits.Time = testenv.Patience
	}))
	const index = "runtime error: index out of range [5] with length 0"
	for how, want := range map[string]struct {
		says   []string // parts of the error or result
		logged string
	}{
		"panic":     {[]string{"the tool panicked: " + index + " (main.go:", ", in main.rowsOf)"}, "panic: " + index + "\nmain.rowsOf\n\t"},
		"goroutine": {[]string{"trapped", "panic: " + index, "/testdata/backup/main.go:"}, "\nstack trace of the module:\n\t.runtime."},
		"exit":      {[]string{"exited with code 3", "on standard error"}, ""},
		"error":     {[]string{"there is no error"}, ""},
	} {
		t.Run(how, func(t *testing.T) {
			var logged strings.Builder
			result, err := in.Call(t.Context(), plugins.Invocation{
				Tool: &abi.Tool{Name: "Break"}, Input: json.RawMessage(`{"path":"` + how + `"}`), Cwd: "/",
				Report: func(p abi.ProgressHead) { logged.WriteString(p.Log.Message + "\n") },
			})
			said := result.Text()
			if err != nil {
				said = err.Error()
			}
			for _, part := range want.says {
				if !strings.Contains(said, part) {
					t.Errorf("it says %q, and not %q", said, part)
				}
			}
			if !strings.HasPrefix(logged.String(), "on standard output\non standard error\n") || !strings.Contains(logged.String(), want.logged) {
				t.Errorf("it logged %s", logged.String())
			}
		})
	}
}

// TestGoGuestTells has a guest of the Go SDK say what its call touches, and report
// how far it is: the host gets what the author said, within its bounds.
func TestGoGuestTells(t *testing.T) {
	t.Parallel()
	wasm := testenv.GoGuest(t, filepath.Join("..", "..", "sdk", "go"), "testdata/backup")
	in := runnertest.Load(t, newRunner(t), moduleOf(wasm, func(m *plugins.Module) {
		m.Limits = plugins.DefaultLimits
		m.Limits.Time = testenv.Patience
	}))
	tool, input := &abi.Tool{Name: "Backup"}, json.RawMessage(`{"path":"src/ä"}`)
	a, err := in.Assess(t.Context(), plugins.Question{Tool: tool, Input: input})
	if want := []abi.Touch{{Path: "src/ä"}, {Path: "src/ä.bak", Write: true}}; err != nil || !slices.Equal(a.Touches, want) {
		t.Errorf("it touches %+v, %v", a.Touches, err)
	}
	var told []abi.Progress
	result, err := in.Call(t.Context(), plugins.Invocation{
		Tool: tool, Input: input, Cwd: "/",
		Report: func(p abi.ProgressHead) { told = append(told, *p.Progress) },
	})
	if err != nil || result.Text() != "backed up" {
		t.Fatalf("got %q, %v", result.Text(), err)
	}
	want := []abi.Progress{
		{Message: "reading src/ä", Done: 1, Total: 2},
		{Output: strings.Repeat("\x1b", abi.MaxOutput)},
		{Message: strings.Repeat("ä", 4096) + "...", Output: "\uFFFD\n", Done: 2, Total: 2},
	}
	if !slices.Equal(told, want) {
		t.Errorf("reported %.300v", told)
	}
}
