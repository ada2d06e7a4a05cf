package fs

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// TestWriteOfTheSame writes what lies there: nothing is done, and that is no failure.
func TestWriteOfTheSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		was, content string
		args         abi.WriteArgs
	}{
		"text":             {"one\ntwo\n", "one\ntwo\n", abi.WriteArgs{}},
		"other line ends":  {"one\r\ntwo\r\n", "one\ntwo\n", abi.WriteArgs{}},
		"another encoding": {encoded(utf16LE, "one\n"), "one\n", abi.WriteArgs{}},
		"with a mark":      {"one\n", "\ufeffone\n", abi.WriteArgs{}},
		"nothing":          {"", "", abi.WriteArgs{}},
		"bytes":            {"\x00\xff", "\x00\xff", abi.WriteArgs{Bytes: true}},
		"by its hash":      {"one\n", "one\n", abi.WriteArgs{Expect: hexOf("one\n")}},
	} {
		for _, rehearse := range []bool{true, false} {
			dir := realDir(t)
			path := write(t, dir, "f", c.was)
			know, h := knowledge{}, &past{}
			know.see(t, path)
			before, seen := mustStat(t, path), maps.Clone(know)
			c.args.Path = "f"
			got, err := edit(t, capability.Scope{Cwd: dir, Files: know, History: h, Rehearse: rehearse}, abi.CapFSWrite, c.args, c.content)
			if want := (abi.WriteOK{Path: path, Unchanged: true, Size: int64(len(c.was)), Hash: hexOf(c.was)}); err != nil || got.WriteOK != want || got.diff != "" {
				t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
			}
			now := mustStat(t, path)
			if !os.SameFile(before, now) || !before.ModTime().Equal(now.ModTime()) || slurp(t, path) != c.was || len(h.kept) > 0 {
				t.Errorf("%s: the file was written, and %d in the history", name, len(h.kept))
			}
			if !maps.EqualFunc(seen, know, func(a, b capability.ReadState) bool { return a.Stamp == b.Stamp && slices.Equal(a.Ranges, b.Ranges) }) {
				t.Errorf("%s: it changed what was seen", name)
			}
		}
	}
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestMarksAndEndings holds that new files end their lines with LF, that a byte order mark
// is the file's and not the text's, and that no diff shows one.
func TestMarksAndEndings(t *testing.T) {
	t.Parallel()
	const none = "<none>"
	const mark = "\ufeff"
	for name, c := range map[string]struct {
		was, op string
		args    any
		parts   []string
		want    string
		diff    string // without its head
		ending  string
	}{
		"a new file":            {none, abi.CapFSWrite, abi.WriteArgs{Path: "f"}, []string{"a\r\nb\r\n"}, "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n", abi.LineEndingLF},
		"an empty one":          {"", abi.CapFSWrite, abi.WriteArgs{Path: "f"}, []string{"a\r\nb\n"}, "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n", abi.LineEndingLF},
		"one made by replacing": {none, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, []string{"", "a\r\n"}, "a\n", "@@ -0,0 +1 @@\n+a\n", abi.LineEndingLF},
		"its bytes":             {none, abi.CapFSWrite, abi.WriteArgs{Path: "f", Bytes: true}, []string{"a\r\n"}, "a\r\n", "", ""},
		"a new file, marked":    {none, abi.CapFSWrite, abi.WriteArgs{Path: "f"}, []string{mark + "a\r\n"}, mark + "a\n", "@@ -0,0 +1 @@\n+a\n", abi.LineEndingLF},
		"a mark stays":          {mark + "a\nb\n", abi.CapFSWrite, abi.WriteArgs{Path: "f"}, []string{"c\nb\n"}, mark + "c\nb\n", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n", abi.LineEndingLF},
		"a mark comes again":    {mark + "a\r\nb\r\n", abi.CapFSWrite, abi.WriteArgs{Path: "f"}, []string{mark + "a\nc\n"}, mark + "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", abi.LineEndingCRLF},
		"none stays none":       {"a\nb\n", abi.CapFSWrite, abi.WriteArgs{Path: "f"}, []string{mark + "a\nc\n"}, "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", abi.LineEndingLF},
		"a first line replaced": {mark + "a\nb\n", abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, []string{"a", "c"}, mark + "c\nb\n", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n", abi.LineEndingLF},
		"a second line":         {mark + "a\nb\n", abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, []string{"b", "c"}, mark + "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n", abi.LineEndingLF},
	} {
		dir := realDir(t)
		know := knowledge{}
		if c.was != none {
			know.see(t, write(t, dir, "f", c.was))
		}
		got, err := edit(t, capability.Scope{Cwd: dir, Files: know}, c.op, c.args, c.parts...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if now := slurp(t, got.Path); now != c.want || got.LineEnding != c.ending {
			t.Errorf("%s: %q with %q; want %q with %q", name, now, got.LineEnding, c.want, c.ending)
		}
		if _, diff, ok := strings.Cut(got.diff, "\n@@"); c.diff != "" && (!ok || "@@"+diff != c.diff) {
			t.Errorf("%s: the diff is %q; want %q", name, got.diff, c.diff)
		}
	}
}
