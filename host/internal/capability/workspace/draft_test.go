package workspace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// resolve is Resolve for a path that must be one.
func resolve(t *testing.T, cwd, path string) *Node {
	t.Helper()
	n, err := Resolve(cwd, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// put writes a file through a draft.
func put(n *Node, text string) (Info, error) {
	d, err := n.Draft()
	if err != nil {
		return Info{}, err
	}
	if _, err := io.WriteString(d, text); err != nil {
		return Info{}, errors.Join(err, d.Discard())
	}
	return d.Commit(n.Info)
}

// text is the content of a file, or why there is none.
func text(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// litter are the files below a directory that drafts left behind.
func litter(t *testing.T, root string) []string {
	t.Helper()
	var left []string
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), tempPrefix) {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

func clean(t *testing.T, root string) {
	t.Helper()
	if left := litter(t, root); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestDraft(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 127)
	for name, c := range map[string]struct {
		path string
		real string
	}{
		"over a file":              {"f", "f"},
		"new":                      {"new", "new"},
		"in a directory":           {"d/f", "d/f"},
		"new, two directories up":  {"d/x/y/new", "d/x/y/new"},
		"over a link":              {"link", "d/f"},
		"behind a linked folder":   {"dirlink/f", "d/f"},
		"new behind one":           {"dirlink/x/new", "d/x/new"},
		"where a dangling link is": {"dangling", "nowhere/x"},
		"up and down":              {"d/../f", "f"},
		"the longest name":         {"d/" + long, "d/" + long},
		"odd name":                 {"d/a\nb\xff", "d/a\nb\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "f", "d/f", "link -> d/f", "dirlink -> d", "dangling -> nowhere/x")
			n := resolve(t, root, c.path)
			info, err := put(n, "content")
			if err != nil {
				t.Fatal(err)
			}
			if got := text(filepath.Join(root, c.real)); got != "content" {
				t.Errorf("%s holds %q", c.real, got)
			}
			now := resolve(t, root, c.path)
			if now.Real != n.Real || !now.Info.still(info) || !now.Info.ChangeTime.Equal(info.ChangeTime) {
				t.Errorf("Commit tells %+v, the file is %+v", info, now.Info)
			}
			clean(t, root)
		})
	}
}

func TestDraftRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		code abi.Code
	}{
		"directory":             {"d", abi.CodeIsDirectory},
		"slash behind a file":   {"f/", abi.CodeNotDirectory},
		"new with a slash":      {"new/", abi.CodeIsDirectory},
		"new with a dot":        {"new/.", abi.CodeIsDirectory},
		"link with a slash":     {"slashed", abi.CodeIsDirectory},
		"file as directory":     {"f/x", abi.CodeNotDirectory},
		"deep below a file":     {"f/x/y", abi.CodeNotDirectory},
		"missing, then up":      {"x/../f", abi.CodeNotFound},
		"missing, then up, new": {"x/../new", abi.CodeNotFound},
		"loop":                  {"self", abi.CodeIO},
		"name too long":         {strings.Repeat("n", 300), abi.CodeInvalidInput},
		"directory too long":    {strings.Repeat("n", 300) + "/f", abi.CodeInvalidInput},
		"below what is missing": {"new/" + strings.Repeat("n", 300), abi.CodeInvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "f", "d/", "self -> self", "slashed -> nowhere/")
			d, err := resolve(t, root, c.path).Draft()
			if err == nil {
				_ = d.Discard()
			}
			if abi.CodeOf(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			if _, err := os.Lstat(filepath.Join(root, "new")); err == nil {
				t.Error("something was made")
			}
		})
	}
}

func TestDraftDiscard(t *testing.T) {
	t.Parallel()
	root := tree(t, "f", "d/")
	for _, path := range []string{"f", "new", "d/x/y/new"} {
		d, err := resolve(t, root, path).Draft()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(d, "content"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(d.Discard(), d.Discard()); err != nil {
			t.Error(err)
		}
		if _, err := d.Write([]byte("x")); err == nil {
			t.Error("written after the end")
		}
		if _, err := d.Commit(Info{}); err == nil {
			t.Error("committed after the end")
		}
	}
	if got := text(filepath.Join(root, "f")); got != "f" {
		t.Errorf("f holds %q", got)
	}
	entries, err := os.ReadDir(filepath.Join(root, "d"))
	if err != nil || len(entries) > 0 {
		t.Errorf("%v is left in d, %v", entries, err)
	}
	clean(t, root)
}

// A directory that was made is not taken away from somebody who uses it by now.
func TestDraftDiscardLeavesOthers(t *testing.T) {
	t.Parallel()
	root := tree(t)
	d, err := resolve(t, root, "x/y/z/new").Draft()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "x/y/theirs"), []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Discard(); err != nil {
		t.Error(err)
	}
	if got := text(filepath.Join(root, "x/y/theirs")); got != "theirs" {
		t.Error(got)
	}
	if _, err := os.Lstat(filepath.Join(root, "x/y/z")); err == nil {
		t.Error("the directory that was made is still there")
	}
}

func TestDraftReadsBack(t *testing.T) {
	t.Parallel()
	root := tree(t, "f")
	n := resolve(t, root, "f")
	d, err := n.Draft()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Discard()
	whole := bytes.Repeat([]byte("0123456789"), 1000)
	for part := range bytes.SplitSeq(whole, []byte("5")) {
		if n, err := d.Write(append(part, '5')); n != len(part)+1 || err != nil {
			t.Fatal(n, err)
		}
	}
	got, err := io.ReadAll(io.NewSectionReader(d, 10, 5000))
	if err != nil || !bytes.Equal(got, whole[10:5010]) {
		t.Errorf("%d bytes read back, %v", len(got), err)
	}
	buf := make([]byte, 10)
	if n, err := d.ReadAt(buf, int64(len(whole))-4); n != 5 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if got := text(filepath.Join(root, "f")); got != "f" {
		t.Errorf("seen before Commit: %q", got)
	}
}

// What somebody else does between the draft and Commit is seen, and stays.
func TestDraftChanged(t *testing.T) {
	t.Parallel()
	rename := func(from, to string) func(string) error {
		return func(root string) error { return os.Rename(filepath.Join(root, from), filepath.Join(root, to)) }
	}
	write := func(name, text string) func(string) error {
		return func(root string) error { return os.WriteFile(filepath.Join(root, name), []byte(text), 0o600) }
	}
	for name, c := range map[string]struct {
		path string
		deed func(root string) error
		kept string // a file that must hold text
		text string
	}{
		"written":             {"d/f", write("d/f", "longer"), "d/f", "longer"},
		"replaced":            {"d/f", rename("other", "d/f"), "d/f", "other"},
		"taken away":          {"d/f", rename("d/f", "d/g"), "d/g", "d/f"},
		"made":                {"d/new", write("d/new", "theirs"), "d/new", "theirs"},
		"a directory by now":  {"d/new", func(root string) error { return os.Mkdir(filepath.Join(root, "d/new"), 0o700) }, "d/f", "d/f"},
		"a link by now":       {"d/new", func(root string) error { return os.Symlink("../other", filepath.Join(root, "d/new")) }, "other", "other"},
		"a dangling link":     {"d/new", func(root string) error { return os.Symlink("nothing", filepath.Join(root, "d/new")) }, "d/f", "d/f"},
		"its folder renamed":  {"d/f", rename("d", "e"), "e/f", "d/f"},
		"its folder replaced": {"d/f", func(root string) error { return errors.Join(rename("d", "e")(root), rename("twin", "d")(root)) }, "d/f", "twin/f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(name, "folder") || strings.Contains(name, "link") {
				testenv.Permitted(t, testenv.Unix) // Windows renames no open folder
			}
			root := tree(t, "d/f", "other", "twin/f")
			n := resolve(t, root, c.path)
			d, err := n.Draft()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(d, "content"); err != nil {
				t.Fatal(err)
			}
			if err := c.deed(root); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Commit(n.Info); abi.CodeOf(err) != abi.CodeChanged {
				t.Errorf("Commit: %v", err)
			}
			if got := text(filepath.Join(root, c.kept)); got != c.text {
				t.Errorf("%s holds %q", c.kept, got)
			}
			clean(t, root)
		})
	}
}

func TestTempName(t *testing.T) {
	t.Parallel()
	for base, end := range map[string]string{
		"main.go":                              "-main.go",
		strings.Repeat("n", 255):               "-" + strings.Repeat("n", tempBase),
		"x" + strings.Repeat("ü", 127):         "-x" + strings.Repeat("ü", 63),
		strings.Repeat("\x80", 255):            "-" + strings.Repeat("\x80", tempBase-4),
		"x" + strings.Repeat("\U0001F600", 60): "-x" + strings.Repeat("\U0001F600", 31),
	} {
		got := tempName(base)
		if !strings.HasPrefix(got, tempPrefix) || !strings.HasSuffix(got, end) || len(got) != len(tempPrefix)+26+len(end) {
			t.Errorf("%q for %q", got, base)
		}
	}
}
