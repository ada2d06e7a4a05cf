package host

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// heldFiles are the files with several names of which a deny or ask rule names some.
type heldFiles struct {
	// names are those that a rule names, by what [linkedFile] calls the file.
	names map[string][]string
	// left is how many files may still be looked at; below 0 is that there were more.
	left int
}

// aliased adds to accesses the names of the same file that are held back. A hard link to
// what a rule denies by its name is that file. Only files with several names are looked up.
func (g *callGate) aliased(accesses []permissions.Access) []permissions.Access {
	out := accesses
	for _, a := range accesses {
		if a.Kind != permissions.AccessRead && a.Kind != permissions.AccessWrite || a.Real == "" || a.Tree {
			continue
		}
		file, several := linkedFile(a.Real)
		if !several {
			continue
		}
		held := g.heldFiles()
		for _, name := range held.names[file] {
			if a.Real != name {
				a.Real = name // Target stays what was asked for: a refusal tells nothing else
				out = append(slices.Clip(out), a)
			}
		}
		if held.left < 0 {
			a.Real = "" // nothing allows what may be another name of anything
			out = append(slices.Clip(out), a)
		}
	}
	return out
}

// heldFiles finds them, once a call.
func (g *callGate) heldFiles() *heldFiles {
	g.heldOnce.Do(func() {
		policy := g.policy()
		paths := make(realPaths)
		rules := policy.Walls(nil).Following(paths.follow)
		places := rules.FindRuled(once(namesIn))
		search := newWallSearch(g.call.session().ctx, policy, rules, g.call.session().walked.Load(), &places)
		search.whole = true
		g.held = heldFiles{names: make(map[string][]string), left: maxWalled}
		if search.in(rules.Walks()) != nil || len(search.unwalked) > 0 {
			g.held.left = -1
		}
		for _, name := range paths.existing(slices.Concat(places.Hidden, places.Protected)) {
			g.held.add(name)
		}
	})
	return &g.held
}

// add takes a file, or those below a directory, as far as they have several names.
func (h *heldFiles) add(name string) {
	h.linked([]string{name}, func(path, file string) { h.names[file] = append(h.names[file], path) })
}

// linked goes through the files with several names below directories. A directory that
// cannot be listed holds no file that can be read.
func (h *heldFiles) linked(dirs []string, take func(path, file string)) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if h.left--; h.left < 0 {
				return fs.SkipAll
			}
			if err == nil && entry.Type().IsRegular() {
				if file, several := linkedFile(path); several {
					take(path, file)
				}
			}
			return nil
		})
	}
}

// otherNames are further names below directories of files that a rule names, for a sandbox
// to hide as well.
func (h *heldFiles) otherNames(dirs []string) ([]string, error) {
	if len(h.names) == 0 && h.left >= 0 {
		return nil, nil
	}
	var out []string
	h.left = min(h.left, maxWalled)
	h.linked(dirs, func(path, file string) {
		if own := h.names[file]; own != nil && !slices.Contains(own, path) {
			out = append(out, path)
		}
	})
	if h.left < 0 {
		return nil, abi.Errorf(abi.CodeTooLarge, "a file that a rule holds back has several names, and there are over %d files to look through for them; remove the other hard links, or work in a smaller directory", maxWalled)
	}
	return out, nil
}

// below reports whether a clean path is a directory or lies in it.
func below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(dir, "/"))
}
