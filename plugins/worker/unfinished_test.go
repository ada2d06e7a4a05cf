package worker_test

import (
	"context"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
)

// fileSpill is a text that lies in a file.
type fileSpill struct {
	*abi.SpillWriter
	file *os.File
}

// Done closes the file.
func (s fileSpill) Done() (*abi.Spilled, error) {
	return s.Spilled(s.file.Name()), s.file.Close()
}

// Discard removes the file.
func (s fileSpill) Discard() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}

// TestUnfinishedTexts has workers that end, or a call's limit that ends them, in the
// middle of a text: the call fails, and no file is left.
func TestUnfinishedTexts(t *testing.T) {
	t.Parallel()
	slow := func(m *plugins.Module) { m.Limits.Time = 100 * time.Millisecond }
	for name, test := range map[string]struct {
		change func(*plugins.Module)
		code   abi.Code
		says   string
	}{
		"spill and exit":   {func(*plugins.Module) {}, abi.CodeTrap, "exit status 7"},
		"spill and panic":  {func(*plugins.Module) {}, abi.CodeTrap, "a defect in the runner"},
		"spill and hang":   {slow, abi.CodeTimeout, "limit time"},
		"spill and forget": {func(*plugins.Module) {}, abi.CodeProtocol, "other texts than it has sent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			in := load(t, options(t), abiProbe, moduleOf(nil, test.change))
			var made atomic.Bool
			inv := probing(name)
			inv.Spill = func() (abi.Spill, error) {
				made.Store(true)
				f, err := os.CreateTemp(dir, "")
				return fileSpill{abi.NewSpillWriter(f), f}, err
			}
			for deadline := time.Now().Add(testenv.Patience); !made.Load(); { // it may be over its time by then
				_, err := in.Call(context.Background(), inv)
				runnertest.WantCode(t, err, test.code, test.says)
				if time.Now().After(deadline) {
					t.Fatal("no text was begun")
				}
			}
			for deadline := time.Now().Add(testenv.Patience); ; time.Sleep(time.Millisecond) {
				left, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				if len(left) == 0 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d files are left", len(left))
				}
			}
		})
	}
}
