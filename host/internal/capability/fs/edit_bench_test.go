package fs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// megabyte is 1 MB of lines, of which one, in the middle, has the text "needle".
func megabyte() []byte {
	line := []byte("\tif err := something(ctx, value); err != nil { // and so on\n")
	text := bytes.Repeat(line, 1_000_000/len(line))
	copy(text[len(text)/2:], "needle")
	return text
}

// BenchmarkReplace1MB replaces a word in a file of 1 MB that was read whole, fsync and
// all.
func BenchmarkReplace1MB(b *testing.B) {
	dir := realDir(b)
	path, know := write(b, dir, "f", string(megabyte())), knowledge{}
	know.see(b, path)
	scope := capability.Scope{Cwd: dir, Files: know}
	words := []string{"needle", "NEEDLE"}
	for i := 0; b.Loop(); i++ {
		if _, err := edit(b, scope, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, words[i%2], words[(i+1)%2]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRehearse1MB is the same without writing it.
func BenchmarkRehearse1MB(b *testing.B) {
	dir := realDir(b)
	path, know := write(b, dir, "f", string(megabyte())), knowledge{}
	know.see(b, path)
	scope := capability.Scope{Cwd: dir, Files: know, Rehearse: true}
	for b.Loop() {
		if _, err := edit(b, scope, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, "needle", "NEEDLE"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite1MB writes a file of 1 MB anew, of which one line changes.
func BenchmarkWrite1MB(b *testing.B) {
	dir := realDir(b)
	text := string(megabyte())
	path, know := write(b, dir, "f", text), knowledge{}
	know.see(b, path)
	scope := capability.Scope{Cwd: dir, Files: know}
	texts := []string{text + "one more line\n", text}
	for i := 0; b.Loop(); i++ {
		if _, err := edit(b, scope, abi.CapFSWrite, abi.WriteArgs{Path: "f"}, texts[i%2]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBaseline1MB is the least that writing 1 MB for good takes.
func BenchmarkBaseline1MB(b *testing.B) {
	dir, text := realDir(b), megabyte()
	for b.Loop() {
		f, err := os.Create(filepath.Join(dir, "new"))
		if err != nil {
			b.Fatal(err)
		}
		if _, err = f.Write(text); err == nil {
			err = f.Sync()
		}
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "f")); err != nil {
			b.Fatal(err)
		}
	}
}
