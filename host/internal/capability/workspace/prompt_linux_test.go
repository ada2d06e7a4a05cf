//go:build linux && (amd64 || arm64)

package workspace

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// TestPrompt opens all kinds of entries with and without waiting: there is one answer.
func TestPrompt(t *testing.T) {
	t.Parallel()
	root, text := t.TempDir(), strings.Repeat("some text\n", 50_000)
	long := strings.Repeat("n", maxName)
	for name, content := range map[string]string{"file": text, "empty": "", long: "long"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	makeOdd(t, root)
	dir := openRoot(t, root)
	for _, name := range []string{"file", "empty", long, "dir", "link", "fifo", "missing", "file\x00", long + "n", "dir/inner"} {
		var got [2]string
		for i, prompt := range []bool{false, true} {
			dir.prompt = prompt
			got[i] = openedAs(t, dir, name)
		}
		if got[0] != got[1] {
			t.Errorf("%.20q: %.60q, and without waiting %.60q", name, got[0], got[1])
		}
	}
	for _, prompt := range []bool{false, true} {
		dir.prompt = prompt
		if fd, _, err := dir.open("file\x00", openFile); fd != -1 || err == nil {
			t.Errorf("a name that there cannot be is descriptor %d, %v", fd, err)
		}
	}
}

// TestPromptFails: what cannot be opened without waiting is opened all the same.
func TestPromptFails(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := openRoot(t, root)
	dir.prompt = true
	if fd, _, ok := dir.openPrompt("missing"); ok || fd != -1 {
		t.Errorf("what is missing was opened: %d", fd)
	}
	// Nothing of this is in the kernel's cache by name.
	if err := os.WriteFile(filepath.Join(root, "dir", "new"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	sub, err := dir.OpenDir("dir")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if got := openedAs(t, sub, "new"); got != "file: x" {
		t.Error(got)
	}
}

func makeOdd(t *testing.T, root string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, "dir", "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func openRoot(t *testing.T, root string) *Dir {
	t.Helper()
	n, err := Resolve(root, root)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := n.OpenDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = dir.Close()
		_ = n.Close()
	})
	return dir
}

// openedAs tells what an entry is when it is opened as a file and as a directory.
func openedAs(t *testing.T, dir *Dir, name string) string {
	t.Helper()
	var out strings.Builder
	f, _, err := dir.OpenFile(name)
	if err == nil {
		text, err := io.ReadAll(f)
		if err != nil || f.Close() != nil {
			t.Error(name, err)
		}
		return "file: " + string(text)
	}
	out.WriteString("no file: " + string(abi.CodeOf(err)))
	sub, err := dir.OpenDir(name)
	if err == nil {
		out.WriteString(", a directory: " + sub.real)
		if err := sub.Close(); err != nil {
			t.Error(name, err)
		}
	} else {
		out.WriteString(", no directory: " + string(abi.CodeOf(err)))
	}
	return out.String()
}
