package paths

import (
	"os"
	"path"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// maxGlobbed bounds how many names are looked at to find the matches of a command's
// patterns. The paths of a command with more count as unknown.
const maxGlobbed = 10_000

// AllBelow ends a pattern that stands for everything below its matches.
const AllBelow = "/**"

// AddMatches adds accesses to the parts of a command: for each link below a directory that
// the command goes through and follows links in, and for each match of its file name
// patterns that is a link, which may lead out of the directory that the pattern is judged
// by, or that rules withhold from reading. Bounded reports whether the command sees nothing but
// what may be read unasked and what it names: then links that it finds lead it nowhere else.
func (d Disk) AddMatches(c *permissions.Command, withheld func(name string) bool, bounded func() bool) {
	m := matcher{disk: d, budget: maxGlobbed, links: map[string][]string{}, withheld: withheld, bounded: sync.OnceValue(bounded)}
	for i := range c.Parts {
		part := &c.Parts[i]
		for j := range len(part.Accesses) {
			a := part.Accesses[j]
			if (a.Tree || a.Glob != "") && Below(a.Target, procDir) {
				part.Accesses[j].Real = "" // links in there lead to places without a name
				continue
			}
			met, err := m.met(a)
			if err != nil {
				part.Accesses[j].Real = "" // then nothing allows it
				continue
			}
			for _, name := range met {
				part.Accesses = append(part.Accesses, d.accessTo(a.Kind, name))
			}
		}
	}
}

// matcher finds the further names that the accesses of one command touch.
type matcher struct {
	disk     Disk
	budget   int
	links    map[string][]string // by directory, those found below it
	withheld func(name string) bool
	bounded  func() bool
}

// met lists the further names that an access touches.
func (m *matcher) met(a permissions.Access) ([]string, error) {
	var out []string
	if a.Links && !m.bounded() {
		links, known := m.links[a.Target]
		if !known {
			var err error
			if links, err = m.disk.linksBelow(a.Target, &m.budget); err != nil {
				return nil, err
			}
			m.links[a.Target] = links
		}
		out = append(out, links...)
	}
	if a.Glob == "" {
		return out, nil
	}
	matches, err := m.disk.matchesOf(strings.TrimSuffix(a.Glob, AllBelow), &m.budget)
	for _, match := range matches {
		if match.link || a.Kind == permissions.AccessRead && m.withheld(match.name) && m.disk.has(match.name) {
			out = append(out, match.name)
		}
	}
	return out, err
}

func (d Disk) has(name string) bool {
	_, err := os.Lstat(d.Entry(name))
	return err == nil
}

// match is a path that a pattern matches.
type match struct {
	name string
	link bool // it is a link, or is reached through one
}

// matchesOf lists the matches of a pattern. Where the pattern ends without a wildcard they
// need not exist.
func (d Disk) matchesOf(glob string, budget *int) ([]match, error) {
	level := []match{{name: "/"}}
	for part := range strings.SplitSeq(strings.Trim(glob, "/"), "/") {
		var next []match
		for _, m := range level {
			if !strings.ContainsAny(part, `*?[\`) {
				next = append(next, match{path.Join(m.name, part), m.link})
				continue
			}
			entries, err := d.matching(m.name, part, budget)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				next = append(next, match{path.Join(m.name, e.Name()), m.link || e.Type()&os.ModeSymlink != 0})
			}
		}
		level = next
	}
	return level, nil
}

// matching lists the entries of a directory that one component of a pattern matches. A
// directory that cannot be read has none.
func (d Disk) matching(dir, part string, budget *int) ([]os.DirEntry, error) {
	entries, err := d.entriesOf(dir, budget)
	if err != nil {
		return nil, err
	}
	var out []os.DirEntry
	for _, e := range entries {
		if MatchesName(part, e.Name()) {
			out = append(out, e)
		}
	}
	return out, nil
}

// MatchesName reports whether bash, with its default options, may take a name to match one
// component of a pattern. In doubt it reports true: bash counts bytes or characters,
// depending on its locale.
func MatchesName(part, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(strings.TrimPrefix(part, `\`), ".") {
		return false // only a dot in the pattern matches a leading one
	}
	hit, err := path.Match(inGo.Replace(part), name)
	return hit || err != nil || nestedClass.MatchString(part) ||
		strings.ContainsAny(part, "?[") && strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}

// inGo translates a shell pattern to the syntax of [path.Match].
var inGo = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "[!", "[^")

// nestedClass is a bracket within brackets, which bash reads otherwise than [path.Match].
var nestedClass = lazyregexp.New(`\[(?:\\.|[^\]])*\[`)
