package search

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// globRounds is how many patterns are compared; TOOLQUAY_GLOBS sets another number,
// for a long run.
func globRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TOOLQUAY_GLOBS")
	if text == "" {
		return testenv.Sample(600)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal("TOOLQUAY_GLOBS: ", err)
	}
	return n
}

// grove makes a tree of empty files whose names a glob could trip over.
func grove(t *testing.T, rnd *rand.Rand) string {
	t.Helper()
	dirs := []string{"a", "b", "ab", "a.b", ".h", "a-b", "[a]", "a b", "é"}
	files := []string{"a", "b", "ab", "a.go", "b.go", ".go", ".h", "a-b", "x{y}", "[a]", "a b", "é", "A", "!a", "#a"}
	pairs := []string{}
	for range 60 {
		path := []string{}
		for range rnd.IntN(4) {
			path = append(path, dirs[rnd.IntN(len(dirs))]+"d")
		}
		path = append(path, files[rnd.IntN(len(files))])
		pairs = append(pairs, strings.Join(path, "/"), "")
	}
	return tree(t, pairs...)
}

// randomGlob makes a pattern in the language that all sides share.
func randomGlob(rnd *rand.Rand) string {
	pieces := []string{"a", "b", ".", "d", "*", "*", "?", "[ab]", "[!a]", "[a-c]", "{a,b}", "{a,b*}", ".go", "-", "é", "{,.}h"}
	parts := make([]string, 1+rnd.IntN(3))
	for i := range parts {
		if rnd.IntN(4) == 0 && i < len(parts)-1 {
			parts[i] = "**"
			continue
		}
		for range 1 + rnd.IntN(3) {
			parts[i] += pieces[rnd.IntN(len(pieces))]
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "/"), "***", "**")
}

// sameToAll reports whether a pattern means the same everywhere. It does not where
// two stars stand beside something else in a component ("a**" is "a*" here, and
// fd refuses it), nor where the pattern names no entry ("." and "..", which bash
// takes for directories). Both are pinned by [TestGlobDifferences].
func sameToAll(pattern string) bool {
	for part := range strings.SplitSeq(pattern, "/") {
		if part != "**" && strings.Contains(part, "**") || strings.Trim(part, "{,}.") == "" {
			return false
		}
	}
	return true
}

// script answers each pattern of its standard input with the regular files that bash
// finds, and a line of two dashes.
const script = `shopt -s globstar dotglob nullglob; shopt -u extglob; IFS=
while read -r pattern; do
  eval "found=($pattern)"
  for f in "${found[@]}"; do [[ -f $f ]] && printf '%s\n' "$f"; done
  printf -- '--\n'
done`

func TestGlobAgainstBash(t *testing.T) {
	t.Parallel()
	bash := testenv.NeedTool(t, "bash")
	rnd := rand.New(rand.NewPCG(7, 8))
	const perTree = 150
	for range max(1, globRounds(t)/perTree) {
		root := grove(t, rnd)
		var patterns []string
		for len(patterns) < perTree {
			if p := randomGlob(rnd); sameToAll(p) {
				patterns = append(patterns, p)
			}
		}
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", script)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "BASH_ENV=")
		cmd.Stdin = strings.NewReader(strings.Join(patterns, "\n") + "\n")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		answers := strings.Split(string(out), "--\n")
		for i, p := range patterns {
			want := strings.Split(strings.TrimSuffix(answers[i], "\n"), "\n")
			slices.Sort(want)
			if got := globbed(t, root, p); got != strings.Join(slices.Compact(want), "\n") {
				t.Fatalf("%q:\ngot\n%s\nbash finds\n%s", p, got, answers[i])
			}
		}
	}
}

func TestGlobAgainstFd(t *testing.T) {
	t.Parallel()
	fd := fdProgram(t)
	rnd := rand.New(rand.NewPCG(9, 10))
	root := grove(t, rnd)
	for range globRounds(t) / 15 {
		p := randomGlob(rnd)
		if !sameToAll(p) || strings.ContainsAny(p, "?[") {
			continue // to fd these are one byte, not one code point
		}
		cmd := exec.CommandContext(t.Context(), fd, "--hidden", "--no-ignore", "--case-sensitive", "--type=f", "--full-path", "--glob", regexp.MustCompile(`[\[\]{}*?]`).ReplaceAllString(root, "?")+"/"+p)
		cmd.Dir = root
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || stderr.Len() > 0 || exit.ExitCode() != 1) {
			t.Fatalf("fd: %v %s", err, stderr.String())
		}
		want := strings.Split(strings.TrimSuffix(strings.ReplaceAll("\n"+string(out), "\n./", "\n"), "\n"), "\n")[1:]
		slices.Sort(want)
		if got := globbed(t, root, p); got != strings.Join(want, "\n") {
			t.Fatalf("%q:\ngot\n%s\nfd finds\n%s", p, got, strings.Join(want, "\n"))
		}
	}
}

// globbed lists what search.names finds, sorted.
func globbed(t *testing.T, root, pattern string) string {
	t.Helper()
	var found []string
	_, body, err := call(t, root, abi.CapSearchNames, abi.NamesArgs{Pattern: pattern}, all)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	for _, m := range regexp.MustCompile(`"path":"((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(body, -1) {
		found = append(found, m[1])
	}
	slices.Sort(found)
	return strings.Join(found, "\n")
}

// TestGlobDifferences pins where a glob means something else here than to fd or to
// bash; the package documentation says so.
func TestGlobDifferences(t *testing.T) {
	t.Parallel()
	root := tree(t, "ab", "", "a/b", "", ".git/config", "", "upper.GO", "")
	if err := os.Symlink("ab", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"a**":     "ab",                // bash: the same; fd refuses it
		"**":      "a/b\nab\nupper.GO", // bash: directories and links too
		"*":       "ab\nupper.GO",      // links are not listed
		"*.go":    "",                  // fd: in either case, unless told otherwise
		"a/":      "",                  // bash: the directory
		"./**/b":  "a/b",               // fd: nothing
		".git/*":  ".git/config",       // named, so it is searched
		"**/conf": "",
	} {
		if got := globbed(t, root, pattern); got != want {
			t.Errorf("%q: got %q, want %q", pattern, got, want)
		}
	}
}
