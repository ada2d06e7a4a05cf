package ignore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file     string
		ignored  string // space-separated; a trailing slash is a directory
		included string
		none     string
	}{
		"name at any depth":      {"foo", "foo foo/ a/foo", "", "foobar a/bar"},
		"suffix":                 {"*.o", "a.o x/a.o .o", "", "a.oo"},
		"only directories":       {"build/", "build/ a/build/", "", "build"},
		"anchored":               {"/foo", "foo", "", "a/foo"},
		"middle slash anchors":   {"doc/frotz", "doc/frotz", "", "a/doc/frotz"},
		"anchored directory":     {"doc/frotz/", "doc/frotz/", "", "doc/frotz a/doc/frotz/"},
		"deep at the start":      {"**/foo/bar", "foo/bar a/foo/bar", "", "foo/x/bar"},
		"deep at the end":        {"abc/**", "abc/x abc/x/y", "", "abc"},
		"deep in the middle":     {"a/**/b", "a/b a/x/b a/x/y/b", "", "ab"},
		"star stops at slashes":  {"/foo/*", "foo/a foo/a/", "", "foo/a/b"},
		"comment":                {"#a", "", "", "#a a"},
		"escaped hash":           {`\#a`, "#a", "", "a"},
		"escaped bang":           {`\!a`, "!a", "", "a"},
		"negation":               {"*.log\n!keep.log", "a.log", "keep.log x/keep.log", "b"},
		"the last rule wins":     {"!a\na", "a", "", ""},
		"blank lines":            {"\n\n   \n", "", "", "a"},
		"trailing spaces":        {"a   ", "a", "", ""},
		"CRLF":                   {"a\r\nb\r\n", "a b", "", ""},
		"BOM":                    {"\xef\xbb\xbfa\n", "a", "", ""},
		"braces are themselves":  {"{a,b}", "{a,b}", "", "a b"},
		"class":                  {"*.[oa]", "x.o x.a", "", "x.b"},
		"an open bracket":        {"[a\nb", "b", "", "a [a"},
		"a slash alone":          {"/", "", "", "a a/"},
		"everything but":         {"/*\n!/foo", "a b/", "foo foo/", ""},
		"stars within are stars": {"a**b", "ab axb x/ab", "", "a/b"},
	} {
		r := Parse([]byte(c.file))
		for want, paths := range map[Verdict]string{Ignored: c.ignored, Included: c.included, None: c.none} {
			for p := range strings.FieldsSeq(paths) {
				path, dir := strings.CutSuffix(p, "/")
				if got := r.Match(path, dir); got != want {
					t.Errorf("%s: Match(%q) = %d, want %d", name, p, got, want)
				}
			}
		}
	}
}

func TestTrailingSpaces(t *testing.T) {
	t.Parallel()
	r := Parse([]byte(`a\ ` + "\n" + `b\\  ` + "\n"))
	for _, c := range []struct {
		path string
		want Verdict
	}{{"a ", Ignored}, {"a", None}, {`b\`, Ignored}} {
		if got := r.Match(c.path, false); got != c.want {
			t.Errorf("%q: %d, want %d", c.path, got, c.want)
		}
	}
}

func TestParseGlobs(t *testing.T) {
	t.Parallel()
	r, err := ParseGlobs([]string{"*.{go,rs}", "!x*"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]Verdict{"a.go": Ignored, "d/a.rs": Ignored, "x.go": Included, "a.c": None} {
		if got := r.Match(path, false); got != want {
			t.Errorf("%q: %d, want %d", path, got, want)
		}
	}
	if r.Plain() != 1 || r.Len() != 2 {
		t.Errorf("plain %d, all %d", r.Plain(), r.Len())
	}
	if _, err := ParseGlobs([]string{"a{"}); err == nil {
		t.Error("a broken glob must be an error")
	}
}

// TestAgainstGit asks git about the same files and rules.
func TestAgainstGit(t *testing.T) {
	t.Parallel()
	git := testenv.NeedTool(t, "git")
	rnd := rand.New(rand.NewPCG(1, 2))
	paths := []string{}
	dir := t.TempDir()
	run := func(stdin string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("", "init", "-q")
	for _, a := range []string{"a", "b", "ab", "a.c", "x"} {
		for _, b := range []string{"a", "b", "a.c", "x.o", "-b"} {
			for _, c := range []string{"a", "b", "ab.c", "[a]"} {
				paths = append(paths, a+"/"+b+"/"+c)
			}
		}
	}
	for _, p := range paths {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pieces := []string{"a", "b", "x", "*", "**/", "?", "/", "/", ".c", "[ab]", "[!a]", `\a`, "ab", "-", "**/", "/**"}
	for round := range 200 {
		var file bytes.Buffer
		for range 1 + rnd.IntN(4) {
			parts := make([]string, 1+rnd.IntN(5))
			for i := range parts {
				parts[i] = pieces[rnd.IntN(len(pieces))]
			}
			line := strings.Join(parts, "")
			// Against its manual, git takes the stars of "a**/b" for a deep
			// component, since it compares the text before them separately.
			if strings.Contains(strings.ReplaceAll("/"+line+"/", "/**/", "/"), "**") {
				continue
			}
			if rnd.IntN(4) == 0 {
				line = "!" + line
			}
			file.WriteString(line + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		out := run(strings.Join(paths, "\x00"), "check-ignore", "-z", "--stdin", "--no-index")
		want := map[string]bool{}
		for p := range strings.SplitSeq(out, "\x00") {
			want[p] = true
		}
		rules := Parse(file.Bytes())
		for _, p := range paths {
			if got := ignoredFromTop(rules, p); got != want[p] {
				t.Errorf("round %d: with %q, %q is ignored: %v; git says %v", round, file.String(), p, got, want[p])
			}
		}
		if t.Failed() {
			return
		}
	}
}

// ignoredFromTop asks as a walk does: what lies in an ignored directory is.
func ignoredFromTop(r *Rules, path string) bool {
	for i, c := range path {
		if c == '/' && r.Match(path[:i], true) == Ignored {
			return true
		}
	}
	return r.Match(path, false) == Ignored
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("*.o\n!keep.o\n/build/\n# c\n\\#x\n"), "a/b.o")
	f.Add([]byte("[[:alpha:]]*\n**/x/**\n"), "x/y")
	f.Fuzz(func(_ *testing.T, file []byte, path string) {
		Parse(file).Match(path, false)
	})
}

func BenchmarkMatch(b *testing.B) {
	var file bytes.Buffer
	for i := range 50 {
		fmt.Fprintf(&file, "name%d\n*.ext%d\n/dir%d/**/x\n", i, i, i)
	}
	r := Parse(file.Bytes())
	b.ReportAllocs()
	for b.Loop() {
		r.Match("some/directory/with/a/file.go", false)
	}
}
