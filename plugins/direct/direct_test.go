package direct_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
	"github.com/toolquay/toolquay/plugins/internal/runnertest"
)

func fixture(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func moduleOf(wasm []byte, change ...func(*plugins.Module)) plugins.Module {
	patient := func(m *plugins.Module) { m.Limits.Time = testenv.Patience }
	return runnertest.Module(abi.ABIDirect, "", wasm, append([]func(*plugins.Module){patient}, change...)...)
}

func kept(m *plugins.Module) { m.Manifest.Instance = abi.InstanceKept }

func newRunner(tb testing.TB) *direct.Runner {
	tb.Helper()
	r := direct.New(direct.Options{CacheDir: testenv.CompileCache()})
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func load(tb testing.TB, name string, change ...func(*plugins.Module)) plugins.Instance {
	tb.Helper()
	return runnertest.Load(tb, newRunner(tb), moduleOf(fixture(tb, name), change...))
}

var tool = &abi.Tool{Name: "Fixture"}

func invocation(input string) plugins.Invocation {
	return plugins.Invocation{Tool: tool, ID: "toolu_1", Cwd: "/", Input: json.RawMessage(input)}
}

func TestUnloadableModules(t *testing.T) {
	ok := fixture(t, "ok")
	tests := map[string]struct {
		wasm []byte
		says []string
	}{
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
			runnertest.WantCode(t, err, abi.CodeLoad, test.says...)
		})
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
