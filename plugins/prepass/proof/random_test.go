package proof

import (
	"math/rand/v2"
	"testing"

	"github.com/toolquay/toolquay/internal/test/wasmgen"
)

// TestRandomModules compares random modules. FuzzRewrite is the same with a
// fuzzer's bytes.
func TestRandomModules(t *testing.T) {
	t.Parallel()
	modules := 400 / sampleEvery()
	calls := map[class]int{}
	for seed := range uint64(modules) {
		compareRandom(t, wasmgen.Seeded(seed), seed, calls)
	}
	t.Logf("%d modules, calls compared: %v", modules, calls)
}

// FuzzRewrite compares the random modules of any bytes: original against
// rewritten, and for a share of them the interpreter besides.
func FuzzRewrite(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for seed := range uint64(8) {
		data := make([]byte, 200*seed)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data, seed)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		compareRandom(t, wasmgen.Random(data), seed, map[class]int{})
	})
}

// compareRandom compares a module over calls with the arguments of the seed, and
// counts in calls how they ended.
func compareRandom(t *testing.T, wasm []byte, seed uint64, calls map[class]int) {
	t.Helper()
	if err := compareModule(t, engines()[0], seed%4 == 0, wasm, seed, randomFuel, calls); err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}
