package worker_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
	"github.com/toolquay/toolquay/plugins/worker"
)

// TestMain makes the test binary fit to be its own worker, as any program does.
func TestMain(m *testing.M) {
	worker.Main(newProbe)
	testenv.Waiting()
	os.Exit(m.Run())
}

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("..", "direct", "testdata", name+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// moduleOf has time to start a worker for it, and then some.
func moduleOf(wasm []byte, change ...func(*plugins.Module)) plugins.Module {
	m := runnertest.Module(abi.ABIDirect, "", wasm)
	m.Limits.Time = testenv.Patience
	for _, c := range change {
		c(&m)
	}
	return m
}

func options(tb testing.TB) worker.Options {
	tb.Helper()
	command, err := worker.Self()
	if err != nil {
		tb.Fatal(err)
	}
	return worker.Options{Command: command, CacheDir: testenv.CompileCache(), CompileTime: testenv.Patience, Logger: slog.New(slog.NewTextHandler(writerTo{tb}, nil))}
}

// writerTo logs to a test.
type writerTo struct{ tb testing.TB }

func (w writerTo) Write(p []byte) (int, error) {
	w.tb.Logf("log: %s", p)
	return len(p), nil
}

func load(tb testing.TB, o worker.Options, kind string, m plugins.Module) plugins.Instance {
	tb.Helper()
	return runnertest.Load(tb, worker.New(kind, o), m)
}

var tool = &abi.Tool{Name: "Fixture"}

func invocation(input string) plugins.Invocation {
	return plugins.Invocation{Tool: tool, ID: "toolu_1", Cwd: "/", Input: json.RawMessage(input)}
}
