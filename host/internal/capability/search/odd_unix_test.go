//go:build unix

package search

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// What a tree may hold besides files: a FIFO, odd names, a directory that is
// shut, one too deep.
func TestOddTrees(t *testing.T) {
	t.Parallel()
	root := tree(t, "a\nb", "needle", "shut/f", "needle", "deep/"+strings.Repeat("d/", maxDepth+2), "")
	if err := os.WriteFile(filepath.Join(root, "bad\xff"), []byte("needle"), 0o600); err != nil {
		t.Log("names must be UTF-8 here: ", err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	shut := filepath.Join(root, "shut")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(shut, 0o700) })
	ok, body, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "needle", Mode: abi.ModeCount}, all)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := ok.(abi.ContentsOK)
	unreadable := 2 // shut, and what is too deep
	if os.Geteuid() == 0 {
		unreadable = 1
	}
	if !strings.Contains(body, "a\nb:1\n") || got.Unreadable != unreadable || strings.Contains(body, "fifo") {
		t.Errorf("%q %+v", body, got)
	}
	if _, err := os.Lstat(filepath.Join(root, "bad\xff")); err == nil && !strings.Contains(body, "bad\uFFFD:1\n") {
		t.Errorf("%q", body)
	}
	if _, _, err := call(t, root, abi.CapSearchContents, abi.ContentsArgs{Pattern: "x", Path: "fifo"}, all); abi.CodeOf(err) != abi.CodeNotRegular {
		t.Error(err)
	}
}
