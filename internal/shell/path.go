package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/permissions"
)

// paths are the absolute and clean paths that a name may mean, one for each
// directory the shell may be in. It reports false where they are not all that
// the name may mean.
func (a *analysis) paths(name string, s *state) ([]string, bool) {
	if strings.HasPrefix(name, "/") {
		p, ok := a.lexical("/", name)
		return a.withAstray([]string{a.lies(p)}, "/", name), ok
	}
	dirs, ok := s.dirs, len(s.dirs) > 0
	if !ok && a.at.Cwd != "" {
		dirs = []string{a.at.Cwd} // a guess, for deny rules
	}
	var out []string
	for _, dir := range dirs {
		p, sure := a.lexical(dir, name)
		out, ok = a.withAstray(including(out, a.lies(p)), dir, name), ok && sure
	}
	return out, ok
}

func (a *analysis) withAstray(paths []string, dir, name string) []string {
	if !strings.Contains(name, "..") {
		return paths
	}
	if p, ok := astray(dir, name); ok {
		return including(paths, a.lies(p))
	}
	return paths
}

// lexical joins and cleans. The system takes a/.. to be what is above the
// directory that a leads to; so the result is only sure where a is known to be
// no link: the directories of [Place] and what is above them.
func (a *analysis) lexical(dir, name string) (string, bool) {
	if !strings.Contains(name, "..") {
		return path.Join(dir, name), true
	}
	at, sure := dir, true
	for name != "" {
		var part string
		part, name, _ = strings.Cut(name, "/")
		if part == ".." {
			sure = sure && a.solid(at)
		}
		at = path.Join(at, part)
	}
	return at, sure
}

// solid reports whether no link is on the way to a directory.
func (a *analysis) solid(dir string) bool {
	return within(a.at.Cwd, dir) || within(a.at.Home, dir) || within(a.at.scratch.Dir, dir) ||
		slices.ContainsFunc(a.at.Working, func(w string) bool { return within(w, dir) })
}

// accesses are what an effect of a program touches, in the directory it runs
// in. It reports false where that is not all.
func (a *analysis) accesses(e programs.Effect, words []word, s *state) ([]permissions.Access, bool) {
	if e.Git {
		return a.repositories(e, s)
	}
	access := permissions.Access{Kind: e.Kind, Target: e.Name, Tree: e.Tree, Removal: e.Removal, Links: e.Links}
	if e.Former {
		access.Former, access.Objects = a.former(e, s), e.Objects
	}
	if e.Kind != permissions.AccessRead && e.Kind != permissions.AccessWrite {
		return []permissions.Access{access}, true
	}
	name, names, sure := e.Name, "", true
	if e.Glob {
		name, sure = literalDirectory(name)
		access.Tree, names = true, patternNames(e.Name)
		switch {
		case names == "":
			access.Former = permissions.FormerUnknown
		case e.Tree:
			names += "/**"
		}
	}
	opens := !access.Tree && !e.Glob && (e.Kind == permissions.AccessRead || e.Opened)
	var out []permissions.Access
	add := func(name string) {
		paths, ok := a.paths(name, s)
		sure = sure && ok
		for _, p := range paths {
			if ok && opens && a.harmless(e.Kind, p) {
				continue
			}
			access.Target = p
			if names != "" {
				access.Glob = strings.TrimSuffix(p, "/") + "/" + names
			}
			out = append(out, access)
		}
	}
	rest, tilde := strings.CutPrefix(name, "~")
	if tilde = tilde && (rest == "" || rest[0] == '/'); !tilde {
		add(name)
		return out, sure
	}
	// A program's own idea of the home; but a quoted argument may be a file of
	// that name.
	if home := a.home(s); home != "" {
		add(home + rest)
	} else {
		sure = false
	}
	if slices.ContainsFunc(words, func(w word) bool { return strings.Contains(w.Text, "~") }) {
		add("./" + name)
	}
	return out, sure
}

// repositories are what git reads of the repositories that it may use in a directory.
func (a *analysis) repositories(e programs.Effect, s *state) ([]permissions.Access, bool) {
	dirs, sure := a.paths(e.Name, s)
	var out []permissions.Access
	for _, dir := range dirs {
		found, known := a.repository(dir)
		sure = sure && known
		for _, own := range found.Own {
			out = append(out, permissions.Access{Kind: permissions.AccessRead, Target: own})
		}
		for _, tree := range found.Trees {
			// Where other trees share the objects, a path narrows nothing.
			if e.Tree || len(found.Trees) > 1 {
				out = append(out, permissions.Access{
					Kind: permissions.AccessRead, Target: tree, Tree: true, Former: a.former(e, s), Objects: e.Objects,
				})
			}
		}
	}
	return out, sure
}

// former is the work tree whose history tells what git may print: that of the one
// repository that it may use, if that shares no objects with others.
func (a *analysis) former(e programs.Effect, s *state) string {
	if e.AnyObject || len(s.dirs) == 0 {
		return permissions.FormerUnknown
	}
	var tree string
	for i, dir := range s.dirs {
		found, known := a.repository(dir)
		if !known || found.Work == "" && len(found.Trees) > 0 || i > 0 && found.Work != tree {
			return permissions.FormerUnknown
		}
		tree = found.Work
	}
	return tree
}

// repository is the one that git uses in a directory.
func (a *analysis) repository(dir string) (permissions.Repository, bool) {
	if a.at.Repository != nil {
		return a.at.Repository(dir)
	}
	top := dir
	for _, working := range slices.Concat(a.at.Working, []string{a.at.Cwd}) {
		if within(dir, working) && within(top, working) {
			top = working
		}
	}
	return permissions.Repository{Trees: []string{top}, Work: top}, true
}

// literalDirectory is the directory in which the names that a pattern matches
// lie, at any depth. It reports false where they may lie elsewhere.
func literalDirectory(pattern string) (string, bool) {
	var b strings.Builder
	last := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*', '?', '[':
			dir := b.String()[:last]
			return orHere(dir), !climbs(pattern[strings.LastIndexByte(pattern[:i], '/')+1:])
		case '\\':
			if i+1 < len(pattern) {
				i++
			}
			b.WriteByte(pattern[i])
		default:
			b.WriteByte(c)
			if c == '/' {
				last = b.Len()
			}
		}
	}
	return orHere(b.String()[:last]), true
}

// patternNames is the part of a pattern behind its literal directory; empty where
// it does not say component by component what it matches.
func patternNames(pattern string) string {
	i := strings.IndexAny(pattern, "*?[")
	if i < 0 || strings.ContainsRune(pattern, '\\') {
		return ""
	}
	names := pattern[strings.LastIndexByte(pattern[:i], '/')+1:]
	if path.Clean(names) != names || strings.Contains(pattern, "..") {
		return ""
	}
	for strings.Contains(names, "**") { // which is * where globstar is not set
		names = strings.ReplaceAll(names, "**", "*")
	}
	return names
}

func orHere(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// climbs reports whether names that a pattern matches may hold a "..": some
// versions of bash find it for .* too.
func climbs(pattern string) bool {
	for part := range strings.SplitSeq(pattern, "/") {
		hit, err := path.Match(part, "..")
		if err != nil || hit && part[0] == '.' {
			return true
		}
	}
	return false
}
