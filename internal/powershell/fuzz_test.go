package powershell

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// FuzzAnalyse holds what is true of the judgement on every text.
func FuzzAnalyse(f *testing.F) {
	for _, line := range verdictLines(f) {
		f.Add(line.command)
	}
	f.Fuzz(checkLaws)
}

// TestLaws holds the laws of the fuzz target on random commands.
func TestLaws(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range testenv.Sample(2000) {
		checkLaws(t, randomCommand(r))
	}
}

// somePieces are what random commands are made of: much that is read-only, and what
// must not be.
var somePieces = []string{
	"Get-ChildItem", "Get-Content", "gc", "Select-String", "Sort-Object", "Where-Object", "Set-Location", "cd", "Remove-Item", "rm",
	" a", " src", " .env", " -Recurse", " -Path", ":a", " 'a b'", ` "x"`, " $x", " 5", ",", ", b", " | ", " ; ", "\n", " && ", " > f",
	" 2>$null", " 2>&1", "(", ")", "{", "}", "$(", "`", "'", `"`, "‘", "–", "#", "::", "[int]", "@", "&", "--%", " --", " env:x", `\`,
	"iex", "pwsh -c", "sudo", "if", "\r", "\u202e",
}

func randomCommand(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(somePieces[r.IntN(10)])
	for range r.IntN(12) {
		b.WriteString(somePieces[r.IntN(len(somePieces))])
	}
	return b.String()
}

func checkLaws(t *testing.T, text string) {
	t.Helper()
	began := time.Now()
	c := Analyse(text, testPlace)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%.80q takes %v", text, took)
	}
	if c.Text != text || c.Reason == "" {
		t.Errorf("%q: text %q, reason %q", text, c.Text, c.Reason)
	}
	if !c.ReadOnly && c.Cwd != "" || c.Fault != "" && c.ReadOnly {
		t.Errorf("%q: fault %q, read-only %t, in %q", text, c.Fault, c.ReadOnly, c.Cwd)
	}
	checkForbidden(t, text, &c)
	for i := range c.Parts {
		checkPart(t, text, &c, &c.Parts[i])
	}
	if again := Analyse(text, testPlace); !reflect.DeepEqual(c, again) {
		t.Errorf("%q is judged in two ways:\n%+v\n%+v", text, c, again)
	}
	if c.ReadOnly && len(text) < shell.MaxBytes-100 {
		checkExtended(t, text)
	}
}

// checkForbidden holds that nothing is read-only in which there is a character that
// may run code: but in a string in single quotes, which is left out here where it is
// one for sure.
func checkForbidden(t *testing.T, text string, c *permissions.Command) {
	t.Helper()
	if !c.ReadOnly {
		return
	}
	bare := withoutStrings(text)
	bare = strings.NewReplacer("2>&1", "", "&&", "", "$null", "", "$NULL", "").Replace(bare)
	if strings.ContainsAny(bare, "{}()`@#[]<") || strings.Contains(bare, "::") || strings.ContainsFunc(text, shell.Hides) {
		t.Errorf("%q is read-only", text)
	}
	if strings.ContainsFunc(text, disguised) {
		t.Errorf("%q is read-only, with a quote or dash that is not one", text)
	}
	for _, p := range c.Parts {
		for _, w := range p.Words {
			if !w.Literal {
				t.Errorf("%q is read-only, with the word %q", text, w.Text)
			}
		}
	}
}

// withoutStrings leaves strings out, read without the lexer.
func withoutStrings(text string) string {
	var b strings.Builder
	var open rune
	for _, r := range text {
		switch {
		case open == 0 && (r == '\'' || r == '"'):
			open = r
		case open == 0:
			b.WriteRune(r)
		case r == open:
			open = 0
		}
	}
	return b.String()
}

func checkPart(t *testing.T, text string, c *permissions.Command, p *permissions.Part) {
	t.Helper()
	if c.ReadOnly && !p.Inner && !p.ReadOnly {
		t.Errorf("%q is read-only, but its part %v is not", text, p.Words)
	}
	if p.Reason == "" || p.Critical && p.Ask == "" || p.Redirected > len(p.Accesses) {
		t.Errorf("%q: the part %v lacks something: %+v", text, p.Words, p)
	}
	if p.ReadOnly != p.Complete || p.ReadOnly && p.Inner {
		t.Errorf("%q: the part %v is read-only %t, complete %t, inner %t", text, p.Words, p.ReadOnly, p.Complete, p.Inner)
	}
	for _, a := range p.Accesses {
		isPath := a.Kind == permissions.AccessRead || a.Kind == permissions.AccessWrite
		if isPath && (!strings.HasPrefix(a.Target, "/") || strings.Contains(a.Target, "/../") || strings.Contains(a.Target+"/", "//") && a.Target != "/") {
			t.Errorf("%q: the path %q is not absolute and clean", text, a.Target)
		}
		if p.ReadOnly && a.Kind != permissions.AccessRead {
			t.Errorf("%q: the part %v is read-only with %+v", text, p.Words, a)
		}
	}
}

// checkExtended holds that what is read-only is not so with something else in it.
func checkExtended(t *testing.T, text string) {
	t.Helper()
	for _, longer := range []string{
		text + "\nRemove-Item x", "Remove-Item x\n" + text, text + "; $(rm x)", text + "\n| % { $_ }", "{ " + text + " }", "& " + text,
		text + " -Foo", text + " > f", "$x = 1\n" + text,
	} {
		trimmed := strings.TrimSpace(strings.TrimRight(text, ";\n \t"))
		if c := Analyse(longer, testPlace); c.ReadOnly && trimmed != "" {
			t.Errorf("%q is read-only", longer)
		}
	}
}
