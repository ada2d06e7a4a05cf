package changes_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/internal/testenv"
)

// patch returns the patch of changes to files in a directory. Texts has the contents by hash.
func patch(t *testing.T, dir string, texts map[string]string, list ...changes.Change) (string, []changes.Left) {
	t.Helper()
	for i := range list {
		list[i].Path = filepath.Join(dir, list[i].Path)
	}
	var out bytes.Buffer
	left, err := changes.Patch(t.Context(), &out, list, func(_ context.Context, _ *changes.Change, n *changes.Node) (io.ReadCloser, error) {
		text, ok := texts[n.Hash]
		if !ok {
			return nil, errors.New("it is kept nowhere")
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}, changes.PatchOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), left
}

// TestNamesAsGitWritesThem compares patches with those of git, also for names that are not UTF-8.
func TestNamesAsGitWritesThem(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // other systems do not allow such names
	git := testenv.NeedTool(t, "git")
	var low, high strings.Builder
	for c := 1; c < 256; c++ {
		switch {
		case c == '/':
		case c < 0x80:
			low.WriteByte(byte(c))
		default:
			high.WriteByte(byte(c))
		}
	}
	one := node("one\n", 0o600)
	for _, name := range []string{
		"plain", "a space", "a\ttab", "new\nline", `quo"te`, `back\slash`, "caf\u00e9", "caf\xe9", "a \xff\ty",
		" ", "tab at the end\t", "sub dir/x", "d\"/\\x", low.String(), high.String(), "\u65e5\u672c", "--- a",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("one\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		got, _ := patch(t, dir, map[string]string{one.Hash: "one\n"}, changes.Change{Path: name, After: one})
		cmd := exec.CommandContext(t.Context(), git, "diff", "--no-index", "--full-index", "--", "/dev/null", name)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		want, _ := cmd.Output() // git fails if there is a difference
		if got != string(want) {
			t.Errorf("%q: got\n%s\ngit writes\n%s", name, got, want)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		cmd = exec.CommandContext(t.Context(), git, "apply")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(got)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", name, err, out)
		}
		if text, err := os.ReadFile(path); string(text) != "one\n" {
			t.Errorf("%q: %q, %v", name, text, err)
		}
	}
}

// TestPatchKinds checks the header of each kind of change, and which changes are left out because
// git cannot represent them.
func TestPatchKinds(t *testing.T) {
	t.Parallel()
	one, two := node("one\n", 0o644), node("two\n", 0o644)
	script, private := node("one\n", 0o755), node("one\n", 0o600)
	texts := map[string]string{one.Hash: "one\n", two.Hash: "two\n"}
	link, folder := &changes.Node{Kind: changes.Link, Target: "to"}, &changes.Node{Kind: changes.Dir, Mode: 0o755}
	for name, c := range map[string]struct {
		list []changes.Change
		want string // the lines, without the content
		left string
	}{
		"mode":              {[]changes.Change{{Path: "a", Before: one, After: script}}, "diff --git a/a b/a|old mode 100644|new mode 100755", ""},
		"mode and content":  {[]changes.Change{{Path: "a", Before: two, After: script}}, "diff --git a/a b/a|old mode 100644|new mode 100755|index|--- a/a|+++ b/a", ""},
		"mode, not git's":   {[]changes.Change{{Path: "a", Before: one, After: private}}, "", "a: its permission bits become 0600, which git does not know"},
		"both":              {[]changes.Change{{Path: "a", Before: two, After: private}}, "diff --git a/a b/a|index|--- a/a|+++ b/a", "a: its permission bits become 0600, which git does not know"},
		"link":              {[]changes.Change{{Path: "l", After: link}}, "diff --git a/l b/l|new file mode 120000|index|--- /dev/null|+++ b/l", ""},
		"link gone":         {[]changes.Change{{Path: "l", Before: link}}, "diff --git a/l b/l|deleted file mode 120000|index|--- a/l|+++ /dev/null", ""},
		"file to link":      {[]changes.Change{{Path: "l", Before: one, After: link}}, "diff --git a/l b/l|deleted file mode 100644|index|--- a/l|+++ /dev/null|diff --git a/l b/l|new file mode 120000|index|--- /dev/null|+++ b/l", ""},
		"renamed":           {changes.Renames([]changes.Change{{Path: "a", Before: one}, {Path: "b", After: one}}), "diff --git a/a b/b|similarity index 100%|rename from a|rename to b", ""},
		"renamed, its mode": {changes.Renames([]changes.Change{{Path: "a b", Before: one}, {Path: "b", After: script}}), "diff --git a/a b b/b|old mode 100644|new mode 100755|similarity index 100%|rename from a b|rename to b", ""},
		"directory":         {[]changes.Change{{Path: "d", After: folder}, {Path: "d/a", After: one}}, "diff --git a/d/a b/d/a|new file mode 100644|index|--- /dev/null|+++ b/d/a", ""},
		"empty directory":   {[]changes.Change{{Path: "d", After: folder}, {Path: "d.a", After: one}}, "diff --git a/d.a b/d.a|new file mode 100644|index|--- /dev/null|+++ b/d.a", "d: it is an empty directory, which git does not know"},
		"socket":            {[]changes.Change{{Path: "s", After: &changes.Node{Kind: changes.Other, What: "a socket"}}}, "", "s: it is nothing, and becomes a socket"},
		"elsewhere":         {[]changes.Change{{Path: "../s", After: one}}, "", "../s: it lies outside of %"},
		"kept nowhere":      {[]changes.Change{{Path: "s", Before: node("three", 0), After: one}}, "", "s: it is kept nowhere"},
		"too large":         {[]changes.Change{{Path: "s", After: &changes.Node{Hash: one.Hash, Size: changes.MaxPatched + 1}}}, "", "s: it is over 64 MiB"},
		"as it was":         {[]changes.Change{{Path: "s", Before: one, After: one}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i := range c.list {
				if c.list[i].From != "" {
					c.list[i].From = filepath.Join(dir, c.list[i].From)
				}
			}
			text, left := patch(t, dir, texts, c.list...)
			var heads []string
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "index ") {
					line = "index"
				}
				if !strings.ContainsRune("+- @\\", rune(line[0])) || strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ") {
					heads = append(heads, line)
				}
			}
			if got := strings.Join(heads, "|"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			var why []string
			for _, l := range left {
				rel, _ := filepath.Rel(dir, l.Path)
				why = append(why, rel+": "+strings.ReplaceAll(l.Why, dir, "%"))
			}
			if got := strings.Join(why, "|"); got != c.left {
				t.Errorf("left out: %s, want %s", got, c.left)
			}
		})
	}
}
