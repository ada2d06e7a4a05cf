package discovery

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// writtenAgain reads an index and writes it again.
func writtenAgain(content []byte, dir string) ([]byte, error) {
	findings, err := DecodeIndex(content, dir)
	if err != nil {
		return nil, err
	}
	pointers := make([]*Finding, len(findings))
	for i := range findings {
		pointers[i] = &findings[i]
	}
	return EncodeIndex(pointers, dir), nil
}

// TestIndexOfAnotherVersion has an update of the program pass without a warning.
func TestIndexOfAnotherVersion(t *testing.T) {
	t.Parallel()
	other := indexWriter(indexFormat)
	other.text("go1.0 v0.1.0")
	other.text("/plugins")
	other.number(0)
	for name, index := range map[string]struct {
		content []byte
		warns   bool
	}{
		"of another program": {binary.LittleEndian.AppendUint32(other, crc32.Checksum(other, castagnoli)), false},
		"of another format":  {[]byte("toolquay plugins 1\nand more"), false},
		"cut off":            {other, true},
		"of something else":  {[]byte("something else"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said bytes.Buffer
			x := OpenIndexes(filepath.Join(t.TempDir(), "cache"), slog.New(slog.NewTextHandler(&said, nil)))
			if err := os.WriteFile(x.file("/plugins"), index.content, 0o600); err != nil {
				t.Fatal(err)
			}
			if found := x.Read("/plugins"); found != nil || said.Len() > 0 != index.warns {
				t.Errorf("%v, and the log has %q", found, &said)
			}
			if _, err := os.Stat(x.file("/plugins")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it was not deleted: %v", err)
			}
		})
	}
}

func FuzzIndex(f *testing.F) {
	m := &abi.Manifest{
		Name: "one", Config: []abi.ConfigKey{{Name: "k"}}, Tools: []abi.Tool{{Name: "Show"}, {Name: "List"}},
		Capabilities: []abi.CapabilityClaim{{Name: "fs.read", Reason: "to show files"}},
	}
	good := EncodeIndex([]*Finding{{
		Entry: "one", Completed: true, ManifestAt: Stamp{Size: 1, Modified: -2, Changed: 3}, Summary: Summarise(m, "one.wasm"),
	}}, "/plugins")
	f.Add(good)
	f.Add([]byte{})
	again, err := writtenAgain(good, "/plugins")
	if err != nil || !bytes.Equal(again, good) {
		f.Fatalf("read and written again it is\n%q, %v, not\n%q", again, err, good)
	}
	if _, err := DecodeIndex(good, "/elsewhere"); err == nil {
		f.Fatal("the index of another directory is taken")
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if again, err := writtenAgain(b, "/plugins"); err == nil {
			if _, err := DecodeIndex(again, "/plugins"); err != nil {
				t.Errorf("%q is taken, but not as it is written again: %v", b, err)
			}
		}
		r := indexReader{rest: string(b)} // the checksum keeps the fuzzer out otherwise
		for n := r.count(); n > 0 && !r.broken; n-- {
			r.finding(new(Finding))
		}
	})
}
