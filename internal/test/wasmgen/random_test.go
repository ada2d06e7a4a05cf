package wasmgen_test

import (
	"bytes"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestRandomIsValid has wazero validate random modules.
func TestRandomIsValid(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer closeRuntime(t, r)
	modules := testenv.Sample(5000)
	total := 0
	for seed := range modules {
		wasm := wasmgen.Seeded(uint64(seed))
		total += len(wasm)
		m, err := r.CompileModule(ctx, wasm)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := m.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d modules, %d bytes each", modules, total/modules)
}

func TestRandomIsDeterministic(t *testing.T) {
	t.Parallel()
	for seed := range 200 {
		data := bytes.Repeat([]byte{byte(seed), 3}, seed)
		if !bytes.Equal(wasmgen.Random(data), wasmgen.Random(data)) {
			t.Fatalf("the bytes %x made two modules", data)
		}
	}
}

// FuzzRandom has wazero validate the modules of any bytes.
func FuzzRandom(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08"))
	f.Add(bytes.Repeat([]byte{0}, 64))
	f.Add(bytes.Repeat([]byte{255}, 64))
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx := t.Context()
		r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
		defer closeRuntime(t, r)
		if _, err := r.CompileModule(ctx, wasmgen.Random(data)); err != nil {
			t.Fatal(err)
		}
	})
}

func closeRuntime(t *testing.T, r wazero.Runtime) {
	t.Helper()
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
