package fs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file      string
		old, text string // of a replacement; without old, of a write
		want      string
	}{
		"a word": {
			"a\nb\nc\nd\ne\nf\ng\nh\ni\n", "e", "E",
			"@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n",
		},
		"a line put in":               {"a\nb\n", "a\n", "a\nx\n", "@@ -1,2 +1,3 @@\n a\n+x\n b\n"},
		"a line put in behind a word": {"a\nb\n", "a", "a\nx", "@@ -1,2 +1,3 @@\n a\n+x\n b\n"},
		"a line taken out":            {"a\nb\nc\n", "b\n", "", "@@ -1,3 +1,2 @@\n a\n-b\n c\n"},
		"no ending before":            {"a\nb", "b", "b\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		"no ending after":             {"a\nb\n", "b\n", "b", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"},
		"no ending at all":            {"a\nb", "a", "A", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"},
		"emptied":                     {"a\n", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		"twice in a line":             {"a a\n", "a", "b", "@@ -1 +1 @@\n-a a\n+b b\n"},
		"two hunks": {
			"x\n1\n2\n3\n4\n5\n6\n7\nx\n", "x", "y",
			"@@ -1,4 +1,4 @@\n-x\n+y\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-x\n+y\n",
		},
		"one hunk": {
			"x\n1\n2\n3\n4\n5\n6\nx\n", "x", "y",
			"@@ -1,8 +1,8 @@\n-x\n+y\n 1\n 2\n 3\n 4\n 5\n 6\n-x\n+y\n",
		},
		"CRLF":     {"a\r\nb\r\n", "b", "c", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"},
		"write":    {"a\nb\nc\nd\ne\n", "", "a\nb\nX\nd\ne\n", "@@ -1,5 +1,5 @@\n a\n b\n-c\n+X\n d\n e\n"},
		"UTF-16":   {"\xff\xfea\x00\n\x00b\x00", "b", "é", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+é\n\\ No newline at end of file\n"},
		"no UTF-8": {"a\n" + strings.Repeat(" ", headSize) + "\n\n\n\nx\xff\n", "x", "y", "@@ -3,4 +3,4 @@\n \n \n \n-x\ufffd\n+y\ufffd\n"},
	} {
		dir := realDir(t)
		write(t, dir, "d/f", c.file)
		op, parts := abi.CapFSReplace, []string{c.old, c.text}
		if c.old == "" {
			op, parts = abi.CapFSWrite, parts[1:]
		}
		got, err := edit(t, capability.Scope{Cwd: dir}, op, abi.ReplaceArgs{Path: "d/f", All: true}, parts...)
		want := "--- d/f\n+++ d/f\n" + c.want
		if err != nil || got.diff != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got.diff, want)
		}
		check(t, got)
	}
}

// check counts the lines of a whole diff.
func check(tb testing.TB, d did) {
	tb.Helper()
	added, removed := 0, 0
	for line := range strings.Lines(d.diff) {
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	if !d.DiffCut && (added != d.Added || removed != d.Removed) {
		tb.Errorf("+%d -%d, and the diff says +%d -%d:\n%s", d.Added, d.Removed, added, removed, d.diff)
	}
}

// TestDiffApplies has patch and git make the new content out of the old and the diff.
func TestDiffApplies(t *testing.T) {
	t.Parallel()
	tools := map[string][]string{
		testenv.NeedTool(t, "patch"): {"-p0", "--binary", "-s", "-i"},
		testenv.NeedTool(t, "git"):   {"apply", "-p0"},
	}
	r := rand.New(rand.NewPCG(6, 4))
	dir := realDir(t)
	for round := range testenv.Sample(60) {
		file := random(r, 40, "a\n", "b\n", "c\r\n", "x y\n", "\n", "z")
		text := random(r, 40, "a\n", "b\n", "c\r\n", "x y\n", "\n", "z")
		op, parts := abi.CapFSWrite, []string{text}
		if round%2 == 0 {
			op, parts = abi.CapFSReplace, []string{random(r, 1, "a\n", "b", "z") + "\n", text[:min(len(text), 6)]}
		}
		name := fmt.Sprintf("a file%d.txt", round)
		path := write(t, dir, name, file)
		scope := capability.Scope{Cwd: dir}
		got, err := edit(t, scope, op, abi.ReplaceArgs{Path: name, All: true}, parts...)
		if abi.CodeOf(err) == abi.CodeNoMatch || abi.CodeOf(err) == abi.CodeSameText {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		check(t, got)
		want := slurp(t, path)
		diff := write(t, dir, "diff", got.diff)
		for tool, args := range tools {
			write(t, dir, name, file)
			cmd := exec.CommandContext(t.Context(), tool, append(args, diff)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s\n%q\n%s", tool, err, out, file, got.diff)
			}
			if now, err := os.ReadFile(path); string(now) != want || err != nil && (want != "" || !os.IsNotExist(err)) {
				t.Fatalf("%s made %q of %q, want %q by\n%s", tool, now, file, want, got.diff)
			}
		}
	}
}

// TestDiffCut checks the bound of a diff, that what is left of it is whole, and that all
// lines are counted.
func TestDiffCut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, old, text string
		lines           int
	}{
		"many lines":    {strings.Repeat("some é text\n", 5000), "some", "any", 5000},
		"many hunks":    {strings.Repeat("x\n1\n2\n3\n4\n5\n6\n7\n", 5000), "x", "y", 5000},
		"one long line": {strings.Repeat("é x ", 1<<18), "x", "y", 1},
		"long context":  {strings.Repeat("e", 1<<20) + "\nx\n", "x", "y", 1},
	} {
		for _, size := range []int64{wholeSize, 1} {
			got := diffOf(t, c.file, c.old, c.text, size)
			if n := utf8.RuneCountInString(got.diff); n > maxDiff || !got.DiffCut || !strings.Contains(got.diff, "cut here") {
				t.Errorf("%s: %d code points, %+v", name, n, got.WriteOK)
			}
			if got.Added != c.lines || got.Removed != c.lines {
				t.Errorf("%s: +%d -%d, want %d", name, got.Added, got.Removed, c.lines)
			}
		}
	}
}

// diffOf is the diff of a replacement in text that comes in pieces of so many bytes.
func diffOf(tb testing.TB, file, old, text string, size int64) did {
	tb.Helper()
	d := newDiffer("f", false)
	for i, part := range strings.SplitAfter(file, old) {
		stays := strings.TrimSuffix(part, old)
		if i > 0 && stays == part && part == "" {
			break
		}
		for b := []byte(stays); len(b) > 0; {
			n := min(int64(len(b)), size)
			d.same(b[:n])
			b = b[n:]
		}
		if stays != part {
			d.change([]byte(old), []byte(text))
		}
	}
	diff := d.end()
	return did{abi.WriteOK{Added: d.added, Removed: d.removed, DiffCut: d.cut}, string(diff)}
}

// TestDiffPieces checks that a diff does not depend on the pieces in which a file comes.
func TestDiffPieces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 5))
	for range 500 {
		file := random(r, 60, "a\n", "b\n", "x", "\n", "long\n")
		want := diffOf(t, file, "x", "y\n", 1<<20)
		check(t, want)
		for size := int64(1); size < 4; size++ {
			if got := diffOf(t, file, "x", "y\n", size); got != want {
				t.Fatalf("%q in pieces of %d:\n%s\nand whole\n%s", file, size, got.diff, want.diff)
			}
		}
	}
}

// TestDiffLarge compares large contents in bounded time: what is over the bound is told
// as changed.
func TestDiffLarge(t *testing.T) {
	t.Parallel()
	var a, b bytes.Buffer
	for i := range 200_000 {
		fmt.Fprintln(&a, i*7%1000)
		fmt.Fprintln(&b, i*11%1000)
	}
	d := newDiffer("f", false)
	compare(d, a.Bytes(), b.Bytes())
	if d.end(); d.added != d.removed || d.added < 100_000 || !d.cut {
		t.Errorf("+%d -%d", d.added, d.removed)
	}
}

func TestDiffNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a/b": "a/b", "a b": "a b\t", "a\nb": `"a\nb"`, `a"b`: `"a\"b"`} {
		if got := quoted(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
	dir := realDir(t)
	got, err := edit(t, capability.Scope{Cwd: filepath.Join(dir, "below")}, abi.CapFSWrite, abi.WriteArgs{Path: filepath.Join(dir, "f")}, "a\n")
	if want := "--- /dev/null\n+++ " + filepath.ToSlash(filepath.Join(dir, "f")) + "\n@@ -0,0 +1 @@\n+a\n"; err != nil || got.diff != want || !got.Created {
		t.Errorf("%v, %q, want %q", err, got.diff, want)
	}
}
