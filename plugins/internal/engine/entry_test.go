package engine

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// TestEntryLayout holds nativeCode to what wazero writes: behind the code is its
// checksum. If this fails after wazero was updated, its serializeCompiledModule has
// changed.
func TestEntryLayout(t *testing.T) {
	for _, wasm := range [][]byte{fixture(t, "state_3"), large(mib, nil)} {
		dir := t.TempDir()
		if err := CompileInto(t.Context(), dir, wasm); err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil || len(left) != 1 {
			t.Fatalf("%q, %v", left, err)
		}
		entry, err := os.ReadFile(left[0])
		if err != nil {
			t.Fatal(err)
		}
		from, to := nativeCode(bytes.NewReader(entry), int64(len(entry)))
		if from == 0 || to == from || binary.LittleEndian.Uint32(entry[to:]) != crc32.Checksum(entry[from:to], castagnoli) {
			t.Errorf("of %d bytes, the code is not the ones from %d to %d", len(entry), from, to)
		}
		sum := entrySum(t, entry)
		for _, at := range []int64{0, 8, from - 1, to, int64(len(entry)) - 1} {
			damaged := bytes.Clone(entry)
			damaged[at] ^= 1
			if entrySum(t, damaged) == sum {
				t.Errorf("a damage at %d of %d is not seen", at, len(entry))
			}
		}
	}
}

func entrySum(t *testing.T, entry []byte) uint32 {
	t.Helper()
	sum, err := checksum(bytes.NewReader(entry), int64(len(entry)))
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// FuzzNativeCode: whatever an entry says, the code is in it, with room for its
// checksum.
func FuzzNativeCode(f *testing.F) {
	entry := append([]byte(entryMagic), 1, '1', 1, 0, 0, 0)
	entry = binary.LittleEndian.AppendUint64(entry, 0)
	f.Add(append(binary.LittleEndian.AppendUint64(entry, 100), make([]byte, 300)...))
	f.Add(append(binary.LittleEndian.AppendUint64(entry, 1<<63), make([]byte, 300)...))
	f.Add(make([]byte, 300))
	f.Fuzz(func(t *testing.T, entry []byte) {
		from, to := nativeCode(bytes.NewReader(entry), int64(len(entry)))
		if from < 0 || to < from || to != 0 && to+4 > int64(len(entry)) {
			t.Errorf("the code of %d bytes is from %d to %d", len(entry), from, to)
		}
	})
}
