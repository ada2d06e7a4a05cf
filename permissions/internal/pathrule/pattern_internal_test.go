package pathrule

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/paths"
)

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

func plainSegments(segs []glob.Segment, comps []string, fold bool) bool {
	return plain(len(segs), len(comps),
		func(i int) bool { return segs[i].Deep },
		func(i, j int) bool { return segs[i].Match(comps[j], fold) })
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
		spec, err := Parse(text)
		if err != nil || !paths.IsClean(name) {
			return
		}
		start := []string{"/ws/proj"}
		pl := Places{Home: []string{"/home/u"}, Start: start, Cwd: start, Fold: fold}
		for _, allow := range []bool{false, true} {
			bound := pl.Bind(&Rule{Spec: spec, Folder: []string{"/ws"}, Allow: allow, Reads: true, Writes: true})
			for _, p := range append(bound.Reads, bound.Writes...) {
				checkPatternOn(t, &p, name)
			}
		}
	})
}

// checkPatternOn holds that a pattern matches what its segments plainly mean,
// and that it reaches every directory above what it matches.
func checkPatternOn(t *testing.T, p *Pattern, name string) {
	t.Helper()
	segs := p.Segs
	if p.Base != "" {
		segs = append(glob.Names(p.Base), segs...)
	}
	var comps []string
	if name != "/" {
		comps = strings.Split(name[1:], "/")
	}
	matched := p.Match(name)
	if matched != plainSegments(segs, comps, p.Fold) {
		t.Fatalf("%+v on %q: %t", p, name, matched)
	}
	for at := name; matched; at = path.Dir(at) {
		if !p.Reaches(at) {
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
		spec, err := Parse(text)
		if err != nil {
			t.Errorf("%.20s: %v", text, err)
			continue
		}
		work := testenv.Work(func() {
			if p := New("", glob.Deepen(spec.Segs), true); p.Match(long) {
				t.Errorf("%.20s matches", text)
			}
		})
		if work > 2*time.Second {
			t.Errorf("%.20s took %v", text, work)
		}
	}
}
