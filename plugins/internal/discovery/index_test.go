package discovery

import (
	"bytes"
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
