package extism

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/toolquay/toolquay/internal/testenv"
)

// sdkDir is where the Go command keeps the source of go-sdk, in the version of
// go.mod.
func sdkDir(tb testing.TB) string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), testenv.NeedTool(tb, "go"), "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		testenv.Missing(tb, "the source of github.com/extism/go-sdk is not here")
	}
	return dir
}

func TestKernelIsTheSDKs(t *testing.T) {
	t.Parallel()
	dir := sdkDir(t)
	for ours, theirs := range map[string]string{
		"kernel/extism-runtime.wasm": "extism-runtime.wasm",
		"kernel/LICENSE":             "LICENSE",
	} {
		a, errA := os.ReadFile(ours)
		b, errB := os.ReadFile(filepath.Join(dir, theirs))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not go-sdk's (%v, %v)", ours, errA, errB)
		}
	}
	version, err := os.ReadFile(filepath.Join(dir, "extism-runtime.wasm.version"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("kernel/README.md")
	if err != nil || !bytes.Contains(readme, append([]byte("version "), bytes.TrimSpace(version)...)) {
		t.Errorf("kernel/README.md does not name the version %s (%v)", version, err)
	}
}

func TestSlimKernelDiffersInItsMemoryAlone(t *testing.T) {
	t.Parallel()
	slim, _ := slimKernel()
	var differ []int
	for i := range slim {
		if slim[i] != kernelWasm[i] {
			differ = append(differ, i)
		}
	}
	if len(slim) != len(kernelWasm) || len(differ) != 1 || slim[differ[0]] != 1 || kernelWasm[differ[0]] != 16 {
		t.Errorf("it differs at %v", differ)
	}
	if first := open(t, slim).memory.Size(); first != 64<<10 {
		t.Errorf("it begins with %d bytes", first)
	}
}

// open instantiates a kernel as it came.
func open(t *testing.T, wasm []byte) *kernel {
	t.Helper()
	r := wazero.NewRuntime(t.Context())
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	mod, err := r.Instantiate(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	return &kernel{mod: mod, memory: mod.Memory()}
}

func TestKernelFunctionsAreThoseItHas(t *testing.T) {
	t.Parallel()
	has := slices.Sorted(maps.Keys(open(t, kernelWasm).mod.ExportedFunctionDefinitions()))
	if !slices.Equal(has, kernelFunctions) {
		t.Errorf("the kernel has\n%q, we know\n%q", has, kernelFunctions)
	}
}

// TestKernelLayout holds the places that are read and written in the kernel's
// memory to what its functions say.
func TestKernelLayout(t *testing.T) {
	t.Parallel()
	slim, _ := slimKernel()
	for name, wasm := range map[string][]byte{"as it came": kernelWasm, "slim": slim} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testKernelLayout(t, open(t, wasm))
		})
	}
}

func testKernelLayout(t *testing.T, k *kernel) {
	t.Helper()
	ask := func(name string, args ...uint64) uint64 {
		t.Helper()
		out, err := k.mod.ExportedFunction(name).Call(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return append(out, 0)[0]
	}
	field := func(at int) uint64 { return binary.LittleEndian.Uint64(k.state()[at:]) }
	if k.used() {
		t.Error("a new kernel is used")
	}
	if ok, err := k.setInput(t.Context(), nil); !ok || err != nil || k.used() || ask("input_length") != 0 {
		t.Error("an empty input is something")
	}
	input := []byte("some input")
	if ok, err := k.setInput(t.Context(), input); !ok || err != nil || !k.used() {
		t.Fatalf("%t, %v", ok, err)
	}
	offset := ask("input_offset")
	if text, err := k.block(t.Context(), offset); err != nil || !bytes.Equal(text, input) || ask("input_length") != uint64(len(input)) {
		t.Errorf("the input is %q at %d, %v", text, offset, err)
	}
	if offset != kernelBlocks+12 {
		t.Errorf("the first block is at %d", offset)
	}
	ask("output_set", offset+5, 5)
	if string(k.output()) != "input" || field(kernelOutputOffset) != ask("output_offset") || field(kernelOutputLength) != ask("output_length") {
		t.Errorf("the output is %q", k.output())
	}
	ask("error_set", offset)
	if text, err := k.failure(t.Context()); err != nil || !bytes.Equal(text, input) || field(kernelError) != ask("error_get") {
		t.Errorf("the error is %q, %v", text, err)
	}
	if field(kernelSize) != ask("memory_bytes") {
		t.Error("the size is elsewhere")
	}
}

func TestKernelKeepsToItsMemory(t *testing.T) {
	t.Parallel()
	slim, _ := slimKernel()
	k := open(t, slim)
	for _, size := range []uint64{1 << 33, 1 << 45, 4 << 30} {
		if offset, _, err := k.newBlock(t.Context(), size); offset != 0 || err != nil {
			t.Errorf("%d bytes are at %d, %v", size, offset, err)
		}
	}
	for _, offset := range []uint64{1 << 20, 1 << 31, 0xffff_ffff} {
		if b, err := k.block(t.Context(), offset); err == nil {
			t.Errorf("at %d are %d bytes", offset, len(b))
		}
	}
	if b, err := k.block(t.Context(), 0); err != nil || len(b) != 0 {
		t.Errorf("at 0 are %d bytes, %v", len(b), err)
	}
}
