package search

import (
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
)

// told keeps what a search tells of files, by their paths.
type told struct {
	capability.Knowledge
	shown map[string]capability.ReadState
}

func (n *told) Shown(path, view string, s capability.ReadState) {
	if view != "" {
		panic("a search is no view: " + view)
	}
	n.shown[path] = s
}

// shownBy searches for a model, and returns what it is told to have seen, file by file:
// the text of the ranges, which must have the hashes that go with them.
func shownBy(t *testing.T, root string, args abi.ContentsArgs, rehearse bool) map[string][]string {
	t.Helper()
	notes := &told{shown: make(map[string]capability.ReadState)}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	scope := capability.Scope{Cwd: root, Files: notes, Rehearse: rehearse}
	p, err := New(Options{Engine: engine}).Plan(t.Context(), scope, abi.Request{Name: abi.CapSearchContents, Args: raw})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := done(t, p, all); err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]string)
	for path, s := range notes.shown {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || s.Stamp.Size != info.Size() || !s.Stamp.ModTime.Equal(info.ModTime()) {
			t.Errorf("%s: the stamp %+v, %v", path, s.Stamp, err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Ranges {
			if sha256.Sum256(text[r.From:r.To]) != r.Hash {
				t.Errorf("%s: the hash of bytes %d to %d is another one", path, r.From, r.To)
			}
			out[name] = append(out[name], string(text[r.From:r.To]))
		}
	}
	return out
}

// TestShownLines holds what counts as seen to what was shown, byte for byte.
func TestShownLines(t *testing.T) {
	t.Parallel()
	encoded := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune("hit\nmiss\n")) {
		encoded = append(encoded, byte(u), byte(u>>8))
	}
	wide := string(encoded)
	far := strings.Repeat("miss\n", windowSize) // several windows
	root := tree(t, "lf", "hit 1\nmiss\nhit 2\nhit 3\n\nmiss", "crlf", "hit\r\nmiss\r\nhit\r", "mark", "\xef\xbb\xbfhit\nmiss\n",
		"long", "hit "+strings.Repeat("ä", 20)+"\nhit\n", "bytes", "hit \xff\nhit\n", "wide", wide, "far", far+"hit\n"+far+"hit",
		"sub/deep", "hit\n", "huge", "hit"+strings.Repeat("x", maxWindow+windowSize)+"\nhit\n")
	if err := os.Symlink(filepath.Join(root, "sub"), filepath.Join(root, "link")); err != nil {
		testenv.Missing(t, "symbolic links: "+err.Error())
	}
	lines := abi.ContentsArgs{Pattern: "hit", Mode: abi.ModeContent, LineNumbers: true, Shown: true}
	with := func(change func(*abi.ContentsArgs)) abi.ContentsArgs {
		args := lines
		change(&args)
		return args
	}
	in := func(path string) abi.ContentsArgs { return with(func(a *abi.ContentsArgs) { a.Path = path }) }
	for name, c := range map[string]struct {
		args abi.ContentsArgs
		want map[string][]string
	}{
		"lines that follow":  {in("lf"), map[string][]string{"lf": {"hit 1\n", "hit 2\nhit 3\n"}}},
		"and context":        {with(func(a *abi.ContentsArgs) { a.Path, a.After = "lf", 1 }), map[string][]string{"lf": {"hit 1\nmiss\nhit 2\nhit 3\n\n"}}},
		"endings":            {in("crlf"), map[string][]string{"crlf": {"hit\r\n", "hit"}}},
		"behind a mark":      {in("mark"), map[string][]string{"mark": {"hit\n"}}},
		"what is cut":        {with(func(a *abi.ContentsArgs) { a.Path, a.MaxColumns = "long", 9 }), map[string][]string{"long": {"hit ää", "hit\n"}}},
		"no text":            {in("bytes"), map[string][]string{"bytes": {"hit\n"}}},
		"UTF-16":             {in("wide"), map[string][]string{}},
		"far down":           {in("far"), map[string][]string{"far": {"hit\n", "hit"}}},
		"a line passed over": {with(func(a *abi.ContentsArgs) { a.Path, a.MaxColumns = "huge", 9 }), map[string][]string{}},
		"by a link":          {in("link"), map[string][]string{"sub/deep": {"hit\n"}}},
		"the limit":          {with(func(a *abi.ContentsArgs) { a.Path, a.Offset, a.Limit = "lf", 1, 1 }), map[string][]string{"lf": {"hit 2\n"}}},
		"a tree, cut short":  {with(func(a *abi.ContentsArgs) { a.Globs, a.Limit = []string{"lf", "deep"}, 1 }), map[string][]string{"lf": {"hit 1\n"}}},
		"across lines":       {with(func(a *abi.ContentsArgs) { a.Path, a.Pattern, a.Multiline = "lf", `2\nhit`, true }), map[string][]string{"lf": {"hit 2\nhit 3\n"}}},
		"counts":             {with(func(a *abi.ContentsArgs) { a.Mode = abi.ModeCount }), map[string][]string{}},
		"not for a model":    {with(func(a *abi.ContentsArgs) { a.Shown = false }), map[string][]string{}},
	} {
		got := shownBy(t, root, c.args, false)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q; want %q", name, got, c.want)
		}
		for path, want := range c.want {
			if !slices.Equal(got[path], want) {
				t.Errorf("%s: %s: %q; want %q", name, path, got[path], want)
			}
		}
	}
	if got := shownBy(t, root, lines, true); len(got) > 0 {
		t.Errorf("a rehearsal: %q", got)
	}
}
