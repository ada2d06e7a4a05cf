package host

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/permissions"
)

// maxLinked bounds how many files are looked at for the other names of one.
const maxLinked = 100_000

// heldFiles are the files with several names of which a deny or ask rule names some: those
// names, by what [linkedFile] calls the file.
type heldFiles map[string][]string

// aliased adds to accesses the names of the same file that are held back. A hard link to
// what a rule denies by its name is that file. Only files with several names are looked up.
func (g *gate) aliased(accesses []permissions.Access) []permissions.Access {
	out := accesses
	for _, a := range accesses {
		if a.Kind != permissions.AccessRead && a.Kind != permissions.AccessWrite || a.Real == "" || a.Tree {
			continue
		}
		file, several := linkedFile(a.Real)
		if !several {
			continue
		}
		for _, name := range g.heldFiles()[file] {
			if a.Real != name {
				a.Real = name // Target stays what was asked for: a refusal tells nothing else
				out = append(slices.Clip(out), a)
			}
		}
	}
	return out
}

// heldFiles finds them, once a call.
func (g *gate) heldFiles() heldFiles {
	g.heldOnce.Do(func() {
		policy := g.policy()
		paths := make(realPaths)
		rules := policy.Walls(nil).Following(paths.follow)
		places := rules.FindRuled(once(namesIn))
		search := newWallSearch(context.Background(), policy, rules, g.call.session().walked.Load(), &places)
		search.whole = true
		_ = search.in(rules.Walks()) // its context does not end
		g.held = make(heldFiles)
		for _, name := range paths.existing(slices.Concat(places.Hidden, places.Protected)) {
			g.held.add(name)
		}
	})
	return g.held
}

// add takes a file, or those below a directory, as far as they have several names.
func (h heldFiles) add(name string) {
	left := maxLinked
	_ = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		if left--; left < 0 {
			return fs.SkipAll
		}
		if err != nil || !entry.Type().IsRegular() {
			return nil // a directory that cannot be listed holds no file that can be read
		}
		if file, several := linkedFile(path); several {
			h[file] = append(h[file], path)
		}
		return nil
	})
}

// otherNames are further names below directories of files that are held back, for a sandbox
// to hide as well.
func (h heldFiles) otherNames(dirs []string) []string {
	var out []string
	if len(h) == 0 {
		return nil
	}
	left := maxLinked
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if left--; left < 0 {
				return fs.SkipAll
			}
			if err != nil || !entry.Type().IsRegular() {
				return nil
			}
			if file, several := linkedFile(path); several && h[file] != nil && !slices.Contains(h[file], path) {
				out = append(out, path)
			}
			return nil
		})
	}
	return out
}
