package fs

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// TestQuotes replaces text whose quotes are not those of the file.
func TestQuotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, old, text, want string }{
		"curly file":             {`say “one” here`, `say "one"`, `say "two"`, `say “two” here`},
		"straight file":          {`say "one" here`, `say “one”`, `say “two”`, `say "two" here`},
		"apostrophe":             {`it’s one`, `it's one`, `it's what's two`, `it’s what’s two`},
		"single":                 {`a ‘b’ c`, `a 'b' c`, `a 'b' 'd' c`, `a ‘b’ ‘d’ c`},
		"nested":                 {`“x” y`, `"x"`, `"'x' and "z""`, `“'x' and “z”” y`},
		"both kinds":             {`‘x’ “y”`, `'x' "y"`, `"y" 'x'`, `“y” ‘x’`},
		"brackets and dashes":    {`f(“x”)`, `f("x")`, `f("y")—"z", ["w"]`, `f(“y”)—“z”, [“w”]`},
		"years":                  {`in ’90s ‘x’`, `in '90s 'x'`, `in '80s 'x'`, `in ’80s ‘x’`},
		"parts that stay":        {"“a\" b\nx\n'c’", "\"a\" b\nx\n'c'", "\"a\" b\ny\n'c'", "“a\" b\ny\n'c’"},
		"end of the occurrence":  {`“a” b`, `"a`, `"a" "b`, `“a” “b” b`},
		"before the occurrence":  {`(a” b`, `a"`, `"a"`, `(“a” b`},
		"exact first":            {`“a” "a"`, `"a"`, `"b"`, `“a” "b"`},
		"a kind that is not old": {`“a”`, `"a"`, `"it's"`, `“it's”`},
		"a kind put in curly":    {`“a”`, `"a"`, `"it’s"`, `“it’s”`},
		"lines":                  {"“a”\r\nb", "\"a\"\nb", "\"c\"\nd", "“c”\r\nd"},
		"Latin-1":                {"caf\xe9 \"a\"", "“a”", "“b”", "caf\xe9 \"b\""},
	} {
		for _, step := range []int64{0, 4} {
			got, n, err := replaced(t, c.file, c.old, c.text, step)
			if err != nil || n != 1 || got != c.want {
				t.Errorf("%s, in steps of %d: %q, %d, %v; want %q", name, step, got, n, err, c.want)
			}
		}
	}
}

// TestQuotesUnique checks that occurrences with other quotes count as others do.
func TestQuotesUnique(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	path := write(t, dir, "f", "“a”\n\"a”\n")
	scope := capability.Scope{Cwd: dir}
	if _, err := edit(t, scope, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, `"a"`, `"b"`); abi.CodeOf(err) != abi.CodeNotUnique {
		t.Error(err)
	}
	if _, err := edit(t, scope, abi.CapFSReplace, abi.ReplaceArgs{Path: "f", All: true}, `"a"`, `“a”`); abi.CodeOf(err) != abi.CodeSameText {
		t.Errorf("with the file's quotes nothing changes: %v", err)
	}
	if _, err := edit(t, scope, abi.CapFSReplace, abi.ReplaceArgs{Path: "f", All: true}, `"a"`, `"b"`); err != nil || slurp(t, path) != "“b”\n\"b”\n" {
		t.Errorf("%q, %v", slurp(t, path), err)
	}
}

// FuzzReplace replaces in any text of any encoding, and checks that what a replacement
// puts in can be taken out again, and that nothing else changes.
func FuzzReplace(f *testing.F) {
	f.Add("a “b” c\r\nd", `"b" c`+"\nd", "x\ny", byte(4))
	f.Add("\xff\xfea\x00\x00\xd8", "a", "b", byte(2))
	f.Add("caf\xe9", "caf", "CAF", byte(0))
	f.Add("\xef\xbb\xbfit’s\r", "it's", "it is", byte(1))
	f.Fuzz(func(t *testing.T, file, old, text string, step byte) {
		if file == "" || toLF([]byte(old)) == nil || len(toLF([]byte(old))) == 0 || !utf8.ValidString(old) || !utf8.ValidString(text) {
			return
		}
		got, n, err := replaced(t, file, old, text, int64(step)&^1)
		if err != nil {
			return
		}
		if other, m, err := replaced(t, file, old, text, 0); err != nil || other != got || m != n {
			t.Fatalf("in steps of %d: %q (%d), and in memory %q (%d), %v", step&^1, got, n, other, m, err)
		}
		if n == 0 && got != file {
			t.Fatalf("%q was not found in %q, and made it %q", old, file, got)
		}
		kept, _, _ := replaced(t, file, old, old, 0)
		if kept != file {
			t.Fatalf("%q in place of itself makes %q of %q", old, kept, file)
		}
	})
}

// FuzzEncode checks that text put into an encoding is there again when it is read.
func FuzzEncode(f *testing.F) {
	f.Add("a\r\né😀\n", byte(2))
	f.Fuzz(func(t *testing.T, text string, e byte) {
		enc := encoding(e) % (latin1 + 1)
		if !utf8.ValidString(text) {
			if checkText([]byte(text)) == nil {
				t.Fatalf("%q passes for UTF-8", text)
			}
			return
		}
		raw, err := enc.encode(nil, []byte(text))
		if err != nil {
			if enc != latin1 || !strings.ContainsFunc(text, func(r rune) bool { return r > maxLatin1 }) {
				t.Fatal(err)
			}
			return
		}
		if got := string(textOf(enc, raw)); got != text && !strings.HasPrefix(text, "\ufeff") {
			t.Errorf("%s: %q came back as %q", enc, text, got)
		}
		lines := tally{enc: enc}
		for from := 0; from < len(raw); from += 2 {
			lines.add(raw[from:min(from+2, len(raw))])
		}
		if crlf := strings.Count(text, "\r\n"); int(lines.crlf) != crlf || int(lines.lines()) != strings.Count(text, "\n") {
			t.Errorf("%q has %+v", text, lines)
		}
	})
}
