package permissions_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

func TestVerdictLaws(t *testing.T) {
	t.Parallel()
	all := []permissions.Verdict{permissions.None, permissions.Allow, permissions.Ask, permissions.Deny}
	for _, a := range all {
		if a.Join(a) != a || permissions.None.Join(a) != a || permissions.Deny.Join(a) != permissions.Deny {
			t.Errorf("%s: not idempotent, or wrong at the ends", a)
		}
		for _, b := range all {
			if a.Join(b) != b.Join(a) {
				t.Errorf("%s, %s: join does not commute", a, b)
			}
			if a != b && a.Worse(b) == b.Worse(a) || a.Worse(a) {
				t.Errorf("%s, %s: the order is not total", a, b)
			}
			if a.Worse(b) && a.Join(b) != a {
				t.Errorf("%s, %s: join is not the stricter", a, b)
			}
			for _, c := range all {
				if a.Join(b).Join(c) != a.Join(b.Join(c)) {
					t.Errorf("%s, %s, %s: join does not associate", a, b, c)
				}
			}
		}
	}
	for _, v := range all {
		text, _ := v.MarshalText()
		var back permissions.Verdict
		if err := back.UnmarshalText(text); err != nil || back != v {
			t.Errorf("%s: read back as %s, %v", v, back, err)
		}
	}
	if new(permissions.Verdict).UnmarshalText([]byte("maybe")) == nil {
		t.Error("maybe is a verdict")
	}
}

// The words random cases are made of: few, so that rules and requests meet.
var (
	someNames = []string{"a", "b", ".env", "src", "x.go", ".git", ".ssh"}
	someParts = []string{"a", "b", ".env", "src", "*", "**", "?", "*.go", "[ab]", "..", ".git"}
	someHeads = []string{"", "", "./", "/", "//", "//ws/proj/", "~/", "../"}
	someTools = []string{"Read", "Edit", "Write", "Grep", "Tool", "mcp__s__t", "mcp__s"}
	someDirs  = []string{"/ws/proj/", "/ws/lib/", "/home/u/", "/etc/", "/var/s1/", "/"}

	someCommands = []string{
		"ls", "cat a", "cat /etc/a", "make", "make all", "make $X", "git push", "git push main", "git $X", "rm a", "rm /etc",
		"touch src/a", "touch /etc/a", "tee a", "sudo make", "timeout 5 make", "env rm a", "X=1 make", "LANG=C make", "/bin/rm a",
		"curl example.com", "curl localhost", "curl a.example.com", "askme", "doom", "make > a", "cat .env", "python x", "make ((",
	}
	someCommandRules = []string{
		"ls", "ls:*", "cat *", "make", "make:*", "make all", "git push:*", "git *", "git * main", "rm:*", "rm a", "touch *",
		"tee:*", "sudo make", "env:*", "X=1 make", "curl:*", "*", "m*", "* all", "make && ls", "python:*", "askme", ":*", "$X",
	}
	someHosts = []string{
		"example.com", "https://example.com/x", "http://a.example.com", "localhost:80", "http://0x7f.1", "10.0.0.1",
		"https://a@example.com", "https://example.com.", "ftp://example.com", "https://exаmple.com",
	}
	someHostRules = []string{"example.com", "*.example.com", "localhost", "127.0.0.1", "*", "10.0.0.1"}
)

var modes = []permissions.Mode{
	permissions.ModeDefault, permissions.ModePlan, permissions.ModeAcceptEdits, permissions.ModeAuto,
	permissions.ModeBypass, permissions.ModeDontAsk,
}

type gen struct{ *rand.Rand }

func pick[T any](g gen, from []T) T { return from[g.IntN(len(from))] }

func (g gen) path() string {
	var path strings.Builder
	path.WriteString(pick(g, someDirs))
	for range g.IntN(3) {
		path.WriteString(pick(g, someNames) + "/")
	}
	return path.String() + pick(g, someNames)
}

func (g gen) rule() string {
	switch g.IntN(6) {
	case 0, 1:
		if g.IntN(8) == 0 {
			return "Bash"
		}
		return "Bash(" + pick(g, someCommandRules) + ")"
	case 2:
		if g.IntN(8) == 0 {
			return "WebFetch"
		}
		return "WebFetch(domain:" + pick(g, someHostRules) + ")"
	}
	tool := pick(g, someTools)
	if g.IntN(4) == 0 {
		return tool
	}
	var rule strings.Builder
	rule.WriteString(tool + "(" + pick(g, someHeads) + pick(g, someParts))
	for range g.IntN(3) {
		rule.WriteString("/" + pick(g, someParts))
	}
	if g.IntN(8) == 0 {
		rule.WriteByte('/')
	}
	return rule.String() + ")"
}

// sets returns rules of every source. Only lists that compile are kept.
func (g gen) sets() []permissions.RuleSet {
	var sets []permissions.RuleSet
	for kind := permissions.SourcePolicy; kind <= permissions.SourceUser; kind++ {
		set := permissions.RuleSet{Source: kind}
		for range g.IntN(3) {
			rule := permissions.RuleTexts(g.rule())
			switch g.IntN(3) {
			case 0:
				set.Deny = append(set.Deny, rule...)
			case 1:
				set.Ask = append(set.Ask, rule...)
			default:
				set.Allow = append(set.Allow, rule...)
			}
		}
		sets = append(sets, set)
	}
	return sets
}

// command joins random commands.
func (g gen) command() string {
	list := make([]string, 1+g.IntN(3))
	for i := range list {
		list[i] = pick(g, someCommands)
	}
	return strings.Join(list, " && ")
}

// run returns a request to run a command.
func run(tool, text string) permissions.Request {
	c := facts(text)
	return permissions.Request{
		Tool: tool, Effects: permissions.EffectsListed, Commands: []permissions.Command{c}, Accesses: c.Accesses(),
	}
}

func (g gen) request() permissions.Request {
	switch g.IntN(4) {
	case 0:
		return run(pick(g, []string{"Bash", "Bash", "Run"}), g.command())
	case 1:
		return permissions.Request{
			Tool: pick(g, []string{"WebFetch", "Tool"}), Effects: permissions.EffectsListed,
			Accesses: []permissions.Access{{Kind: permissions.AccessNet, Target: pick(g, someHosts)}},
		}
	}
	r := permissions.Request{Tool: pick(g, someTools), Effects: permissions.Effects(g.IntN(3))}
	for range g.IntN(3) {
		a := permissions.Access{Kind: permissions.AccessRead, Target: g.path(), Tree: g.IntN(6) == 0}
		a.Real = a.Target
		if g.IntN(3) == 0 {
			a.Real = g.path()
		}
		if g.IntN(2) == 0 {
			a.Kind = permissions.AccessWrite
		}
		r.Accesses = append(r.Accesses, a)
	}
	return r
}

func (g gen) setup() permissions.Setup {
	s := testSetup()
	s.Rules = g.sets()
	s.FoldCase = g.IntN(4) == 0
	if g.IntN(2) == 0 {
		s.Mode = pick(g, modes)
	}
	return s
}

// law checks a property on many random cases.
func law(t *testing.T, holds func(g gen) bool) {
	t.Helper()
	t.Parallel()
	err := quick.Check(func(seed uint64) bool {
		return holds(gen{rand.New(rand.NewPCG(seed, 0))})
	}, &quick.Config{MaxCount: testenv.Sample(*lawCases / requestsPerPolicy)})
	if err != nil {
		t.Error(err)
	}
}

// lawCases is how many requests a law is tried on, where CI is set.
var lawCases = flag.Int("laws", 20_000, "on how many random requests each law is tried; a million is thorough")

// requestsPerPolicy spares compiling: each policy meets so many requests.
const requestsPerPolicy = 20

func verdict(p *permissions.Policy, r permissions.Request) permissions.Verdict {
	return permissions.Decide(p, r, permissions.Evidence{}).Verdict
}

// each compares two policies on random requests.
func (g gen) each(before, after *permissions.Policy, ok func(v, w permissions.Verdict) bool) bool {
	for range requestsPerPolicy {
		r := g.request()
		if !ok(verdict(before, r), verdict(after, r)) {
			return false
		}
	}
	return true
}

func (g gen) compileBoth(a, b permissions.Setup) (p, q *permissions.Policy, ok bool) {
	p, _, err := permissions.Compile(a)
	if err != nil {
		return nil, nil, false // a random deny like **/.. is malformed
	}
	q, _, err = permissions.Compile(b)
	return p, q, err == nil
}

func TestAddedDenyOrAskNeverWeakens(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		stricter := s
		stricter.Rules = slices.Clone(s.Rules)
		set := &stricter.Rules[g.IntN(len(s.Rules))]
		if g.IntN(2) == 0 {
			set.Deny = slices.Concat(set.Deny, permissions.RuleTexts(g.rule()))
		} else {
			set.Ask = slices.Concat(set.Ask, permissions.RuleTexts(g.rule()))
		}
		p, q, ok := g.compileBoth(s, stricter)
		return !ok || g.each(p, q, func(v, w permissions.Verdict) bool { return !v.Worse(w) })
	})
}

func TestAddedAllowNeverTightensNorBeatsDenyOrAsk(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		looser := s
		looser.Rules = slices.Clone(s.Rules)
		set := &looser.Rules[g.IntN(len(s.Rules))]
		set.Allow = slices.Concat(set.Allow, permissions.RuleTexts(g.rule()))
		p, q, ok := g.compileBoth(s, looser)
		if !ok {
			return true
		}
		for range requestsPerPolicy {
			r := g.request()
			d := permissions.Decide(p, r, permissions.Evidence{})
			// What is asked in dontAsk, and local hosts, are there to be allowed.
			fixed := d.Verdict == permissions.Deny && !d.Headless && d.Layer != permissions.LayerNetwork
			if w := verdict(q, r); w.Worse(d.Verdict) || fixed && w != permissions.Deny {
				t.Logf("%+v: %s, then %s", r, d.Verdict, w)
				return false
			}
		}
		return true
	})
}

func TestOrderNeverMatters(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		shuffled := s
		shuffled.Rules = slices.Clone(s.Rules)
		for i := range shuffled.Rules {
			set := &shuffled.Rules[i]
			for _, list := range []*[]permissions.RuleText{&set.Deny, &set.Ask, &set.Allow} {
				*list = slices.Clone(*list)
				g.Shuffle(len(*list), func(a, b int) { (*list)[a], (*list)[b] = (*list)[b], (*list)[a] })
			}
		}
		g.Shuffle(len(shuffled.Rules), func(a, b int) {
			shuffled.Rules[a], shuffled.Rules[b] = shuffled.Rules[b], shuffled.Rules[a]
		})
		p, q, ok := g.compileBoth(s, shuffled)
		return !ok || g.each(p, q, func(v, w permissions.Verdict) bool { return v == w })
	})
}

// Which source a rule comes from tells in nothing, where the pattern does not
// depend on the settings file's folder.
func TestSourceNeverMatters(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		moved := s
		moved.Rules = slices.Clone(s.Rules)
		kinds := g.Perm(len(moved.Rules))
		for i := range moved.Rules {
			moved.Rules[i].Source = permissions.SourceKind(kinds[i])
		}
		p, q, ok := g.compileBoth(s, moved)
		return !ok || g.each(p, q, func(v, w permissions.Verdict) bool { return v == w })
	})
}

func TestHeadlessTurnsAskIntoDenyOnly(t *testing.T) {
	law(t, func(g gen) bool {
		p, _, err := permissions.Compile(g.setup())
		if err != nil {
			return true
		}
		for range requestsPerPolicy {
			r := g.request()
			want := verdict(p, r)
			if want == permissions.Ask {
				want = permissions.Deny
			}
			r.Headless = true
			if verdict(p, r) != want {
				return false
			}
		}
		return true
	})
}

// A request is as strict as its strictest access, and one more never loosens.
func TestAccessesJoin(t *testing.T) {
	law(t, func(g gen) bool {
		p, _, err := permissions.Compile(g.setup())
		if err != nil {
			return true
		}
		for range requestsPerPolicy {
			r := g.request()
			other := g.request()
			more := r
			more.Commands = slices.Concat(r.Commands, other.Commands)
			more.Accesses = slices.Concat(r.Accesses, other.Accesses)
			if verdict(p, r).Worse(verdict(p, more)) {
				return false
			}
			if r.Commands != nil {
				continue // what a command touches is judged with it
			}
			joined := permissions.None
			for _, a := range r.Accesses {
				one := r
				one.Accesses = []permissions.Access{a}
				joined = joined.Join(verdict(p, one))
			}
			if len(r.Accesses) > 0 && joined != verdict(p, r) {
				return false
			}
		}
		return true
	})
}

// Walking somewhere else never loosens: relative denies stay, relative allows
// do not follow.
func TestWalkingNeverLoosens(t *testing.T) {
	law(t, func(g gen) bool {
		p, _, err := permissions.Compile(g.setup())
		if err != nil {
			return true
		}
		q := p.WithCwd(permissions.Dir{Path: g.path()})
		return g.each(p, q, func(v, w permissions.Verdict) bool { return !v.Worse(w) })
	})
}

// Rules written with an alias bind as if written with the name.
func TestAliasesBind(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		p, _, err := permissions.Compile(s)
		if err != nil {
			return true
		}
		renamed := s
		renamed.Aliases = map[string]string{"OldTool": "Tool", "OldRead": "Read"}
		renamed.Rules = slices.Clone(s.Rules)
		for i := range renamed.Rules {
			set := &renamed.Rules[i]
			set.Deny, set.Ask, set.Allow = rename(set.Deny), rename(set.Ask), rename(set.Allow)
		}
		q := compile(t, renamed)
		return g.each(p, q, func(v, w permissions.Verdict) bool { return v == w })
	})
}

func rename(rules []permissions.RuleText) []permissions.RuleText {
	out := slices.Clone(rules)
	for i, rule := range out {
		for _, tool := range []string{"Tool", "Read"} {
			if len(rule.Text) >= 4 && rule.Text[:4] == tool {
				out[i].Text = "Old" + rule.Text
			}
		}
	}
	return out
}

// One more sub-command never loosens: above all it never turns ask into allow.
func TestAddedSubCommandNeverLoosens(t *testing.T) {
	law(t, func(g gen) bool {
		p, _, err := permissions.Compile(g.setup())
		if err != nil {
			return true
		}
		for range requestsPerPolicy {
			before, after, tool := g.command(), g.command(), pick(g, []string{"Bash", "Run"})
			joined := before + " && " + after
			if slices.ContainsFunc(p.Rules(), func(r *permissions.Rule) bool { return r.Spec == joined }) {
				continue // a rule on the whole text allows what it says
			}
			if v := verdict(p, run(tool, joined)); verdict(p, run(tool, before)).Worse(v) || verdict(p, run(tool, after)).Worse(v) {
				t.Logf("%s: %q is %s", tool, joined, v)
				return false
			}
		}
		return true
	})
}

// In dontAsk what default asks is denied, and all else is as in default.
func TestDontAskIsDefaultThatDenies(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		s.Mode = permissions.ModeDefault
		dont := s
		dont.Mode = permissions.ModeDontAsk
		p, q, ok := g.compileBoth(s, dont)
		return !ok || g.each(p, q, func(v, w permissions.Verdict) bool {
			return w == v && v != permissions.Ask || v == permissions.Ask && w == permissions.Deny
		})
	})
}

// No rule, hook or check lets anything but the plan file be written in plan mode.
func TestPlanModeWritesNothing(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		s.Mode = permissions.ModePlan
		p, _, err := permissions.Compile(s)
		if err != nil {
			return true
		}
		for range requestsPerPolicy {
			r := g.request()
			r.Origin.Builtin, r.ToolCheck, r.InputHash = true, permissions.CheckAllow, "h"
			e := permissions.Evidence{
				Hook:     &permissions.HookAnswer{Verdict: permissions.Allow},
				Approval: &permissions.Approval{InputHash: "h", Accesses: r.Accesses},
				Judge:    &permissions.JudgeAnswer{InputHash: "h", Verdict: permissions.Allow},
			}
			writes := slices.ContainsFunc(r.Accesses, func(a permissions.Access) bool {
				return a.Kind == permissions.AccessWrite && a.Target != s.PlanFile.Path
			})
			if writes && permissions.Decide(p, r, e).Verdict != permissions.Deny {
				return false
			}
		}
		return true
	})
}

// Bypass never allows what a deny or ask rule holds back, and nothing is stricter
// there than by default.
func TestBypassKeepsDenyAndAskRules(t *testing.T) {
	law(t, func(g gen) bool {
		s := g.setup()
		s.Mode = permissions.ModeDefault
		bypass := s
		bypass.Mode = permissions.ModeBypass
		p, q, ok := g.compileBoth(s, bypass)
		if !ok {
			return true
		}
		for range requestsPerPolicy {
			r := g.request()
			d, b := permissions.Decide(p, r, permissions.Evidence{}), permissions.Decide(q, r, permissions.Evidence{})
			byRule := d.Rule != nil && d.Verdict != permissions.Allow
			if b.Verdict.Worse(d.Verdict) || byRule && b.Verdict != d.Verdict {
				return false
			}
		}
		return true
	})
}
