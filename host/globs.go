package host

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// maxGlobbed bounds the names that are looked at to see what the patterns of a
// command match. A command with more is one whose paths are not known.
const maxGlobbed = 10_000

// allBelow is at the end of a pattern that stands for all below its matches.
const allBelow = "/**"

// addMatches adds to each part of a command what its patterns for file names match, as far
// as that is a link, which may lead out of the directory that a pattern is judged by, or is
// read though rules withhold it; and the links that it follows below a directory.
func addMatches(c *permissions.Command, withheld func(name string) bool) {
	m := matcher{budget: maxGlobbed, links: map[string][]string{}, withheld: withheld}
	for i := range c.Parts {
		part := &c.Parts[i]
		for j := range len(part.Accesses) {
			a := part.Accesses[j]
			if (a.Tree || a.Glob != "") && liesIn(procDir, a.Target) {
				part.Accesses[j].Real = "" // what links in there lead to has no name
				continue
			}
			met, err := m.met(a)
			if err != nil {
				part.Accesses[j].Real = "" // then nothing allows it
				continue
			}
			for _, name := range met {
				part.Accesses = append(part.Accesses, matchAccess(a.Kind, name))
			}
		}
	}
}

// matcher finds what the accesses of one command meet besides their targets. Links has those
// below directories that were looked through.
type matcher struct {
	budget   int
	links    map[string][]string
	withheld func(name string) bool
}

func (m *matcher) met(a permissions.Access) ([]string, error) {
	var out []string
	if a.Links {
		links, known := m.links[a.Target]
		if !known {
			var err error
			if links, err = linksBelow(a.Target, &m.budget); err != nil {
				return nil, err
			}
			m.links[a.Target] = links
		}
		out = append(out, links...)
	}
	if a.Glob == "" {
		return out, nil
	}
	matches, err := matchesOf(strings.TrimSuffix(a.Glob, allBelow), &m.budget)
	for _, match := range matches {
		if match.link || a.Kind == permissions.AccessRead && m.withheld(match.name) && isThere(match.name) {
			out = append(out, match.name)
		}
	}
	return out, err
}

// matchAccess is what naming a file or following a link touches. What it leads to may be a
// directory, and the command one that goes into it.
func matchAccess(kind permissions.AccessKind, name string) permissions.Access {
	a := permissions.Access{Kind: kind, Target: name, Real: commandPath(name)}
	info, err := os.Stat(filepath.FromSlash(name))
	a.Tree = err != nil || info.IsDir()
	return a
}

var errTooMany = errors.New("there are more names than are looked at")

func isThere(name string) bool {
	_, err := os.Lstat(filepath.FromSlash(name))
	return err == nil
}

// match is a path that a pattern matches. Link says that it is one, or is reached through one.
type match struct {
	name string
	link bool
}

// matchesOf lists what a pattern matches, whether or not it is there where the pattern ends
// without a wildcard.
func matchesOf(glob string, budget *int) ([]match, error) {
	level := []match{{name: "/"}}
	for part := range strings.SplitSeq(strings.Trim(glob, "/"), "/") {
		var next []match
		for _, m := range level {
			if !strings.ContainsAny(part, `*?[\`) {
				next = append(next, match{path.Join(m.name, part), m.link})
				continue
			}
			entries, err := matching(m.name, part, budget)
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

// matching lists the entries of a directory that one component of a pattern
// matches. A directory that cannot be read has none.
func matching(dir, part string, budget *int) ([]os.DirEntry, error) {
	entries, err := entriesOf(dir, budget)
	if err != nil {
		return nil, err
	}
	var out []os.DirEntry
	for _, e := range entries {
		if matchesName(part, e.Name()) {
			out = append(out, e)
		}
	}
	return out, nil
}

// matchesName reports whether bash, with the options that it starts with, may take a name to
// match one component of a pattern. Whether it counts bytes or characters is up to its locale.
func matchesName(part, name string) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(strings.TrimPrefix(part, `\`), ".") {
		return false // only a dot in the pattern matches a leading one
	}
	hit, err := path.Match(inGo.Replace(part), name)
	return hit || err != nil || nestedClass.MatchString(part) ||
		strings.ContainsAny(part, "?[") && strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf })
}

// inGo writes a pattern of a shell as [path.Match] has it.
var inGo = strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "[!", "[^")

// nestedClass is a bracket within brackets, which is read in other ways than by [path.Match].
var nestedClass = lazyregexp.New(`\[(?:\\.|[^\]])*\[`)
