package filestate

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// TestReadsAreForgotten keeps the files that are watched few.
func TestReadsAreForgotten(t *testing.T) {
	t.Parallel()
	s := &Files{}
	dir := t.TempDir()
	var first string
	for i := range maxFiles + 1 {
		path := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = path
		}
		s.Note(path, &abi.ReadOK{Path: path, ModTime: info.ModTime().UnixMilli()})
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	if got := s.outdated(); len(got) > 0 {
		t.Errorf("the oldest is watched still: %v", got)
	}
	if err := os.Remove(filepath.Join(dir, strconv.Itoa(maxFiles))); err != nil {
		t.Fatal(err)
	}
	if got := s.outdated(); len(got) != 1 || got[0] != filepath.Join(dir, strconv.Itoa(maxFiles)) {
		t.Errorf("the newest: %v", got)
	}
}

// TestReadThatChangedMeanwhile notes a file that is not what was read of it.
func TestReadThatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("more"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, read := range map[string]abi.ReadOK{
		"its size": {Path: path, Size: 3, ModTime: info.ModTime().UnixMilli()},
		"its time": {Path: path, Size: 4, ModTime: info.ModTime().UnixMilli() - 1},
	} {
		s := &Files{}
		s.Note(path, &read)
		for i, want := range []int{1, 0} {
			if got := s.outdated(); len(got) != want {
				t.Errorf("%s, asked %d: %v", what, i, got)
			}
		}
	}
}
