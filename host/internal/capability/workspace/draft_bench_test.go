package workspace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What a draft costs, next to the bare calls that any atomic write needs.
func BenchmarkDraft(b *testing.B) {
	for _, size := range []int{2 << 10, 1 << 20} {
		content := bytes.Repeat([]byte("0123456789abcde\n"), size/16)
		dir := b.TempDir()
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			b.Fatal(err)
		}
		run := func(name string, do func() error) {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("write+fsync+rename", func() error { return plainReplace(path, content) })
		run("draft", func() error { return draftReplace(dir, content) })
	}
}

// plainReplace replaces a file as a program without care does: nothing is checked and
// nothing kept, and the directory is not written out.
func plainReplace(path string, content []byte) error {
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func draftReplace(dir string, content []byte) error {
	n, err := Resolve(dir, "f")
	if err != nil {
		return err
	}
	defer func() { _ = n.Close() }()
	d, err := n.Draft()
	if err != nil {
		return err
	}
	defer func() { _ = d.Discard() }()
	if _, err := d.Write(content); err != nil {
		return err
	}
	_, err = d.Commit(n.Info)
	return err
}
