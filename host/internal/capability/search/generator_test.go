package search

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

// generator makes random patterns of Rust's dialect, texts that they may match, and
// requests.
type generator struct {
	*rand.Rand
	// ahead says that no piece looks behind: across lines ripgrep looks no further back
	// than where the last match ended.
	ahead bool
	// old says that it is ripgrep 13 that answers. Beside bytes that are no UTF-8 it
	// takes \B and (?-u:\b) for another thing than its later releases do, which we follow; it knows
	// no \< and \b{start}; it finds less where a pattern asks for starts of lines and
	// other such places at once; and across lines it finds nothing empty behind a last line
	// without a newline.
	old bool
}

// atoms are the parts of patterns that match something.
var atoms = []string{
	"a", "b", "k", "s", "S", "é", "σ", "foo", "bar", ".", `\w`, `\W`, `\d`, `\D`, `\s`, `\S`, "[ab]", "[^a]", `[\s\S]`, `[^\w\s]`, `[b-f]`,
	`\pL`, `\PL`, `\p{Greek}`, `\p{Lu}`, `[\p{Ll}_]`, `(?i:k)`, "(?-u:.)", `(?-u:\xff)`, `(?-u:\w)`, "(?s:.)", `\.`, " ", "[[:upper:]]",
	"[^[:alpha:]]", `\x61`, `[a-z&&[^b]]`, `[\w--k]`, `\x{e9}`, `\u{3c3}`, `\t`, `[]a]`, `[.*]`, `\*`, "ſ", "K", "oo b", "o",
}

// looks are the parts that match nothing, in some places.
var (
	looksBehind = []string{"^", `\b`, `\A`, "(?m:^)", "(?-m:^)"}
	looksNew    = []string{`\B`, `(?-u:\b)`, `\<`, `\b{start}`, `\b{end-half}`}
	looksAhead  = []string{"$", "$", `\z`, "(?m:$)", "(?-m:$)"}
)

// repeats are what may follow a piece. Ripgrep 13 counts in another way where something
// that asks for the end of the text is repeated 0 times.
var repeats = map[bool][]string{
	false: {"*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{0}"},
	true:  {"*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??"},
}

func (g *generator) pick(from []string) string { return from[g.IntN(len(from))] }

// pattern makes a pattern by a small grammar.
func (g *generator) pattern() string {
	flags := g.pick([]string{"", "", "", "", "", "(?i)", "(?s)", "(?m)", "(?x)", "(?U)", "(?-u)", "(?i-s)"})
	return flags + g.alternation(2)
}

func (g *generator) alternation(depth int) string {
	parts := make([]string, 1+g.IntN(3)*g.IntN(2))
	for i := range parts {
		parts[i] = g.sequence(depth)
	}
	return strings.Join(parts, "|")
}

func (g *generator) sequence(depth int) string {
	var b strings.Builder
	for range 1 + g.IntN(4) {
		b.WriteString(g.piece(depth))
		if g.IntN(3) == 0 {
			b.WriteString(g.pick(repeats[g.old]))
		}
	}
	return b.String()
}

func (g *generator) piece(depth int) string {
	switch n := g.IntN(12); {
	case depth > 0 && n < 3:
		return g.pick([]string{"(", "(?:", "(?P<n>", "(?i:", "(?s-i:"}) + g.alternation(depth-1) + ")"
	case n == 3 && g.ahead, n == 4:
		return g.pick(looksAhead)
	case n == 3 && !g.old && g.IntN(4) == 0:
		return g.pick(looksNew)
	case n == 3:
		return g.pick(looksBehind)
	}
	return g.pick(atoms)
}

// text makes a short text, not always of UTF-8.
func (g *generator) text() string {
	parts := []string{
		"a", "b", "foo", "bar", "K", "s", "ſ", "\u212a", "é", "É", "σ", "ς", " ", "\t", ".", "1", "٣", "\xff", "\xc3", "\n", "\n", "\n", "\r\n", "_", "*", "]", "\n\n",
	}
	var b strings.Builder
	for range g.IntN(40) {
		b.WriteString(g.pick(parts))
	}
	return b.String()
}

// request makes a request for all kinds of answers.
func (g *generator) request() abi.ContentsArgs {
	a := abi.ContentsArgs{
		Mode:            g.pick([]string{abi.ModeContent, abi.ModeContent, abi.ModeFiles, abi.ModeCount}),
		CaseInsensitive: g.IntN(3) == 0,
		Multiline:       g.IntN(3) == 0,
		LineNumbers:     g.IntN(3) > 0,
		Before:          max(0, g.IntN(5)-2),
		After:           max(0, g.IntN(5)-2),
		Limit:           1_000_000,
	}
	g.ahead = a.Multiline
	a.Pattern = g.pattern()
	for g.old && mixesLooks(a.Pattern) {
		a.Pattern = g.pattern()
	}
	if a.Multiline && a.Before+a.After > 0 {
		// Around a match behind the last newline ripgrep shows context, though not
		// the match: each has to have something.
		a.Pattern = "(?:" + a.Pattern + `)(?:\w|\n)`
	}
	return a
}

// mixesLooks reports whether a pattern asks for starts of lines, and for their ends or
// those of words.
func mixesLooks(with string) bool {
	with = strings.ReplaceAll(with, "[^", "[")
	return strings.Contains(with, "^") && (strings.Contains(with, "$") || strings.Contains(with, `\b`))
}

// isOld reports whether ripgrep is older than 14; see generator.
func isOld(t *testing.T) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.NeedTool(t, "rg"), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(out), " ")
	return strings.HasPrefix(version, "13.") || strings.HasPrefix(version, "12.")
}
