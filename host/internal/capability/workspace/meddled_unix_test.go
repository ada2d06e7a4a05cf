//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/abi"
)

// meddler writes a name at the moments when a draft is about to exchange it.
type meddler struct {
	deeds map[int]func(root string) error // by the number of the exchange
}

func (m meddler) calls(t *testing.T, root string) calls {
	t.Helper()
	c, count := system, 0
	c.exchange = func(dir int, a, b string) error {
		count++
		deed, ok := m.deeds[count]
		if !ok {
			deed = m.deeds[0] // each time
		}
		if deed != nil {
			if err := deed(root); err != nil {
				t.Error(err)
			}
		}
		return system.exchange(dir, a, b)
	}
	return c
}

// theirs replaces the file by a new one, as an editor does.
func theirs(text string) func(string) error {
	return func(root string) error {
		tmp := filepath.Join(root, "theirs")
		if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
			return err
		}
		return os.Rename(tmp, filepath.Join(root, "f"))
	}
}

// Nothing that somebody else writes while names are exchanged is deleted by it.
func TestDraftMeddled(t *testing.T) {
	t.Parallel()
	needExchange(t)
	remove := func(root string) error { return os.Remove(filepath.Join(root, "f")) }
	inPlace := func(root string) error { return os.WriteFile(filepath.Join(root, "f"), []byte("in place"), 0o600) }
	directory := func(root string) error { _ = remove(root); return os.Mkdir(filepath.Join(root, "f"), 0o700) }
	type deeds = map[int]func(string) error
	for name, c := range map[string]struct {
		deeds deeds
		holds string   // what the name must lead to in the end
		kept  []string // what must be left under other names
	}{
		"replaced before":                {deeds{1: theirs("one")}, "one", nil},
		"written in place before":        {deeds{1: inPlace}, "in place", nil},
		"removed before":                 {deeds{1: remove}, "open $: no such file or directory", nil},
		"a directory before":             {deeds{1: directory}, "read $: is a directory", nil},
		"replaced twice":                 {deeds{1: theirs("one"), 2: theirs("two")}, "two", []string{"one"}},
		"replaced, the new one written":  {deeds{1: theirs("one"), 2: inPlace}, "in place", []string{"one"}},
		"replaced, the new one removed":  {deeds{1: theirs("one"), 2: remove}, "one", nil},
		"replaced three times":           {deeds{1: theirs("one"), 2: theirs("two"), 3: theirs("three")}, "three", []string{"two"}},
		"replaced each time, for ever":   {deeds{0: theirs("again")}, "again", []string{"again"}},
		"a directory, and then replaced": {deeds{1: directory, 2: theirs("two")}, "two", []string{"read $: is a directory"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "f")
			_, err := putWith(resolve(t, root, "f"), meddler{c.deeds}.calls(t, root), "content")
			if abi.CodeOf(err) != abi.CodeChanged {
				t.Errorf("Commit: %v", err)
			}
			path := filepath.Join(root, "f")
			if got := strings.ReplaceAll(text(path), path, "$"); got != c.holds {
				t.Errorf("it holds %q, want %q", got, c.holds)
			}
			var kept []string
			for _, left := range litter(t, root) {
				kept = append(kept, strings.ReplaceAll(text(left), left, "$"))
				if !strings.Contains(err.Error(), left) {
					t.Errorf("%v does not name %s", err, left)
				}
			}
			if !slices.Equal(kept, c.kept) {
				t.Errorf("kept are %q, want %q", kept, c.kept)
			}
		})
	}
}

// A new file that somebody wrote to is not taken away, though it is not safe yet.
func TestDraftNewFileWrittenTo(t *testing.T) {
	t.Parallel()
	root := tree(t)
	c := system
	c.syncDir = func(int) error {
		if err := os.WriteFile(filepath.Join(root, "new"), []byte("theirs"), 0o600); err != nil {
			t.Error(err)
		}
		return unix.EIO
	}
	_, err := putWith(resolve(t, root, "new"), c, "content")
	if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "may be lost") {
		t.Error(err)
	}
	if got := text(filepath.Join(root, "new")); got != "theirs" {
		t.Errorf("it holds %q", got)
	}
	clean(t, root)
}

// Times that are put back do not hide that a file was written.
func TestDraftSeesTimesPutBack(t *testing.T) {
	t.Parallel()
	root := tree(t, "f")
	path := filepath.Join(root, "f")
	n := resolve(t, root, "f")
	if err := os.WriteFile(path, []byte("g"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, n.Info.ModTime, n.Info.ModTime); err != nil {
		t.Fatal(err)
	}
	if _, err := put(n, "content"); abi.CodeOf(err) != abi.CodeChanged {
		t.Error(err)
	}
	if got := text(path); got != "g" {
		t.Errorf("it holds %q", got)
	}
}

// What is not there any more is told before anything is made.
func TestDraftOfWhatIsGone(t *testing.T) {
	t.Parallel()
	root := tree(t, "f", "other")
	n := resolve(t, root, "f")
	if err := theirs("theirs")(root); err != nil {
		t.Fatal(err)
	}
	d, err := n.Draft()
	if err == nil {
		_ = d.Discard()
	}
	if abi.CodeOf(err) != abi.CodeChanged {
		t.Error(err)
	}
}
