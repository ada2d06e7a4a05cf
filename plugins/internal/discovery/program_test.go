package discovery

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestProgramsFileIsKnown: this test is a program, and its files are described by its
// own file.
func TestProgramsFileIsKnown(t *testing.T) {
	testenv.Permitted(t, testenv.Unix)
	own, ok := Executable()
	if !ok {
		t.Fatal("this system does not tell of it")
	}
	s := Place{Origin: OriginBuiltin, Path: "box", Program: own, FS: own.Files(fstest.MapFS{"boxed/boxed.wasm": {Data: []byte("module")}})}
	info, err := fs.Stat(s.FS, "boxed/boxed.wasm")
	if err != nil {
		t.Fatal(err)
	}
	if stampOf(info) != own.Stamp || own.Stamp.Changed == 0 || info.Size() != int64(len("module")) {
		t.Errorf("the program is %+v, a file in it %+v of %d bytes", own, stampOf(info), info.Size())
	}
	if names, err := s.Entries(); err != nil || strings.Join(names, " ") != "boxed" {
		t.Errorf("it holds %q, %v", names, err)
	}
}
