package worker_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/worker"
)

// sharedCache holds compiled fixtures for the whole test binary.
var sharedCache string

// TestMain makes the test binary fit to be its own worker, as any program does.
func TestMain(m *testing.M) {
	worker.Main(newProbe)
	dir, err := os.MkdirTemp("", "toolquay-worker-")
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
	b, err := os.ReadFile(filepath.Join("..", "direct", "testdata", name+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

var testLimits = plugins.Limits{
	Memory:          4 << 20,
	Time:            10 * time.Second,
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

func options(tb testing.TB) worker.Options {
	tb.Helper()
	command, err := worker.Self()
	if err != nil {
		tb.Fatal(err)
	}
	return worker.Options{Command: command, CacheDir: sharedCache, Logger: slog.New(slog.NewTextHandler(writerTo{tb}, nil))}
}

// writerTo logs to a test.
type writerTo struct{ tb testing.TB }

func (w writerTo) Write(p []byte) (int, error) {
	w.tb.Logf("log: %s", p)
	return len(p), nil
}

func load(tb testing.TB, o worker.Options, kind string, m plugins.Module) plugins.Instance {
	tb.Helper()
	in, err := worker.New(kind, o).Load(tb.Context(), m)
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
