package permissions_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"

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
)

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

func (g gen) request() permissions.Request {
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
	if g.IntN(4) == 0 {
		s.Mode = permissions.ModeBypass
	}
	return s
}

// law checks a property on many random cases.
func law(t *testing.T, holds func(g gen) bool) {
	t.Helper()
	t.Parallel()
	err := quick.Check(func(seed uint64) bool {
		return holds(gen{rand.New(rand.NewPCG(seed, 0))})
	}, &quick.Config{MaxCount: lawCases / requestsPerPolicy})
	if err != nil {
		t.Error(err)
	}
}

// lawCases is how many requests a law is tried on.
const lawCases = 100_000

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
		return !ok || g.each(p, q, func(v, w permissions.Verdict) bool {
			return !w.Worse(v) && (v != permissions.Deny || w == permissions.Deny)
		})
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
			more := r
			more.Accesses = slices.Concat(r.Accesses, g.request().Accesses)
			if verdict(p, r).Worse(verdict(p, more)) {
				return false
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
