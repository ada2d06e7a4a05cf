package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// patternRounds is how many patterns are compared; TOOLQUAY_PATTERNS sets another
// number, for a long run.
func patternRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("TOOLQUAY_PATTERNS")
	if text == "" {
		return testenv.Sample(120)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal("TOOLQUAY_PATTERNS: ", err)
	}
	return n
}

// TestPatternsAgainstRipgrep asks both what random patterns match in random texts, in
// valid UTF-8 and not, with random options.
func TestPatternsAgainstRipgrep(t *testing.T) {
	t.Parallel()
	const texts, each = 60, 500
	var root, ended string
	g := &generator{old: isOld(t)}
	for round := range patternRounds(t) {
		if round%each == 0 {
			g.Rand = rand.New(rand.NewPCG(7, uint64(round)))
			pairs := g.texts(texts)
			root, ended = tree(t, pairs...), tree(t, end(pairs)...)
		}
		if a := g.request(); a.Multiline && g.old {
			comparePattern(t, ended, a)
		} else {
			comparePattern(t, root, a)
		}
		if t.Failed() {
			t.Fatal("round ", round)
		}
	}
}

// texts makes files with random texts, as pairs of a name and a text.
func (g *generator) texts(n int) []string {
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprintf("f%02d", i), g.text())
	}
	return pairs
}

// end adds a newline to texts that do not end with one.
func end(pairs []string) []string {
	for i := 1; i < len(pairs); i += 2 {
		pairs[i] = strings.TrimSuffix(pairs[i], "\n") + "\n"
	}
	return pairs
}

// comparePattern has both answer a request.
func comparePattern(t *testing.T, root string, a abi.ContentsArgs) {
	t.Helper()
	_, got, err := call(t, root, abi.CapSearchContents, a, all)
	out, refused := ripgrep(t, root, a)
	switch {
	case err != nil && !refused:
		t.Errorf("%+v is refused by us alone: %v\n%s", a, err, out)
	case err == nil && refused && isOld(t):
		return // it knows less
	case err == nil && refused:
		t.Errorf("%+v is refused by ripgrep alone: %s", a, out)
	case err != nil:
		return
	}
	want := strings.ReplaceAll(strings.ToValidUTF8(strings.ReplaceAll(out, "./", ""), "\uFFFD"), "\r\n", "\n")
	if a.Mode == abi.ModeFiles {
		got, want = sortLines(got), sortLines(want)
	}
	if got != want {
		t.Errorf("%+v\n%s", a, difference(got, want))
	}
}

// ripgrep is what it answers, or says where it refuses a pattern.
func ripgrep(t *testing.T, dir string, a abi.ContentsArgs) (text string, refused bool) {
	t.Helper()
	args := append([]string{"--no-config", "--no-heading", "--with-filename", "--color=never", "--sort=path"}, arguments(a)...)
	cmd := exec.CommandContext(t.Context(), testenv.NeedTool(t, "rg"), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode() == 2
}

// TestCountsAgainstRipgrep: across lines ripgrep counts matches, empty ones and those at
// ends of lines in a way of its own. All texts of up to four of three letters are asked.
func TestCountsAgainstRipgrep(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "rg")
	var pairs []string
	for n, texts := 0, []string{""}; n <= 4; n++ {
		var longer []string
		for _, text := range texts {
			pairs = append(pairs, fmt.Sprintf("f%04d", len(pairs)), text)
			for _, letter := range []string{"a", "é", "\n"} {
				longer = append(longer, text+letter)
			}
		}
		texts = longer
	}
	if isOld(t) {
		pairs = end(pairs)
	}
	root := tree(t, pairs...)
	patterns := []string{
		"", "a*", "^", "$", "^a|a$", "^$", `\n`, `\n?`, `a?\n`, `a?$`, `(?s).*`, `.`, `\s+`, `\s*`, "a|^", `a?\z`, `\z`, `a\n|$`, `\n|a`, "é*", `a*?`, `$\n?`,
	}
	if !isOld(t) { // which counts empty matches behind newlines that are matches
		patterns = append(patterns, `(?m)^\n?`)
	}
	for _, pattern := range patterns {
		for _, mode := range []string{abi.ModeCount, abi.ModeFiles, abi.ModeContent} {
			comparePattern(t, root, abi.ContentsArgs{Pattern: pattern, Mode: mode, Multiline: true, LineNumbers: true, Limit: 1_000_000})
			if t.Failed() {
				return
			}
		}
	}
}
