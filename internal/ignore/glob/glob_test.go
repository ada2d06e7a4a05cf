package glob

import (
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/toolquay/toolquay/internal/testenv"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		yes, no string // space-separated paths
	}{
		{"a", "a", "b a/a aa"},
		{"*", "a .hidden ab", "a/b"},
		{"*.go", "a.go .go", "a.goo a/b.go"},
		{"a*c*e", "ace abcde axxcyye", "ac aceb"},
		{"?", "a é", "ab"},
		{"a?c", "abc aéc", "ac a/c"},
		{"[abc]x", "ax bx", "dx x"},
		{"[!abc]x", "dx éx", "ax x"},
		{"[^a-c]x", "dx", "ax bx"},
		{"[]a]x", "]x ax", "bx"},
		{"[a-]x", "ax -x", "bx"},
		{`[\]]x`, "]x", `\x`},
		{"[[:digit:]]x", "1x", "ax"},
		{"[[:alpha:][:digit:]]", "a 1", "-"},
		{`\*`, "*", "a"},
		{`a\?`, "a?", "ab"},
		{"**", "a a/b a/b/c", ""},
		{"**/a", "a b/a c/b/a", "a/b ba"},
		{"a/**", "a/b a/b/c", "a ab/c"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "ab a/xb b"},
		{"a/**/b/**/c", "a/b/c a/x/b/y/c a/b/b/c", "a/c a/b/x"},
		{"**/a/**", "a/b x/a/b", "a x/a"},
		{"a**b", "ab axb", "a/b"},
		{"a/*/c", "a/b/c", "a/c a/b/b/c"},
		{"{a,b}", "a b", "c {a,b}"},
		{"*.{js,ts{,x}}", "a.js a.ts a.tsx", "a.jsx"},
		{"{src,lib/x}/**/*.go", "src/a.go lib/x/y/a.go", "lib/a.go"},
		{`\{a\}`, "{a}", "a"},
		{"[{]a", "{a", "a"},
		{"{a}", "a", "{a}"},
	} {
		g, err := Compile(c.pattern, Options{Braces: true})
		if err != nil {
			t.Errorf("Compile(%q): %v", c.pattern, err)
			continue
		}
		for p := range strings.FieldsSeq(c.yes) {
			if !g.Match(p) || !inDirectory(g, p) {
				t.Errorf("%q must match %q", c.pattern, p)
			}
		}
		for p := range strings.FieldsSeq(c.no) {
			if g.Match(p) || inDirectory(g, p) {
				t.Errorf("%q must not match %q", c.pattern, p)
			}
		}
	}
}

// inDirectory asks about a path by way of its directory.
func inDirectory(g *Glob, path string) bool {
	i := strings.LastIndexByte(path, '/')
	names := g.In(path[:max(0, i)])
	return names.Match(path[i+1:])
}

func TestMayContain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, dir string
		want         bool
	}{
		{"src/*/x.go", "", true},
		{"src/*/x.go", "src", true},
		{"src/*/x.go", "src/a", true},
		{"src/*/x.go", "src/a/b", false},
		{"src/*/x.go", "lib", false},
		{"**/x.go", "any/where", true},
		{"src/**", "lib", false},
		{"src/**", "src/a/b", true},
		{"*.go", "src", false},
		{"{a,b}/c", "b", true},
	} {
		g, err := Compile(c.pattern, Options{Braces: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.MayContain(c.dir); got != c.want {
			t.Errorf("%q.MayContain(%q) = %v, want %v", c.pattern, c.dir, got, c.want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pattern, want string }{
		"open bracket":   {"a[b", "not closed"},
		"open brace":     {"a{b", "not closed"},
		"backslash":      {`a\`, "backslash"},
		"unknown class":  {"[[:what:]]", "no class"},
		"doubling":       {strings.Repeat("{a,b}", 20), "more than 1000"},
		"nested":         {strings.Repeat("{", 100) + strings.Repeat("}", 100), "nest deeper"},
		"long":           {strings.Repeat("a", MaxPattern+1), "over the limit"},
		"wide and wider": {"{" + strings.Repeat("a,", 1200) + "}", "more than 1000"},
	} {
		if _, err := Compile(c.pattern, Options{Braces: true}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A pattern of stars must not take exponential time.
func TestMatchIsNotExponential(t *testing.T) {
	t.Parallel()
	g, err := Compile(strings.Repeat("**/*a*", 50)+"b", Options{})
	if err != nil {
		t.Fatal(err)
	}
	work := testenv.Work(func() {
		if g.Match(strings.Repeat("aaaaaaaaaa/", 300) + "c") {
			t.Error("must not match")
		}
	})
	if work > 2*time.Second {
		t.Errorf("took %v", work)
	}
}

// FuzzMatch compares with doublestar where both speak one language, and looks
// for panics everywhere else.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{
		{"**/*.go", "a/b.go"}, {"a/**/b", "a/b"}, {"{a,b}/*", "a/c"}, {"[a-c]?", "bx"}, {"*a*b*", "xaxbx"}, {"**/a/**/b", "a/a/b/b"},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := Compile(pattern, Options{Braces: true})
		if err != nil {
			return
		}
		got := g.Match(path)
		if got && !g.MayContain("") {
			t.Errorf("%q matches %q but may contain nothing", pattern, path)
		}
		if dir := path[:max(0, strings.LastIndexByte(path, '/'))]; got && !g.MayContain(dir) {
			t.Errorf("%q matches %q but not what is in %q", pattern, path, dir)
		}
		dir, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, name = path[:i], path[i+1:]
		}
		if in := g.In(dir); name != "" && !strings.HasPrefix(path, "/") && in.Match(name) != got {
			t.Errorf("%q: In(%q).Match(%q) is not %v", pattern, dir, name, got)
		}
		if !common(pattern) || !common(path) {
			return
		}
		if want, err := doublestar.Match(pattern, path); err == nil && want != got {
			t.Errorf("Match(%q, %q) = %v, doublestar says %v", pattern, path, got, want)
		}
	})
}

// common reports whether a text means the same to doublestar: there a deep
// component at the end matches nothing too, and classes differ.
func common(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("abc.*/?", r) {
			return false
		}
	}
	return !strings.HasSuffix(s, "**") && !strings.Contains(s, "//") && !strings.Contains(s, "***") &&
		!strings.HasPrefix(s, "/") && !strings.HasSuffix(s, "/") && s != "" && !strings.HasSuffix(s, "**/*")
}
