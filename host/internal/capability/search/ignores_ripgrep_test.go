package search

import (
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// ignoreRounds is how many trees are compared; TOOLQUAY_TREES sets another number, for
// a long run.
func ignoreRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TOOLQUAY_TREES")
	if text == "" {
		return testenv.Sample(40)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal("TOOLQUAY_TREES: ", err)
	}
	return n
}

// thicket makes pairs for [tree]: files that all hold a word, in directories of which
// some have ignore files, and some are repositories. Names are ASCII: to ripgrep "?" and
// "[!a]" are one byte, and not one code point.
type thicket struct {
	*rand.Rand
	pairs []string
	// nested says that a repository lies in another directory than the root.
	nested bool
}

func (k *thicket) pick(from ...string) string { return from[k.IntN(len(from))] }

func (k *thicket) grow(dir string, depth int) {
	for range 1 + k.IntN(4) {
		name := k.pick("a", "b", "c.go", "d.txt", ".h", ".h.go", "a b", "#x", "!y", "z ")
		k.pairs = append(k.pairs, path.Join(dir, "f"+name), "needle\n")
		if k.IntN(3) == 0 {
			k.pairs = append(k.pairs, path.Join(dir, name), "needle\n")
		}
	}
	for _, name := range []string{".gitignore", ".ignore"} {
		if k.IntN(3) == 0 {
			k.pairs = append(k.pairs, path.Join(dir, name), k.rules())
		}
	}
	switch k.IntN(8) {
	case 0, 1:
		k.pairs = append(k.pairs, path.Join(dir, ".git/HEAD"), "", path.Join(dir, ".git/info/exclude"), k.rules())
		k.nested = k.nested || dir != ""
	case 2:
		k.pairs = append(k.pairs, path.Join(dir, ".git/HEAD"), "")
		k.nested = k.nested || dir != ""
	}
	for i := range k.IntN(4) {
		if depth < 4 {
			k.grow(path.Join(dir, k.pick("da", "db", "dc.go", ".dh", "d b")+k.pick("", strconv.Itoa(i))), depth+1)
		}
	}
}

// rules is the text of an ignore file.
func (k *thicket) rules() string {
	var text strings.Builder
	for range 1 + k.IntN(4) {
		text.WriteString(k.pick("", "", "", "!"))
		text.WriteString(k.pick("", "", "", "/", "**/", "da/", "*/", "db/**/"))
		for range 1 + k.IntN(2) {
			text.WriteString(k.pick("f", "d", "a", "b", "*", "?", "[a-c]", "[!a]", ".go", ".h", `\a`))
		}
		text.WriteString(k.pick("", "", "", "", "/", "/*", "/**", " ", `\ `) + k.pick("\n", "\n", "\n", "\r\n", "\n#c\n", "\n\n"))
	}
	return text.String()
}

// Which files a search looks at is what ripgrep makes of the same ignore files, globs and
// types, from wherever it starts.
func TestIgnoresAgainstRipgrep(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "rg")
	for round := range ignoreRounds(t) {
		k := &thicket{Rand: rand.New(rand.NewPCG(uint64(round), 11))}
		k.grow("", 0)
		root := tree(t, k.pairs...)
		var globs []string
		for range k.IntN(3) * k.IntN(2) {
			globs = append(globs, k.pick("*.go", "!*.go", "fa", "!d?", "/fa", "da/**", "!.h*", "**/db/*", "f{a,b}", "!/da"))
		}
		a := abi.ContentsArgs{Pattern: "needle", Limit: 1_000_000, Globs: globs, Type: k.pick("", "", "", "go", "txt")}
		if dirs, err := os.ReadDir(root); err == nil && !k.nested {
			for _, d := range dirs {
				if d.IsDir() && d.Name() != ".git" {
					a.Path = d.Name()
				}
			}
		}
		_, got, err := call(t, root, abi.CapSearchContents, a, all)
		if err != nil {
			t.Fatal(err)
		}
		if want := sortLines(rg(t, root, append(arguments(a), "--files-with-matches")...)); sortLines(got) != want {
			t.Fatalf("round %d, globs %q, type %q, in %q\n%s\nof %q", round, globs, a.Type, a.Path, difference(sortLines(got), want), k.pairs)
		}
	}
}
