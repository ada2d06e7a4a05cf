package extism_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/extism"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// without are the behaviours that Extism modules do not have.
var without = map[string]string{
	"large body in little memory":     "a guest gets an answer whole, up to extism.MaxAnswer; see TestCapability",
	"body that nobody reads":          "an answer is read before the guest goes on, up to extism.MaxAnswer; see TestCapability",
	"long text is spilled":            "no result names an answer that the guest has not read: all of it is the guest's own output; see TestLongOutputIsHeld",
	"failing spill":                   "nothing is spilled; see TestLongOutputIsHeld",
	"cancelled spill":                 "nothing is spilled; see TestLongOutputIsHeld",
	"long text in little memory":      "an output is bounded by its limit; see TestLongOutputIsHeld",
	"output while it runs":            "Extism modules log lines, and report nothing else",
	"progress flood":                  "Extism modules report no progress; see the log flood",
	"progress comes at once":          "Extism modules report no progress",
	"assess":                          "Extism modules have no such export",
	"kept instance":                   `instance = "kept" is refused; see TestKeptIsRefused`,
	"kept instance is lost on a trap": `instance = "kept" is refused; see TestKeptIsRefused`,
	"kept instance refuses re-entry":  `instance = "kept" is refused; see TestKeptIsRefused`,
}

// TestConformance holds Extism modules to what plugins of the direct ABI do, in
// this process and in one of their own.
func TestConformance(t *testing.T) {
	t.Run("in process", func(t *testing.T) {
		runnertest.Run(t, runnertest.Suite{
			New: func(testing.TB) plugins.Runner {
				return extism.New(plugins.RunnerOptions{CacheDir: testenv.CompileCache()})
			},
			Guest: suiteGuest, Told: told, Without: without,
		})
	})
	t.Run("in a worker", func(t *testing.T) {
		runnertest.Run(t, runnertest.Suite{
			New: inWorker, ClosingEndsCalls: true,
			Guest: suiteGuest, Told: told, Without: without,
		})
	})
}

func inWorker(tb testing.TB) plugins.Runner {
	tb.Helper()
	command, err := worker.Self()
	if err != nil {
		tb.Fatal(err)
	}
	return worker.New(abi.ABIExtism, worker.Options{Command: command, CacheDir: testenv.CompileCache()})
}

// suiteGuest returns the module of a behaviour: one that does it in its start is a
// module of its own, the others are exports of suite.wasm.
func suiteGuest(tb testing.TB, name string) []byte {
	tb.Helper()
	wasm, err := os.ReadFile("testdata/" + name + ".wasm")
	if errors.Is(err, os.ErrNotExist) {
		return fixture(tb, "suite.wasm")
	}
	if err != nil {
		tb.Fatal(err)
	}
	return wasm
}

// told takes a failed result of pass_through apart: the head of the answer that
// told it of its capability call's failure.
func told(r abi.ToolResult) error {
	if !r.IsError {
		return nil
	}
	var head abi.AnswerHead
	if err := json.Unmarshal([]byte(r.Text()), &head); err != nil || head.Error == nil {
		return errors.New(r.Text())
	}
	return head.Error
}
