package clients

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// FuzzFiles has the laws that hold for files of any layout: what is changed parses and is changed
// once, and what install adds uninstall finds.
func FuzzFiles(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(strings.SplitN(filepath.Base(path), "_", 2)[0], file.Data)
		}
	}
	f.Add("goose", []byte("!"))
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		client, err := Find(name)
		if err != nil || client.Bundled() {
			return
		}
		_, err = client.take(bytes.Clone(body), example.Name)
		after, err2 := client.put(bytes.Clone(body), example)
		if err != nil || err2 != nil {
			return
		}
		if again, err := client.put(bytes.Clone(after), example); err != nil || !bytes.Equal(again, after) {
			t.Errorf("%q becomes %q, and again %q, %v", body, after, again, err)
		}
		gone, err := client.take(bytes.Clone(after), example.Name)
		if err != nil {
			return // it says so, as for tables of the person's inside of the entry
		}
		if again, err := client.take(bytes.Clone(gone), example.Name); err != nil || !bytes.Equal(again, gone) {
			t.Errorf("%q leaves %q, and again %q, %v", after, gone, again, err)
		}
	})
}
