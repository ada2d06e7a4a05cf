package stage

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/checkline"
)

// FuzzLog checks that any log can be read without a panic, and that only absolute paths are
// accepted.
func FuzzLog(f *testing.F) {
	for _, l := range []line{
		{Kind: kindStage, Path: "/a", Content: &Content{Hash: string(bytes.Repeat([]byte("ab"), 32)), Size: 3}},
		{Kind: kindBase, Path: "/a\xff", Base: &Content{Kind: changes.Link, Target: "\xff"}, Stamp: "x"},
		{Kind: kindApplying, Path: "/a", Base: &Content{Kind: changes.Dir}},
		{Kind: kindForget, Path: "/a"},
		{Kind: kindLayer, Path: "/"},
		{Kind: kindFormer, Path: "/b", Name: newName(), Content: &Content{Hash: string(bytes.Repeat([]byte("ab"), 32)), Size: 3}},
		{Kind: kindFormerApplied, Path: "/b"},
	} {
		text, err := l.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(append(text, `{"kind":"reset","sum":"0000000000000000"}`+"\n"...))
	}
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		// Lines with a sum of their own reach what lies behind it.
		summed := checkline.Seal(text)
		for _, one := range [][]byte{text, summed} {
			if l, ok := decode(one); ok && l.Kind != kindReset && !filepath.IsAbs(string(l.Path)) {
				t.Errorf("it takes %q", l.Path)
			}
		}
		dir := t.TempDir()
		for _, log := range [][]byte{text, append(summed, '\n')} {
			if err := os.WriteFile(filepath.Join(dir, changes.LogName), log, 0o600); err != nil {
				t.Fatal(err)
			}
			s := Open(dir, Options{})
			list, err := s.List(Selection{})
			if (err == nil) != (s.index.damaged == 0 && len(s.index.former) == 0) || len(list) > 0 {
				t.Errorf("%d are listed, %v", len(list), err)
			}
		}
	})
}
