package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/internal/manifest"
)

func FuzzSection(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("..", "..", "direct", "testdata", "*.wasm"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no modules: %v", err)
	}
	for _, file := range files {
		module, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(module, abi.SectionTools, []byte(`{"name":"Show"}`))
	}
	f.Fuzz(func(t *testing.T, module []byte, name string, data []byte) {
		_, readErr := manifest.Section(module, name)
		packed, err := manifest.AppendSection(module, name, data)
		if (readErr == nil) != (err == nil) {
			t.Fatalf("reading says %v, packing %v", readErr, err)
		}
		if err != nil {
			return
		}
		got, err := manifest.Section(packed, name)
		if strings.ToValidUTF8(name, "") != name {
			if err == nil {
				t.Fatal("a name that is not UTF-8 is taken")
			}
			return
		}
		if err != nil || string(got) != string(data) {
			t.Fatalf("packed %q, found %q, %v", data, got, err)
		}
		again, err := manifest.AppendSection(packed, name, data)
		if err != nil || string(again) != string(packed) {
			t.Fatalf("packing twice gives other bytes: %v", err)
		}
	})
}
