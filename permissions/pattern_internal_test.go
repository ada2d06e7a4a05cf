package permissions

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions/internal/paths"
)

func TestGuardedPlacesParse(t *testing.T) {
	t.Parallel()
	for i, specs := range parsedGuards() {
		if place := guardedPlaces[i]; len(specs) != len(place.patterns) || place.why == "" {
			t.Errorf("%q: %d of the patterns parse", place.patterns, len(specs))
		}
	}
	if commonGuards()[""] != nil {
		t.Error("a guarded place has no literal component to be found by")
	}
}

// Compiling one policy must not change what another guards.
func TestGuardsAreNotShared(t *testing.T) {
	t.Parallel()
	newGuards(Dir{Path: "/odd/home"}, Dir{Path: "/odd/sessions"}, []Dir{{Path: "/odd/.git"}})
	other := newGuards(Dir{Path: "/home/u"}, Dir{}, nil)
	if other.find("/odd/home/.ssh/id", false) != nil {
		t.Error("another session's home is guarded")
	}
	if commonGuards().find("/odd/home/.ssh/id", false) != nil {
		t.Error("a session's home is guarded for all")
	}
}

// plain is the meaning of wildcards spelled out as a table: whether the first i
// tokens match the first j items. many says that a token takes any number of
// items, one that it takes an item.
func plain(tokens, items int, many func(i int) bool, one func(i, j int) bool) bool {
	row := make([]bool, items+1)
	row[0] = true
	for i := range tokens {
		next := make([]bool, items+1)
		for j := range next {
			if many(i) {
				next[j] = row[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && row[j-1] && one(i, j-1)
			}
		}
		row = next
	}
	return row[items]
}

func plainSegments(segs []segment, comps []string, fold bool) bool {
	return plain(len(segs), len(comps),
		func(i int) bool { return segs[i].deep },
		func(i, j int) bool { return plainName(&segs[i], comps[j], fold) })
}

func plainName(s *segment, name string, fold bool) bool {
	if s.literal() {
		return name == s.text || fold && strings.EqualFold(name, s.text)
	}
	var runes []rune
	for rest := name; rest != ""; {
		r, n := decodeRune(rest)
		runes, rest = append(runes, r), rest[n:]
	}
	return plain(len(s.ops), len(runes),
		func(i int) bool { return s.ops[i].kind == opStar },
		func(i, j int) bool { return s.ops[i].match(runes[j], fold) })
}

func FuzzPattern(f *testing.F) {
	for _, seed := range [][2]string{
		{"a/**/b", "/a/x/b"}, {"**/a/**/b/*", "/a/b/a/b/c"}, {"*a*b?[!c-d]", "/aXbXx"}, {"//**", "/"},
		{"~/x", "/home/u/x/y"}, {`\*[]]`, "/*]"}, {"é?", "/é\xff"}, {"../K", "/ws/k"}, {"./", "/ws/proj"},
	} {
		f.Add(seed[0], seed[1], false)
		f.Add(seed[0], seed[1], true)
	}
	f.Fuzz(func(t *testing.T, text, name string, fold bool) {
		spec, err := parsePattern(text)
		if err != nil || !paths.IsClean(name) {
			return
		}
		pl := places{home: Dir{Path: "/home/u"}, start: Dir{Path: "/ws/proj"}, fold: fold}
		pl.cwd = pl.start
		for v := Allow; v <= Deny; v++ {
			r := Rule{Verdict: v, path: spec, reads: true, writes: true, folder: Dir{Path: "/ws"}}
			bound := pl.bind(&r)
			for _, p := range append(bound.reads, bound.writes...) {
				checkPatternOn(t, &p, name)
			}
		}
	})
}

// checkPatternOn holds that a pattern matches what its segments plainly mean,
// and that it reaches every directory above what it matches.
func checkPatternOn(t *testing.T, p *pattern, name string) {
	t.Helper()
	segs := p.segs
	if p.base != "" {
		segs = append(literals(p.base), segs...)
	}
	var comps []string
	if name != "/" {
		comps = strings.Split(name[1:], "/")
	}
	matched := p.match(name)
	if matched != plainSegments(segs, comps, p.fold) {
		t.Fatalf("%+v on %q: %t", p, name, matched)
	}
	for at := name; matched; at = path.Dir(at) {
		if !p.reaches(at) {
			t.Fatalf("%+v matches %q and does not reach %q", p, name, at)
		}
		if at == "/" {
			break
		}
	}
}

func TestHostilePatternsAreQuick(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("a", 2000) + strings.Repeat("/a", 1000)
	for _, text := range []string{
		strings.Repeat("*a", 500) + "b",
		strings.Repeat("**/a/", 30) + "b",
		strings.Repeat("**/*a*a*a*/", 15) + "b",
		strings.Repeat("[a-z]*", 160) + "!",
	} {
		spec, err := parsePattern(text)
		if err != nil {
			t.Errorf("%.20s: %v", text, err)
			continue
		}
		work := testenv.Work(func() {
			if p := newPattern("", deepen(spec.segs), true); p.match(long) {
				t.Errorf("%.20s matches", text)
			}
		})
		if work > 2*time.Second {
			t.Errorf("%.20s took %v", text, work)
		}
	}
}
