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

// TestGoGuestTells has a guest of the Go SDK say what its call touches, and report
// how far it is: the host gets what the author said, within its bounds.
func TestGoGuestTells(t *testing.T) {
	t.Parallel()
	wasm := buildGo(t, filepath.Join("..", "..", "sdk", "go"), "./testdata/backup")
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
