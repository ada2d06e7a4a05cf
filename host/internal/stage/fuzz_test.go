package stage

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/internal/checkline"
)

// FuzzLog reads any log without failing, and takes only names that lie in the stage.
func FuzzLog(f *testing.F) {
	good := line{Kind: kindStage, Path: "/a", Name: newName(), Content: &Content{Hash: string(bytes.Repeat([]byte("ab"), 32)), Size: 3}}
	text, err := good.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(append(text, `{"kind":"reset","sum":"0000000000000000"}`+"\n"...))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		// Lines with a sum of their own reach what lies behind it.
		summed := checkline.Seal(text)
		for _, one := range [][]byte{text, summed} {
			if l, ok := decode(one); ok && l.Kind == kindStage && (filepath.Base(l.Name) != l.Name || !filepath.IsAbs(l.Path)) {
				t.Errorf("it takes %q for %q", l.Name, l.Path)
			}
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, logName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := Open(dir, Options{})
		list, err := s.List(Selection{})
		if (err == nil) != (s.index.damaged == 0) || err == nil && len(list) != len(s.index.entries) {
			t.Errorf("%d are listed of %d, %v", len(list), len(s.index.entries), err)
		}
	})
}
