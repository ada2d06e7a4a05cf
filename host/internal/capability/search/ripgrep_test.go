package search

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// rg runs ripgrep as search.contents documents itself in its terms.
func rg(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.NeedTool(t, "rg"), append([]string{
		"--no-config", "--hidden", "--no-heading", "--with-filename", "--color=never", "--no-ignore-global", "--sort=path",
		"-g!.git", "-g!.hg", "-g!.svn", "-g!.bzr", "-g!.jj", "-g!.sl",
	}, args...)...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatalf("rg %q: %v", args, err)
	}
	return strings.ReplaceAll(string(out), "./", "")
}

// arguments writes a request as ripgrep's arguments.
func arguments(a abi.ContentsArgs) []string {
	var out []string
	add := func(when bool, args ...string) {
		if when {
			out = append(out, args...)
		}
	}
	add(a.Mode == abi.ModeFiles, "--files-with-matches")
	add(a.Mode == abi.ModeCount, "--count")
	add(a.Mode == abi.ModeContent && a.LineNumbers, "--line-number")
	add(a.Mode == abi.ModeContent && a.Before > 0, "-B", strconv.Itoa(a.Before))
	add(a.Mode == abi.ModeContent && a.After > 0, "-A", strconv.Itoa(a.After))
	add(a.CaseInsensitive, "--ignore-case")
	add(a.Multiline, "--multiline", "--multiline-dotall")
	add(a.Type != "", "--type="+a.Type)
	for _, g := range a.Globs {
		add(true, "--glob="+g)
	}
	add(true, "-e", a.Pattern)
	if a.Path != "" {
		return append(out, a.Path)
	}
	return append(out, ".")
}

// forest generates a tree of small files with ignore files in it.
func forest(t *testing.T, rnd *rand.Rand) string {
	t.Helper()
	words := []string{"foo", "bar", "Foo", "needle", "a", "b", "x_1", "{", "}", "(", ".", "\t", "é", "if", "func", "42"}
	names := []string{"a.go", "b.go", "c.rs", "d.txt", ".hidden.go", "e.log", "README.md", "f-g.py", "noext"}
	dirs := []string{".", "src", "src/deep", "src/deep/er", "build", ".config", "lib", "lib-2", "lib/vendor"}
	ignores := []string{"*.log", "build/", "/lib", "deep", "!e.log", "*.txt", "/src/*.go", "vendor/*", "!/src", "**/er", "lib*"}
	pairs := []string{".git/HEAD", "ref: refs/heads/main\n"}
	for _, d := range dirs {
		for _, n := range names {
			if rnd.IntN(4) == 0 {
				continue
			}
			var b strings.Builder
			for range rnd.IntN(25) {
				for range rnd.IntN(6) {
					b.WriteString(words[rnd.IntN(len(words))] + " ")
				}
				b.WriteByte('\n')
			}
			text := b.String()
			if rnd.IntN(5) == 0 {
				text = strings.TrimSuffix(text, "\n")
			}
			pairs = append(pairs, filepath.Join(d, n), text)
		}
		for _, n := range []string{".gitignore", ".ignore"} {
			if rnd.IntN(3) != 0 {
				continue
			}
			var lines []string
			for range 1 + rnd.IntN(2) {
				lines = append(lines, ignores[rnd.IntN(len(ignores))])
			}
			pairs = append(pairs, filepath.Join(d, n), strings.Join(lines, "\n")+"\n")
		}
	}
	return tree(t, pairs...)
}

func TestContentsAgainstRipgrep(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "rg")
	rnd := rand.New(rand.NewPCG(3, 4))
	patterns := []string{
		"foo", "needle", "fo+", `\bfoo\b`, "^a", "b $", "^$", "foo|bar", `\{`, `[^a-z ]+`, "(foo|bar) (a|b)", `x_\d`, "é",
		`^\s*if`, `a.b`, "(?i)FOO", `f\w+ b`, `.`, `a*`, `foo\s+bar`, `\.`, "[[:upper:]]oo",
	}
	globs := [][]string{nil, nil, {"*.go"}, {"!*.go"}, {"*.{go,rs}"}, {"src/**"}, {"*.go", "!b.go"}, {"!lib"}, {"**/deep/**"}, {"/src/*.go"}, {"e.log"}, {"lib-?/*"}}
	for round := range testenv.Sample(15) {
		root := forest(t, rnd)
		for range 12 {
			a := abi.ContentsArgs{
				Pattern:         patterns[rnd.IntN(len(patterns))],
				Globs:           globs[rnd.IntN(len(globs))],
				Mode:            []string{abi.ModeContent, abi.ModeContent, abi.ModeFiles, abi.ModeCount}[rnd.IntN(4)],
				LineNumbers:     rnd.IntN(2) == 0,
				Before:          max(0, rnd.IntN(5)-2),
				After:           max(0, rnd.IntN(5)-2),
				CaseInsensitive: rnd.IntN(4) == 0,
				Multiline:       rnd.IntN(4) == 0,
				Type:            []string{"", "", "", "go", "rust", "md"}[rnd.IntN(6)],
				Path:            []string{"", "", "src", "lib", "src/deep"}[rnd.IntN(5)],
				Limit:           1_000_000,
			}
			if _, err := os.Stat(filepath.Join(root, a.Path)); err != nil {
				continue
			}
			if a.Multiline && a.Pattern == "^$" {
				continue // there ripgrep shows context of a line behind the last
			}
			want := rg(t, root, arguments(a)...)
			ok, got, err := call(t, root, abi.CapSearchContents, a, all)
			if err != nil {
				t.Fatalf("%+v: %v", a, err)
			}
			if a.Mode == abi.ModeFiles {
				got, want = sortLines(got), sortLines(want)
			}
			if got != want {
				t.Fatalf("round %d, %+v\n%s", round, a, difference(got, want))
			}
			if c, _ := ok.(abi.ContentsOK); c.Entries != strings.Count(want, "\n") {
				t.Errorf("%+v for %d lines", c, strings.Count(want, "\n"))
			}
		}
	}
}

func TestNamesAgainstRipgrep(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "rg")
	rnd := rand.New(rand.NewPCG(5, 6))
	for range testenv.Sample(10) {
		root := forest(t, rnd)
		for _, c := range []struct {
			pattern string
			ignore  bool
		}{
			{"**", true}, {"**", false}, {"**/*.go", true}, {"src/**/*.go", false}, {"*.md", true}, {"**/deep/*", false}, {"{src,lib}/*.rs", true}, {"*/a.go", false},
		} {
			args := []string{"--files"}
			if !c.ignore {
				args = append(args, "--no-ignore")
			}
			got, _, err := names(t, root, abi.NamesArgs{Pattern: c.pattern, Ignore: c.ignore}, all)
			if err != nil {
				t.Fatal(err)
			}
			// A glob given to rg would have more weight than ignore files, so
			// its list is filtered here, by that glob in a copy that ignores
			// nothing.
			want := sortLines(rg(t, root, args...))
			filtered := sortLines(rg(t, root, "--files", "--no-ignore", "--glob=/"+c.pattern))
			want = strings.Join(intersect(strings.Split(want, "\n"), strings.Split(filtered, "\n")), "\n")
			if got := strings.TrimSuffix(sortLines(strings.ReplaceAll(got, " ", "\n")+"\n"), "\n"); got != strings.TrimSuffix(want, "\n") {
				t.Fatalf("%+v in %s:\ngot\n%s\nwant\n%s", c, root, got, want)
			}
		}
	}
}

// difference shows where two texts part.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	n := 0
	for n < min(len(g), len(w)) && g[n] == w[n] {
		n++
	}
	part := func(lines []string) string {
		return strings.Join(lines[max(0, n-3):min(len(lines), n+4)], "\n")
	}
	return "got\n" + part(g) + "\nwant\n" + part(w)
}

func sortLines(text string) string {
	if text == "" || text == "\n" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func intersect(a, b []string) []string {
	var out []string
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}
