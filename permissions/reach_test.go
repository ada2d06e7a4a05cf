package permissions_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// form is a line of testdata/reach: a command with places to fill, and the verdict
// that a deny rule on what is put there must lead to: Deny, or Ask at least.
type form struct {
	at, text string
	want     permissions.Verdict
}

func forms(tb testing.TB, name string) []form {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/reach", name))
	if err != nil {
		tb.Fatal(err)
	}
	var out []form
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verdict, rest, ok := strings.Cut(line, ": ")
		f := form{at: fmt.Sprintf("%s:%d", name, i+1), text: rest}
		switch verdict {
		case "deny":
			f.want = permissions.Deny
		case "ask":
			f.want = permissions.Ask
		case "allow":
			f.want = permissions.Allow
		default:
			ok = false
		}
		if !ok {
			tb.Fatalf("%s: %q names no verdict", f.at, line)
		}
		out = append(out, f)
	}
	return out
}

// fill puts a command into a form: as words, and as one quoted word.
func (f form) fill(inner form) form {
	out := form{at: f.at + " " + inner.at, want: f.want}
	if strings.Contains(f.text, "CMD") || strings.Contains(f.text, "TEXT") {
		out.want = min(f.want, inner.want)
	}
	quoted := "'" + strings.ReplaceAll(inner.text, "'", `'\''`) + "'"
	out.text = strings.ReplaceAll(strings.ReplaceAll(f.text, "TEXT", quoted), "CMD", inner.text)
	return out
}

// plain reports whether a form can stand where words of a simple command can.
func (f form) plain() bool {
	first, _, _ := strings.Cut(f.text, " ")
	return !strings.ContainsAny(f.text, "|&;(){}<>!") && !strings.ContainsAny(first, "=") && first != "time"
}

// joins reports whether a form has words joined before a shell reads them: quotes in
// them are then those of another text.
func (f form) joins() bool {
	first, _, _ := strings.Cut(f.text, " ")
	return slices.Contains([]string{"ssh", "watch", "eval", "rsh"}, first) && strings.Contains(f.text, "CMD")
}

// holders are policies in which all is allowed but for what one rule holds back.
func holders(tb testing.TB, deny string) (denying, asking []*permissions.Policy) {
	tb.Helper()
	for _, base := range []string{"allow Bash", "mode bypassPermissions"} {
		denying = append(denying, compile(tb, setupFor(tb, base+" ; deny "+deny)))
		asking = append(asking, compile(tb, setupFor(tb, base+" ; ask "+deny)))
	}
	return denying, asking
}

// reaches checks that a command meets its verdict: with a rule that denies, and no
// less than Ask with one that asks.
func reaches(t *testing.T, f form, denying, asking []*permissions.Policy) {
	t.Helper()
	r := parseRequest("$ " + f.text)
	for _, p := range denying {
		d := permissions.Decide(p, r, permissions.Evidence{})
		if f.want == permissions.Allow && d.Verdict != permissions.Allow || f.want.Worse(d.Verdict) {
			t.Errorf("%s: %s: %s, want %s: %s", f.at, f.text, d.Verdict, f.want, d.Reason())
			return
		}
	}
	for _, p := range asking {
		if f.want != permissions.Allow && verdict(p, r) != permissions.Ask {
			t.Errorf("%s: %s: %s with a rule that asks", f.at, f.text, verdict(p, r))
			return
		}
	}
}

// Every way to start a program that the file of forms knows, with every spelling of
// the program, is held back by a rule on the program.
func TestDenyReachesThroughWrappers(t *testing.T) {
	t.Parallel()
	denying, asking := holders(t, "Bash(rm:*)")
	spellings := forms(t, "spellings.txt")
	for _, f := range forms(t, "programs.txt") {
		for _, s := range spellings {
			reaches(t, f.fill(s), denying, asking)
		}
	}
}

// Wrappers in wrappers, three deep, hold as one does.
func TestDenyReachesThroughNestedWrappers(t *testing.T) {
	t.Parallel()
	denying, asking := holders(t, "Bash(rm:*)")
	all, spellings := forms(t, "programs.txt"), forms(t, "spellings.txt")
	var plain []form
	for _, f := range all {
		if f.plain() && !f.joins() {
			plain = append(plain, f)
		}
	}
	g := gen{rand.New(rand.NewPCG(16, 5))}
	for range testenv.Sample(*lawCases / 4) {
		inner := pick(g, spellings)
		for range 1 + g.IntN(2) {
			inner = pick(g, plain).fill(inner)
		}
		if outer := pick(g, all); !outer.joins() {
			reaches(t, outer.fill(inner), denying, asking)
		}
		if t.Failed() {
			return
		}
	}
}

// Every way to a host that the file of forms knows is held back by a rule on the
// host, and one that nobody knows before it runs is asked for where there is such a
// rule.
func TestDenyReachesHosts(t *testing.T) {
	t.Parallel()
	denying, asking := holders(t, "WebFetch(domain:evil.example)")
	wrappers := forms(t, "programs.txt")
	g := gen{rand.New(rand.NewPCG(16, 6))}
	for _, f := range forms(t, "hosts.txt") {
		reaches(t, f, denying, asking)
		if first, _, _ := strings.Cut(f.text, " "); f.want == permissions.Allow || strings.Contains(first, "=") {
			continue // a variable that is set stands at the start alone
		}
		for range 5 {
			w := pick(g, wrappers)
			if !strings.Contains(w.text, "CMD") && !strings.Contains(w.text, "TEXT") || w.want != permissions.Deny ||
				!f.plain() && !strings.Contains(w.text, "TEXT") {
				continue
			}
			reaches(t, w.fill(f), denying, asking)
		}
	}
}

// Without a rule on hosts nothing is asked for the sake of one.
func TestHostsAreNotAskedForWithoutRules(t *testing.T) {
	t.Parallel()
	p := compile(t, setupFor(t, "allow Bash ; allow WebFetch(domain:evil.example)"))
	for _, f := range forms(t, "hosts.txt") {
		// Any rule leaves these to a person: what they name is not sure to be a host.
		if slices.ContainsFunc([]string{"me@evil", "ftp://evil", "--resolve", "--connect-to", "{evil", "[e-f]"}, func(part string) bool {
			return strings.Contains(f.text, part)
		}) {
			continue
		}
		d := permissions.Decide(p, parseRequest("$ "+f.text), permissions.Evidence{})
		if d.Verdict != permissions.Allow && (strings.Contains(d.Reason(), "host") || d.Layer == permissions.LayerNetwork) {
			t.Errorf("%s: %s: %s: %s", f.at, f.text, d.Verdict, d.Reason())
		}
	}
}
