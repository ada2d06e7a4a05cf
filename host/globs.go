package host

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// maxGlobbed bounds the names that are looked at to see what the patterns of a
// command match. A command with more is one whose paths are not known.
const maxGlobbed = 10_000

// addLinks adds to each part of a command the links that its patterns for file
// names match, or that it follows, with where they lead: a pattern is judged by its
// directory, and a link in there may lead out of it.
func addLinks(c *permissions.Command) {
	budget, met := maxGlobbed, map[string][]string{}
	for i := range c.Parts {
		part := &c.Parts[i]
		for j := range len(part.Accesses) {
			a := part.Accesses[j]
			if (a.Tree || a.Glob != "") && liesIn(procDir, a.Target) {
				part.Accesses[j].Real = "" // what links in there lead to has no name
				continue
			}
			if a.Glob == "" && !a.Links {
				continue
			}
			links, err := linksMet(a, met, &budget)
			if err != nil {
				part.Accesses[j].Real = "" // then nothing allows it
				continue
			}
			for _, name := range links {
				part.Accesses = append(part.Accesses, linkAccess(a.Kind, name))
			}
		}
	}
}

// linksMet lists the links that an access of a command meets. Trees that were gone through
// are in met.
func linksMet(a permissions.Access, met map[string][]string, budget *int) ([]string, error) {
	if !a.Links {
		return linksOf(a.Glob, budget)
	}
	links, ok := met[a.Target]
	if ok {
		return links, nil
	}
	links, err := linksBelow(a.Target, budget)
	if err == nil {
		met[a.Target] = links
	}
	return links, err
}

// linkAccess is what following a link touches. What it leads to may be a
// directory, and the command one that goes into it.
func linkAccess(kind permissions.AccessKind, name string) permissions.Access {
	a := permissions.Access{Kind: kind, Target: name, Real: commandPath(name)}
	info, err := os.Stat(filepath.FromSlash(name))
	a.Tree = err != nil || info.IsDir()
	return a
}

var errTooMany = errors.New("there are more names than are looked at")

// linksOf lists what a pattern matches that is a link, or is reached through one.
func linksOf(glob string, budget *int) ([]string, error) {
	type found struct {
		name string
		link bool
	}
	level := []found{{name: "/"}}
	for part := range strings.SplitSeq(strings.Trim(glob, "/"), "/") {
		var next []found
		for _, f := range level {
			if !strings.ContainsAny(part, `*?[\`) {
				next = append(next, found{path.Join(f.name, part), f.link})
				continue
			}
			matches, err := matching(f.name, part, budget)
			if err != nil {
				return nil, err
			}
			for _, e := range matches {
				next = append(next, found{path.Join(f.name, e.Name()), f.link || e.Type()&os.ModeSymlink != 0})
			}
		}
		level = next
	}
	var out []string
	for _, f := range level {
		if f.link {
			out = append(out, f.name)
		}
	}
	return out, nil
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
		hit, err := path.Match(strings.ReplaceAll(part, "[!", "[^"), e.Name())
		if err != nil {
			hit = true // the shell may read the pattern otherwise
		}
		if hit {
			out = append(out, e)
		}
	}
	return out, nil
}
