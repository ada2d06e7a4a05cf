package fs

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// TestEditCodes checks each code and that the lowest wins. Each case says what the
// model has seen, what has happened since, and what it asks for.
func TestEditCodes(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\ntwo\nthree\n"
	for name, c := range map[string]struct {
		missing, unseen bool
		ranges          [][2]int64 // seen; nil is all
		since           string     // the content that it has got since
		op              string
		args            abi.ReplaceArgs
		parts           []string
		code            abi.Code
		says            string
	}{
		"replace": {op: abi.CapFSReplace, parts: []string{"one", "1"}},
		"write":   {op: abi.CapFSWrite, parts: []string{"1"}},

		"missing":                 {missing: true, op: abi.CapFSReplace, parts: []string{"a", "b"}, code: abi.CodeNotFound},
		"missing, same":           {missing: true, op: abi.CapFSReplace, parts: []string{"a", "a"}, code: abi.CodeNotFound},
		"missing, expected":       {missing: true, op: abi.CapFSWrite, args: abi.ReplaceArgs{Expect: hexOf("x")}, parts: []string{"a"}, code: abi.CodeChanged},
		"missing, empty":          {missing: true, op: abi.CapFSReplace, parts: []string{"", ""}, code: abi.CodeSameText},
		"made":                    {missing: true, op: abi.CapFSReplace, parts: []string{"", "x"}},
		"not read":                {unseen: true, op: abi.CapFSReplace, parts: []string{"one", "1"}, code: abi.CodeNotRead, says: "was not read"},
		"not read, same":          {unseen: true, op: abi.CapFSReplace, parts: []string{"x", "x"}, code: abi.CodeNotRead},
		"not read, no match":      {unseen: true, op: abi.CapFSReplace, parts: []string{"x", "y"}, code: abi.CodeNotRead},
		"not read, not unique":    {unseen: true, op: abi.CapFSReplace, parts: []string{"two", "y"}, code: abi.CodeNotRead},
		"not read, empty old":     {unseen: true, op: abi.CapFSReplace, parts: []string{"", "y"}, code: abi.CodeNotRead},
		"write, not read":         {unseen: true, op: abi.CapFSWrite, parts: []string{text}, code: abi.CodeNotRead},
		"write, absent, unread":   {unseen: true, op: abi.CapFSWrite, args: abi.ReplaceArgs{Expect: abi.ExpectAbsent}, parts: []string{"x"}, code: abi.CodeNotRead},
		"write, read in part":     {ranges: [][2]int64{{4, 8}}, op: abi.CapFSWrite, parts: []string{"x"}, code: abi.CodeNotRead, says: "(lines 2-2)"},
		"write, part, changed":    {ranges: [][2]int64{{4, 8}}, since: "x", op: abi.CapFSWrite, parts: []string{"x"}, code: abi.CodeNotRead},
		"write, part, by hash":    {ranges: [][2]int64{{4, 8}}, op: abi.CapFSWrite, args: abi.ReplaceArgs{Expect: hexOf(text)}, parts: []string{"x"}},
		"read elsewhere":          {ranges: [][2]int64{{0, 8}}, op: abi.CapFSReplace, parts: []string{"three", "x"}, code: abi.CodeNotRead, says: "offset 4"},
		"read elsewhere, changed": {ranges: [][2]int64{{0, 8}}, since: "x\ntwo\ntwo\nthree\n", op: abi.CapFSReplace, parts: []string{"three", "x"}, code: abi.CodeNotRead},
		"read at the edge":        {ranges: [][2]int64{{0, 14}}, op: abi.CapFSReplace, parts: []string{"three", "x"}, code: abi.CodeNotRead},
		"read there":              {ranges: [][2]int64{{12, 17}}, op: abi.CapFSReplace, parts: []string{"three", "x"}},
		"read in two touching":    {ranges: [][2]int64{{0, 14}, {14, 18}}, op: abi.CapFSReplace, parts: []string{"three", "x"}},
		"read one of two":         {ranges: [][2]int64{{4, 8}}, op: abi.CapFSReplace, parts: []string{"two", "x"}, code: abi.CodeNotUnique},
		"read one of two, all":    {ranges: [][2]int64{{4, 8}}, op: abi.CapFSReplace, args: abi.ReplaceArgs{All: true}, parts: []string{"two", "x"}, code: abi.CodeNotRead, says: "line 3"},
		"read none of two":        {ranges: [][2]int64{{0, 4}}, op: abi.CapFSReplace, parts: []string{"two", "x"}, code: abi.CodeNotRead, says: "line 2"},
		"changed":                 {since: "one\n2\n", op: abi.CapFSReplace, parts: []string{"one", "1"}, code: abi.CodeChanged, says: "read it again"},
		"changed, same size":      {since: "one\nTWO\ntwo\nthree\n", op: abi.CapFSReplace, parts: []string{"one", "1"}, code: abi.CodeChanged},
		"changed, same":           {since: "x", op: abi.CapFSReplace, parts: []string{"a", "a"}, code: abi.CodeChanged},
		"changed, no match":       {since: "x", op: abi.CapFSReplace, parts: []string{"two", "b"}, code: abi.CodeChanged},
		"changed, not unique":     {since: "two two", op: abi.CapFSReplace, parts: []string{"two", "b"}, code: abi.CodeChanged},
		"appended to":             {since: text + "four\n", op: abi.CapFSReplace, parts: []string{"four", "b"}, code: abi.CodeChanged},
		"changed elsewhere":       {ranges: [][2]int64{{0, 4}}, since: "one\n2\n", op: abi.CapFSReplace, parts: []string{"one", "1"}},
		"touched only":            {since: text, op: abi.CapFSReplace, parts: []string{"one", "1"}},
		"write, changed":          {since: "x", op: abi.CapFSWrite, parts: []string{"x"}, code: abi.CodeChanged},
		"write, absent":           {op: abi.CapFSWrite, args: abi.ReplaceArgs{Expect: abi.ExpectAbsent}, parts: []string{"x"}, code: abi.CodeChanged, says: "expected to be missing"},
		"write, other hash":       {op: abi.CapFSWrite, args: abi.ReplaceArgs{Expect: hexOf("x")}, parts: []string{"x"}, code: abi.CodeChanged},
		"replace, other hash":     {op: abi.CapFSReplace, args: abi.ReplaceArgs{Expect: hexOf("x")}, parts: []string{"one", "x"}, code: abi.CodeChanged},
		"replace, hash":           {op: abi.CapFSReplace, args: abi.ReplaceArgs{Expect: hexOf(text)}, parts: []string{"one", "x"}},
		"same":                    {op: abi.CapFSReplace, parts: []string{"one", "one"}, code: abi.CodeSameText},
		"same, not there":         {op: abi.CapFSReplace, parts: []string{"x", "x"}, code: abi.CodeSameText},
		"same, not unique":        {op: abi.CapFSReplace, parts: []string{"two", "two"}, code: abi.CodeSameText},
		"same but for endings":    {op: abi.CapFSReplace, parts: []string{"one\r\n", "one\n"}, code: abi.CodeSameText},
		"no match":                {op: abi.CapFSReplace, parts: []string{"zzz", "b"}, code: abi.CodeNoMatch},
		"no match, all":           {op: abi.CapFSReplace, args: abi.ReplaceArgs{All: true}, parts: []string{"zzz", "b"}, code: abi.CodeNoMatch},
		"empty old":               {op: abi.CapFSReplace, parts: []string{"", "b"}, code: abi.CodeNoMatch, says: "not empty"},
		"empty both":              {op: abi.CapFSReplace, parts: []string{"", ""}, code: abi.CodeSameText},
		"not unique":              {op: abi.CapFSReplace, parts: []string{"two", "b"}, code: abi.CodeNotUnique, says: "2 times, at lines 2, 3"},
		"twice in a line":         {op: abi.CapFSReplace, parts: []string{"e", "b"}, code: abi.CodeNotUnique, says: "3 times, at lines 1, 4;"},
		"all":                     {op: abi.CapFSReplace, args: abi.ReplaceArgs{All: true}, parts: []string{"two", "b"}},
		"parts":                   {op: abi.CapFSReplace, parts: []string{"two"}, code: abi.CodeInvalidInput},
		"no UTF-8":                {op: abi.CapFSWrite, parts: []string{"ab\xff"}, code: abi.CodeInvalidInput, says: "byte 2"},
		"bad expect":              {op: abi.CapFSWrite, args: abi.ReplaceArgs{Expect: "ABC"}, parts: []string{"x"}, code: abi.CodeInvalidInput},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := realDir(t)
			path, know, h := filepath.Join(dir, "f"), knowledge{}, &past{}
			if !c.missing {
				write(t, dir, "f", text)
				if !c.unseen {
					know.see(t, path, c.ranges...)
				}
			}
			want := text
			if c.since != "" {
				write(t, dir, "f", c.since)
				want = c.since
			}
			before := maps.Clone(know)
			c.args.Path = "f"
			scope := capability.Scope{Cwd: dir, Files: know, History: h, Rehearse: true}
			rehearsed, rerr := edit(t, scope, c.op, c.args, c.parts...)
			if now, err := os.ReadFile(path); len(h.kept) > 0 || (err == nil) == c.missing || err == nil && string(now) != want {
				t.Errorf("the rehearsal left %q, %v, and %d in the history", now, err, len(h.kept))
			}
			if !maps.EqualFunc(before, know, func(a, b capability.ReadState) bool { return slices.Equal(a.Ranges, b.Ranges) }) {
				t.Error("the rehearsal changed what was seen")
			}
			scope.Rehearse = false
			got, err := edit(t, scope, c.op, c.args, c.parts...)
			if c.code == "" {
				c.code = abi.CodeInternal // none
				if err != nil {
					t.Fatal(err)
				}
				if got.History != "w1" || got.Hash != hexOf(slurp(t, path)) {
					t.Errorf("%+v", got)
				}
				if got.History = ""; got != rehearsed || rerr != nil {
					t.Errorf("rehearsed %+v, %v; done %+v", rehearsed, rerr, got)
				}
				return
			}
			if abi.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %s with %q", err, c.code, c.says)
			}
			if rerr == nil || err == nil || rerr.Error() != err.Error() {
				t.Errorf("rehearsed %v, done %v", rerr, err)
			}
			if !c.missing && slurp(t, path) != want || len(h.kept) > 0 {
				t.Errorf("the file is %q, the history has %d", slurp(t, path), len(h.kept))
			}
			if names, _ := os.ReadDir(dir); len(names) > 1 {
				t.Errorf("files were left: %v", names)
			}
		})
	}
}

// TestEditWithoutKnowledge writes over what nobody has read.
func TestEditWithoutKnowledge(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	write(t, dir, "f", "a b\n")
	if got, err := edit(t, capability.Scope{Cwd: dir}, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, "b", "c"); err != nil || got.History != "" {
		t.Fatal(got, err)
	}
	if _, err := edit(t, capability.Scope{Cwd: dir}, abi.CapFSWrite, abi.WriteArgs{Path: "d/e/g"}, "new"); err != nil {
		t.Fatal(err)
	}
	if a, b := slurp(t, dir+"/f"), slurp(t, dir+"/d/e/g"); a != "a c\n" || b != "new" {
		t.Errorf("%q, %q", a, b)
	}
}

// TestEditKnowsNoMore checks that a write which stands on a hash does not make seen what
// was not.
func TestEditKnowsNoMore(t *testing.T) {
	t.Parallel()
	dir, know := realDir(t), knowledge{}
	const before, after = "one\ntwo\n", "one\nTWO\n"
	path := write(t, dir, "f", before)
	scope := capability.Scope{Cwd: dir, Files: know}
	know.see(t, path, [2]int64{0, 4})
	args := abi.WriteArgs{Path: "f"}
	if _, err := edit(t, scope, abi.CapFSWrite, args, "x"); abi.CodeOf(err) != abi.CodeNotRead {
		t.Fatal(err)
	}
	args.Expect = hexOf(before)
	if _, err := edit(t, scope, abi.CapFSWrite, args, after); err != nil {
		t.Fatal(err)
	}
	args.Expect = ""
	if _, err := edit(t, scope, abi.CapFSWrite, args, "x"); abi.CodeOf(err) != abi.CodeNotRead {
		t.Errorf("%v after a write by its hash", err)
	}
	args.Expect = hexOf(after)
	if _, err := edit(t, scope, abi.CapFSWrite, args, "three\n"); err != nil {
		t.Errorf("a second write by its hash: %v", err)
	}
}

// TestEditKnows checks what the session knows after a write: it can go on without
// reading again.
func TestEditKnows(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	path, know := write(t, dir, "f", "one two three four five"), knowledge{}
	scope := capability.Scope{Cwd: dir, Files: know}
	know.see(t, path, [2]int64{0, 3}, [2]int64{4, 13}, [2]int64{19, 23})
	args := abi.ReplaceArgs{Path: "f", All: true}
	if _, err := edit(t, scope, abi.CapFSReplace, args, "two", "2222222"); err != nil {
		t.Fatal(err)
	}
	if got := know.seen(t, path); !slices.Equal(got, []string{"one", "2222222 three", "five"}) {
		t.Errorf("%q in %q", got, slurp(t, path))
	}
	if _, err := edit(t, scope, abi.CapFSReplace, args, "five", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := edit(t, scope, abi.CapFSReplace, args, "four", "4"); abi.CodeOf(err) != abi.CodeNotRead {
		t.Error(err)
	}
	know.see(t, path)
	if _, err := edit(t, scope, abi.CapFSWrite, abi.WriteArgs{Path: "f"}, "all new"); err != nil {
		t.Fatal(err)
	}
	if got := know.seen(t, path); !slices.Equal(got, []string{"all new"}) {
		t.Errorf("%q", got)
	}
	if _, err := edit(t, scope, abi.CapFSReplace, args, "new", "newer"); err != nil {
		t.Fatal(err)
	}
}

// TestEditHistory checks what the history is told, and that a write it cannot keep is
// not done.
func TestEditHistory(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	path, h := write(t, dir, "f", "old"), &past{}
	scope := capability.Scope{Cwd: dir, History: h, Call: capability.Call{ID: "c", Tool: "T"}}
	if _, err := edit(t, scope, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, "old", "newer"); err != nil {
		t.Fatal(err)
	}
	if _, err := edit(t, scope, abi.CapFSWrite, abi.WriteArgs{Path: "g"}, "made"); err != nil {
		t.Fatal(err)
	}
	w := h.kept[0]
	if h.before[0] != "old" || w.BeforeSize != 3 || w.AfterSize != 5 || hex.EncodeToString(w.AfterHash[:]) != hexOf("newer") ||
		w.Path != path || w.Call != scope.Call || w.Mode != 0o600 || h.before[1] != "<none>" || len(h.voided) > 0 {
		t.Errorf("%+v, %q", h.kept, h.before)
	}
	h.fail = errors.New("no room")
	if _, err := edit(t, scope, abi.CapFSWrite, abi.WriteArgs{Path: "f"}, "x"); abi.CodeOf(err) != abi.CodeIO || slurp(t, path) != "newer" {
		t.Errorf("%v; %q", err, slurp(t, path))
	}
}

// TestEditRaces has somebody else write while the former content is kept: what they
// wrote stays, and the history takes its record back.
func TestEditRaces(t *testing.T) {
	t.Parallel()
	for name, meddle := range map[string]func(path string) error{
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("theirs"), 0o600), os.Rename(path+".new", path))
		},
		"written to": func(path string) error { return os.WriteFile(path, []byte("theirs"), 0o600) },
	} {
		for op, args := range map[string]any{abi.CapFSWrite: abi.WriteArgs{Path: "f"}, abi.CapFSReplace: abi.ReplaceArgs{Path: "f"}} {
			dir := realDir(t)
			path, h := write(t, dir, "f", "ours"), &past{}
			h.then = func() {
				if err := meddle(path); err != nil {
					t.Error(err)
				}
			}
			parts := []string{"ours", "new"}
			if op == abi.CapFSWrite {
				parts = parts[1:]
			}
			_, err := edit(t, capability.Scope{Cwd: dir, History: h}, op, args, parts...)
			if abi.CodeOf(err) != abi.CodeChanged || slurp(t, path) != "theirs" || len(h.voided) != 1 {
				t.Errorf("%s, %s: %v, %q, %v", op, name, err, slurp(t, path), h.voided)
			}
		}
	}
}

// TestEditGivenUp checks that a call that is given up writes nothing, and that one
// which the history holds is completed.
func TestEditGivenUp(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	path, h := write(t, dir, "f", "old"), &past{}
	ctx, cancel := context.WithCancel(t.Context())
	h.then = cancel
	scope := capability.Scope{Cwd: dir, History: h}
	if _, err := editIn(ctx, t, scope, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, "old", "new"); err != nil || slurp(t, path) != "new" {
		t.Errorf("given up behind the history: %v, %q", err, slurp(t, path))
	}
	for op, parts := range map[string][]string{abi.CapFSReplace: {"new", "x"}, abi.CapFSWrite: {"x"}} {
		_, err := editIn(ctx, t, scope, op, abi.WriteArgs{Path: "f"}, parts...)
		if abi.CodeOf(err) != abi.CodeCancelled || slurp(t, path) != "new" || len(h.kept) != 1 {
			t.Errorf("%s: %v, %q", op, err, slurp(t, path))
		}
	}
}

func TestEditKinds(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	write(t, dir, "bin", "a\x00b")
	for path, code := range map[string]abi.Code{".": abi.CodeIsDirectory, "/dev/zero": abi.CodeNotRegular, "bin": abi.CodeNotText, "bin/x": abi.CodeNotDirectory} {
		if _, err := edit(t, capability.Scope{Cwd: dir}, abi.CapFSReplace, abi.ReplaceArgs{Path: path}, "a", "b"); abi.CodeOf(err) != code {
			t.Errorf("%s: %v, want %s", path, err, code)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "bin"), MaxEdited+1); err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{abi.CapFSWrite, abi.CapFSReplace} {
		parts := []string{"a", "b"}
		if op == abi.CapFSWrite {
			parts = parts[:1]
		}
		if _, err := edit(t, capability.Scope{Cwd: dir}, op, abi.WriteArgs{Path: "bin"}, parts...); abi.CodeOf(err) != abi.CodeTooLarge {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func TestWriteBytes(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	path := write(t, dir, "f", "\xff\xfea\x00\r\x00\n\x00")
	got, err := edit(t, capability.Scope{Cwd: dir}, abi.CapFSWrite, abi.WriteArgs{Path: "f", Bytes: true}, "\x00\xff\n")
	if err != nil || slurp(t, path) != "\x00\xff\n" || got.diff != "binary content, 3 bytes\n" || got.Encoding != "" || got.LineEnding != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = edit(t, capability.Scope{Cwd: dir}, abi.CapFSWrite, abi.WriteArgs{Path: "f"}, "é\r\n"); err != nil || slurp(t, path) != "é\r\n" {
		t.Errorf("text in place of what is none: %+v, %v", got, err)
	}
}
