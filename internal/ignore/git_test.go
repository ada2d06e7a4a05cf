package ignore

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// gitRounds is how many trees are compared; TOOLQUAY_IGNORES sets another number, for a
// long run.
func gitRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TOOLQUAY_IGNORES")
	if text == "" {
		return 30
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal("TOOLQUAY_IGNORES: ", err)
	}
	return n
}

// repository is a random tree with random ignore files in its directories.
type repository struct {
	*rand.Rand
	root  string
	files []string          // their paths
	rules map[string]*Rules // of each directory that has an ignore file; "" is the root
	texts map[string]string // of those
}

func (r *repository) pick(from ...string) string { return from[r.IntN(len(from))] }

// name makes a name that is odd at times, of ASCII: to git "?" and "[!a]" are one byte.
func (r *repository) name() string {
	if r.IntN(8) == 0 {
		return r.pick(" a", "a ", "#a", "!a", "[a]", "a*", `a\b`, "a?", "-", "a.b.c", "...", "{a}", "A", "~", "a\tb", "\x7f")
	}
	return r.pick("", "", "x", ".") + r.pick("a", "b", "ab", "c") + r.pick("", "", ".c", ".o", "1")
}

// line makes a line of an ignore file, mostly one that names something in the tree.
func (r *repository) line() string {
	if r.IntN(12) == 0 {
		return r.pick("", "#a", `\#a`, "!", "/", "//", "!/", "   ", `a\ `, `a\`, "[", "[a", "[]a]*", "[!a]", "[^a]*", "[a-", `[\]]`, "**", "/**", "**/", "a/", "[z-a]", "[[:alpha:]]", "[[:digit:]a]*", `\!a`, "!!a", "a ", "/*/", "*/*", "?*", "**/*.c")
	}
	var b strings.Builder
	b.WriteString(r.pick("", "", "", "", "!"))
	b.WriteString(r.pick("", "", "", "/", "**/"))
	for i := range 1 + r.IntN(3)*r.IntN(2) {
		if i > 0 {
			b.WriteString(r.pick("/", "/", "/**/"))
		}
		b.WriteString(r.pick("*", "a*", "?", "[ab]", "[!x]*", "*.c", "*.?", ".*", `\a`, "a", "b", r.name(), r.name(), r.name(), r.name(), r.pick(r.files...)))
	}
	b.WriteString(r.pick("", "", "", "/", "/**", "/*", " ", "\r"))
	return b.String()
}

// grow makes files below a directory.
func (r *repository) grow(t *testing.T, dir string, depth int) {
	t.Helper()
	at := filepath.Join(r.root, filepath.FromSlash(dir))
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 1 + r.IntN(5) {
		name := r.name()
		below := path.Join(dir, name)
		if _, err := os.Lstat(filepath.Join(r.root, below)); err == nil {
			continue
		}
		if depth < 3 && r.IntN(3) == 0 {
			r.grow(t, below, depth+1)
			continue
		}
		if err := os.WriteFile(filepath.Join(at, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r.files = append(r.files, below)
	}
	if dir == "" || r.IntN(4) == 0 {
		r.ignore(t, dir)
	}
}

// ignore gives a directory an ignore file.
func (r *repository) ignore(t *testing.T, dir string) {
	t.Helper()
	var lines []string
	for range 1 + r.IntN(5) {
		if line := r.line(); asWritten(line) {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n") + r.pick("", "\n")
	if err := os.WriteFile(filepath.Join(r.root, filepath.FromSlash(dir), ".gitignore"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.texts[dir], r.rules[dir] = text, Parse([]byte(text))
}

// asWritten reports whether git takes a line as its manual has it. The stars of "a**/b"
// it takes for a deep component, since it compares the text before them separately.
func asWritten(line string) bool {
	return !strings.Contains(strings.ReplaceAll("/"+strings.TrimPrefix(strings.Trim(line, " \r"), "!")+"/", "/**/", "//"), "**")
}

// ignored asks as a walk does, from the top down: what lies in an ignored directory is,
// and of the ignore files that speak of a path the nearest decides.
func (r *repository) ignored(file string) bool {
	for i, c := range file + "/" {
		if c == '/' && r.names(file[:i], i < len(file)) {
			return true
		}
	}
	return false
}

// names reports whether the ignore files above a path name it.
func (r *repository) names(file string, dir bool) bool {
	for at := path.Dir(file); ; at = path.Dir(at) {
		if at == "." {
			at = ""
		}
		verdict := r.rules[at].Match(strings.TrimPrefix(strings.TrimPrefix(file, at), "/"), dir)
		if verdict != None || at == "" {
			return verdict == Ignored
		}
	}
}

// TestTreesAgainstGit has git say which files of random trees are ignored.
func TestTreesAgainstGit(t *testing.T) {
	t.Parallel()
	git := testenv.NeedTool(t, "git")
	testenv.Permitted(t, testenv.Unix) // for the names
	all, ignored := 0, 0
	for round := range gitRounds(t) {
		r := &repository{
			Rand: rand.New(rand.NewPCG(uint64(round), 5)), root: t.TempDir(),
			files: []string{"a"}, rules: map[string]*Rules{}, texts: map[string]string{},
		}
		r.grow(t, "", 0)
		r.files = r.files[1:]
		if out, err := r.git(t, git, "", "init", "-q"); err != nil {
			t.Fatal(err, out)
		}
		out, err := r.git(t, git, strings.Join(r.files, "\x00"), "check-ignore", "-z", "--stdin", "--no-index")
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for file := range strings.SplitSeq(out, "\x00") {
			want[file] = true
		}
		for _, file := range r.files {
			if all++; want[file] {
				ignored++
			}
			if got := r.ignored(file); got != want[file] {
				t.Fatalf("round %d: %q is ignored: %v; git says %v, of %q", round, file, got, want[file], r.texts)
			}
		}
	}
	if ignored < all/10 || ignored > all*9/10 {
		t.Errorf("of %d files %d are ignored: that tells little", all, ignored)
	}
}

// git runs git in the tree, with no settings of anybody's.
func (r *repository) git(t *testing.T, program, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.Output()
	return string(out), err
}
