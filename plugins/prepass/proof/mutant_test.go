package proof

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
)

// TestMutants compares damaged copies of real modules. FuzzMutants is the same
// with a fuzzer's damage.
func TestMutants(t *testing.T) {
	t.Parallel()
	modules := realModules(t)
	random := rand.New(rand.NewPCG(1, 1))
	calls := map[class]int{}
	mutants := 800 / sampleEvery()
	for range mutants {
		edits := make([]byte, 3*random.IntN(4))
		for i := range edits {
			edits[i] = byte(random.Uint32())
		}
		compareMutant(t, modules, uint16(random.Uint32()), edits, calls)
	}
	t.Logf("%d mutants of %d modules, calls compared: %v", mutants, len(modules), calls)
}

// FuzzMutants compares damaged copies of real modules: those that are valid
// still must behave the same rewritten.
func FuzzMutants(f *testing.F) {
	modules := realModules(f)
	f.Add(uint16(0), []byte{})
	f.Add(uint16(1), []byte{1, 2, 3})
	f.Add(uint16(200), []byte{0, 200, 0x6b, 3, 100, 0x10})
	f.Fuzz(func(t *testing.T, which uint16, edits []byte) {
		compareMutant(t, modules, which, edits, map[class]int{})
	})
}

func compareMutant(t *testing.T, modules [][]byte, which uint16, edits []byte, calls map[class]int) {
	t.Helper()
	wasm := mutate(modules[int(which)%len(modules)], edits)
	e := engines()[0]
	if which%8 == 0 {
		e = interpreter
	}
	if err := compareModule(t, e, false, wasm, uint64(which), mutantFuel, calls); err != nil {
		t.Errorf("module %d, edits %x: %v", which, edits, err)
	}
}

// mutate changes a byte of the module for every three bytes of edits: two that
// say where, mostly in the code and what follows it, and one to put there.
func mutate(wasm, edits []byte) []byte {
	code := len(wasm) - len(sections(wasm)[codeSection])
	wasm = bytes.Clone(wasm)
	for edit := range slices.Chunk(edits, 3) {
		if len(edit) < 3 {
			break
		}
		at, start := int(edit[0])<<8+int(edit[1]), code
		if edit[0] >= 0xe0 {
			start = 8 // behind the header
		}
		wasm[start+at%(len(wasm)-start)] = edit[2]
	}
	return wasm
}

// mutantFuel bounds a call of a mutant, of which many run for ever.
const mutantFuel = 1 << 22

// maxReal is the size up to which modules are taken: edits reach the whole of
// them, and thousands are compiled.
const maxReal = 16 << 10

// realModules are the valid modules with code that the specification's tests
// and the runner's fixtures hold, one of each content.
func realModules(tb testing.TB) [][]byte {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "direct", "testdata", "*.wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, suite := range suites {
		more, err := filepath.Glob(filepath.Join(suiteDir(), suite.dir, "testdata", "*.wasm"))
		if err != nil {
			tb.Fatal(err)
		}
		files = append(files, more...)
	}
	return validModules(tb, files)
}

// withoutCustom leaves custom sections out: the engine allocates whatever a damaged
// section of names says it holds. The pre-pass's own fuzzing damages those.
func withoutCustom(wasm []byte) []byte {
	return join(slices.DeleteFunc(split(wasm), func(s section) bool { return s.id == 0 }))
}

func validModules(tb testing.TB, files []string) [][]byte {
	tb.Helper()
	r := wazero.NewRuntimeWithConfig(tb.Context(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(everything))
	defer func() {
		if err := r.Close(tb.Context()); err != nil {
			tb.Error(err)
		}
	}()
	var modules [][]byte
	seen := map[string]bool{}
	for i, file := range files {
		if i%sampleEvery() != 0 {
			continue
		}
		wasm, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if len(wasm) > maxReal || seen[string(wasm)] {
			continue
		}
		seen[string(wasm)] = true
		if _, err := r.CompileModule(tb.Context(), wasm); err == nil && len(sections(wasm)[codeSection]) > 1 {
			modules = append(modules, withoutCustom(wasm))
		}
	}
	return modules
}
