package fs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/internal/testenv"
)

// naively replaces text as fs.replace says it does, in a file of UTF-8 without quotes
// to match, character by character. It returns how often the text was there.
func naively(file, old, text string, major string) (string, int) {
	old, text = strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(text, "\r\n", "\n")
	var out strings.Builder
	n := 0
	for file != "" {
		end, endings := matchAt(file, old)
		if end < 0 {
			// The two bytes of a line ending are one character.
			size := 1
			if strings.HasPrefix(file, "\r\n") {
				size = 2
			}
			out.WriteString(file[:size])
			file = file[size:]
			continue
		}
		ending := major
		if !strings.Contains(endings, "m") && endings != "" {
			ending = map[byte]string{'l': "\n", 'c': "\r\n"}[endings[0]]
		}
		out.WriteString(strings.ReplaceAll(text, "\n", ending))
		file = file[end:]
		n++
	}
	return out.String(), n
}

// matchAt returns where a text ends that a file begins with, -1 where it does not, and
// which endings it has: l, c, or with both, m.
func matchAt(file, old string) (int, string) {
	at, kinds := 0, ""
	for i := range len(old) {
		switch {
		case at >= len(file):
			return -1, ""
		case strings.HasPrefix(file[at:], "\r\n"):
			if old[i] != '\n' {
				return -1, ""
			}
			at, kinds = at+2, kinds+"c"
		case file[at] != old[i]:
			return -1, ""
		default:
			if old[i] == '\n' {
				kinds += "l"
			}
			at++
		}
	}
	if strings.Contains(kinds, "l") && strings.Contains(kinds, "c") {
		kinds = "m"
	}
	return at, kinds
}

// random makes a text out of a few signs, so that texts are often in each other.
func random(r *rand.Rand, most int, signs ...string) string {
	var b strings.Builder
	for range r.IntN(most + 1) {
		b.WriteString(signs[r.IntN(len(signs))])
	}
	return b.String()
}

// TestReplaceProperty compares with the naive way, over files in memory and over ones
// that are read in small windows. Matches with both kinds of endings keep those of the
// lines that stay, which the naive way does not know, and are left to another test.
func TestReplaceProperty(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 2))
	found := 0
	for i := range 4000 {
		signs := []string{"a", "b", "\n", "é", "\xff", "\r", "\r\n"}
		if i%2 == 0 {
			signs = signs[:5]
		}
		file := random(r, 40, signs...)
		old, text := random(r, 3, signs[:4]...), random(r, 4, signs[:4]...)
		if enc, err := sniff([]byte(file), true); old == "" || file == "" || err != nil || enc != utf8Plain && strings.Contains(old+text, "é") {
			continue
		}
		major := "\n"
		if c := strings.Count(file, "\r\n"); c > strings.Count(file, "\n")-c {
			major = "\r\n"
		}
		want, n := naively(file, old, text, major)
		if mixes(file, old) {
			continue
		}
		found += n
		for _, step := range []int64{0, 2, 6} {
			got, gotN, err := replaced(t, file, old, text, step)
			if n != gotN || err == nil && got != want {
				t.Fatalf("%q: %q -> %q, in steps of %d: %q (%d, %v), want %q (%d)", file, old, text, step, got, gotN, err, want, n)
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d were found", found)
	}
}

func mixes(file, old string) bool {
	for i := range file {
		if _, kinds := matchAt(file[i:], old); kinds == "m" {
			return true
		}
	}
	return false
}

// replaced replaces all of a text in a file that is not written, and says how often it
// was there. The file is in memory, or with a step looked at in windows.
func replaced(tb testing.TB, file, old, text string, step int64) (string, int, error) {
	tb.Helper()
	enc, err := sniff([]byte(file), true)
	if err != nil {
		return "", 0, err
	}
	p := &replacePlan{old: toLF([]byte(old)), new: toLF([]byte(text)), all: true}
	o := &original{content: content{mem: []byte(file), size: int64(len(file)), step: step}, plan: &p.editPlan}
	if step > 0 {
		o.file, o.mem = nopCloser{strings.NewReader(file)}, nil
	}
	rep := &replacement{original: o, plan: p, enc: enc, old: p.old}
	if err := rep.find(context.Background()); err != nil {
		return "", 0, err
	}
	var out bytes.Buffer
	fit := newFitter(rep)
	w := &rewriting{replacement: rep, fitter: fit}
	err = rep.scan(context.Background(), func(p piece) error {
		out.Write(p.raw)
		return nil
	}, func(p piece) error {
		a, err := w.around(p)
		if err != nil {
			return err
		}
		f, err := fit.of(p.text, a)
		out.Write(f.raw)
		return err
	})
	return out.String(), rep.count, err
}

type nopCloser struct{ io.ReaderAt }

func (nopCloser) Close() error { return nil }

// TestReplaceAsPython compares with Python's str.replace and str.count, bytes that are
// no UTF-8 being surrogates there.
func TestReplaceAsPython(t *testing.T) {
	t.Parallel()
	python := testenv.NeedTool(t, "python3")
	const script = `import json, sys
for line in sys.stdin:
    file, old, new = (bytes(x).decode("utf-8", "surrogateescape") for x in json.loads(line))
    out = file.replace(old, new).encode("utf-8", "surrogateescape")
    print(json.dumps([file.count(old), list(out)]))
`
	type round struct{ file, old, text string }
	var rounds []round
	var in bytes.Buffer
	r := rand.New(rand.NewPCG(6, 3))
	for len(rounds) < 5000 {
		c := round{
			random(r, 60, "a", "b", "\n", "é", "x\u0301", "\xff", "\xc3", "😀", "\t"),
			random(r, 4, "a", "b", "\n", "é", "😀"),
			random(r, 5, "a", "b", "\n", "é", "z"),
		}
		if enc, err := sniff([]byte(c.file), true); c.old == "" || c.file == "" || err != nil || enc != utf8Plain {
			// Latin-1 it would be, on its own; behind a head of UTF-8 it is not.
			c.file = strings.ToValidUTF8(c.file, "?")
		}
		if c.old == "" || c.file == "" {
			continue
		}
		rounds = append(rounds, c)
		line, err := json.Marshal([][]int{ints(c.file), ints(c.old), ints(c.text)})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", script)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	scan := bufio.NewScanner(bytes.NewReader(out))
	for _, c := range rounds {
		var want struct {
			count int
			text  []int
		}
		if !scan.Scan() || json.Unmarshal(scan.Bytes(), &[]any{&want.count, &want.text}) != nil {
			t.Fatalf("python said %q", scan.Text())
		}
		got, n, err := replaced(t, c.file, c.old, c.text, 0)
		if err != nil || n != want.count || got != chars(want.text) {
			t.Fatalf("%q: %q -> %q: %q (%d, %v), python says %q (%d)", c.file, c.old, c.text, got, n, err, chars(want.text), want.count)
		}
	}
}

func ints(s string) []int {
	out := make([]int, 0, len(s))
	for _, c := range []byte(s) {
		out = append(out, int(c))
	}
	return out
}

func chars(codes []int) string {
	out := make([]byte, 0, len(codes))
	for _, c := range codes {
		out = append(out, byte(c))
	}
	return string(out)
}

// TestReplaceEncodings replaces in files of each encoding and line ending, and checks
// every byte.
func TestReplaceEncodings(t *testing.T) {
	t.Parallel()
	for _, enc := range []encoding{utf8Plain, utf8BOM, utf16LE, utf16BE, latin1} {
		for ending, name := range map[string]string{"\n": abi.LineEndingLF, "\r\n": abi.LineEndingCRLF} {
			dir := realDir(t)
			as := func(s string) string { return raw(t, enc, strings.ReplaceAll(s, "\n", ending)) }
			path := write(t, dir, "f", as("é one\ntwo ü\n\nthree\n"))
			got, err := edit(t, capability.Scope{Cwd: dir}, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, "one\ntwo ü\n", "1\r\n2\nö\n")
			if want := as("é 1\n2\nö\n\nthree\n"); err != nil || slurp(t, path) != want {
				t.Errorf("%s, %q: %q, %v; want %q", enc, ending, slurp(t, path), err, want)
			}
			if got.Encoding != enc.String() || got.LineEnding != name || got.Added != 3 || got.Removed != 2 {
				t.Errorf("%s, %q: %+v", enc, ending, got)
			}
			_, err = edit(t, capability.Scope{Cwd: dir}, abi.CapFSWrite, abi.WriteArgs{Path: "f"}, "all\nnew é\n")
			if want := as("all\nnew é\n"); err != nil || slurp(t, path) != want {
				t.Errorf("%s, %q: %q, %v; want %q", enc, ending, slurp(t, path), err, want)
			}
		}
	}
}

// TestReplaceEndings replaces where the endings are of both kinds.
func TestReplaceEndings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, old, text, want string }{
		{"a\r\nb\nc\r\n", "a\nb\nc\n", "a\nx\ny\nc\n", "a\r\nx\r\ny\nc\r\n"},          // both kinds, of which most are CRLF ...
		{"a\nb\r\nc\r\n", "b\nc", "b\nx\nc", "b\r\nx\r\nc"},                           // ... one kind ...
		{"a\r\nb\nc\r\nz\r\n", "a\nb\nc\n", "a\nb\nnew\nc\n", "a\r\nb\nnew\r\nc\r\n"}, // ... or both again
		{"a\r\nb", "b", "b\nc", "b\r\nc"},                                             // or has none
		{"a\rb\r\n", "a\rb", "c", "c\r\n"},                                            // a CR alone is no ending
		{"a\r\n", "a\r", "c", ""},                                                     // and half of an ending is none
		{"a\r\n\nb", "\n\n", "\n", "a\nb"},
	} {
		got, n, err := replaced(t, c.file, c.old, c.text, 0)
		switch {
		case c.want == "" && n != 0:
			t.Errorf("%q: %q was found", c.file, c.old)
		case err != nil || c.want != "" && !strings.Contains(got, c.want):
			t.Errorf("%q: %q -> %q: %q, %v; want %q", c.file, c.old, c.text, got, err, c.want)
		}
	}
}

// TestReplaceLatin1 refuses what the encoding does not have, and says where.
func TestReplaceLatin1(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	path := write(t, dir, "f", "caf\xe9 au lait\n")
	for _, op := range [][]string{{abi.CapFSReplace, "au", "a\n €"}, {abi.CapFSWrite, "a\n €"}} {
		_, err := edit(t, capability.Scope{Cwd: dir}, op[0], abi.WriteArgs{Path: "f"}, op[1:]...)
		if abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), "U+20AC") || slurp(t, path) != "caf\xe9 au lait\n" {
			t.Errorf("%s: %v", op[0], err)
		}
	}
}

// TestReplaceWide checks that bytes of UTF-16 that are no text stay, and match nothing.
func TestReplaceWide(t *testing.T) {
	t.Parallel()
	file := "\xff\xfea\x00\x00\xd8b\x00\x3d\xd8\x00\xdec\x00!"
	got, n, err := replaced(t, file, "b😀", "x", 2)
	if want := "\xff\xfea\x00\x00\xd8x\x00c\x00!"; got != want || n != 1 || err != nil {
		t.Errorf("%q, %d, %v; want %q", got, n, err, want)
	}
	if _, n, _ := replaced(t, file, "a\ufffd", "x", 0); n != 0 {
		t.Error("half a pair was found")
	}
}

// TestReplaceWindows replaces in files that are looked at in windows, where the text
// lies across their borders, for each encoding.
func TestReplaceWindows(t *testing.T) {
	t.Parallel()
	for _, enc := range []encoding{utf8Plain, utf8BOM, utf16LE, utf16BE, latin1} {
		for step := int64(2); step < 40; step += 2 {
			file := strings.Repeat("é\r\n0“needle”\r\nin it", 20)
			if enc == latin1 {
				file = strings.NewReplacer("“", `"`, "”", `"`).Replace(file)
			}
			want := strings.NewReplacer("needle", "pin", "\nin it", "\nwithin it").Replace(file)
			got, n, err := replaced(t, raw(t, enc, file), "\"needle\"\nin", "\"pin\"\nwithin", step)
			if err != nil || n != 20 || got != raw(t, enc, want) {
				t.Fatalf("%s, in steps of %d: %q (%d, %v), want %q", enc, step, got, n, err, raw(t, enc, want))
			}
		}
	}
}

func raw(tb testing.TB, enc encoding, text string) string {
	tb.Helper()
	out, err := enc.encode([]byte(boms[enc]), []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

// TestReplaceMemory replaces in a large file, in memory that does not depend on it.
func TestReplaceMemory(t *testing.T) {
	dir := realDir(t)
	const size = 32 << 20
	line := strings.Repeat("some text of a log that is long ", 8) + "\n"
	file, err := os.Create(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	block := strings.Repeat(line, size/16/len(line))
	for range 16 {
		if _, err := file.WriteString(block); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := fmt.Fprint(file, "the end\n"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := edit(t, capability.Scope{Cwd: dir}, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, "the end", "THE END")
	runtime.ReadMemStats(&after)
	if err != nil || got.Added != 1 || got.Removed != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 6*windowSize {
		t.Errorf("it took %d MB of memory", used>>20)
	}
}

func TestReplaceHints(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	write(t, dir, "f", "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n")
	for old, want := range map[string]string{
		"func b() {\n    return 2\n}":            "at line 5 it is there with other spaces: the file is indented with tabs",
		"Func B()":                               "at line 5 it is there in another case",
		"func b() {\n\treturn 3\n}":              "line 5-5 are like",
		"     5\tfunc b() {\n     6\t\treturn 2": "without the line numbers",
		"nothing of this":                        "read the file again",
	} {
		want = strings.Replace(want, "line 5-5 are like", "lines 5-5 are like its first 1; then line 6 is \"\\treturn 2\", and the text has \"\\treturn 3\"", 1)
		_, err := edit(t, capability.Scope{Cwd: dir}, abi.CapFSReplace, abi.ReplaceArgs{Path: "f"}, old, "x")
		if abi.CodeOf(err) != abi.CodeNoMatch || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", old, err, want)
		}
	}
}
