package search

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/ignore"
)

//go:embed types.txt
var typesText string

// types maps a type's name to its globs.
var types = sync.OnceValue(func() map[string][]string {
	out := make(map[string][]string)
	for line := range strings.Lines(typesText) {
		name, globs, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && name[0] != '#' {
			out[name] = strings.Fields(globs)
		}
	}
	return out
})

// filter chooses files by the globs and the type of a request.
type filter struct {
	globs *ignore.Rules
	// base is the directory globs are relative to.
	base string
	// types compares names alone.
	types *ignore.Rules
}

// newFilter compiles globs as ripgrep's -g takes them, relative to cwd where the
// search lies below it, else to where the search starts.
func newFilter(r root, globs []string, typeName string) (filter, error) {
	f := filter{base: r.node.Target}
	if _, ok := relative(r.cwd, f.base); ok {
		f.base = r.cwd
	}
	var err error
	if f.globs, err = ignore.ParseGlobs(globs); err != nil {
		return f, invalid("globs: %w", err)
	}
	if typeName == "" {
		return f, nil
	}
	list, ok := types()[typeName]
	if !ok {
		return f, unknownType(typeName)
	}
	if f.types, err = ignore.ParseGlobs(list); err != nil {
		return f, abi.Errorf(abi.CodeInternal, "type %s: %w", typeName, err)
	}
	return f, nil
}

// in returns what is wanted of a directory.
func (f *filter) in(dir paths, g *ignores) chooser { return &filtered{filter: f, dir: dir, ignores: g} }

// filtered is a filter as it speaks of the entries of one directory.
type filtered struct {
	*filter
	dir     paths
	ignores *ignores
}

// want decides in ripgrep's order: a glob of the request has the first word,
// then the ignore files, then the type.
func (f *filtered) want(name string, dir bool) bool {
	if f.globs.Len() > 0 {
		rel, _ := relative(f.base, join(f.dir.target, name))
		switch f.globs.Match(rel, dir) {
		case ignore.Ignored:
			return true // named by a glob
		case ignore.Included:
			return false // named by a glob with "!"
		case ignore.None:
			if !dir && f.globs.Plain() > 0 {
				return false
			}
		}
	}
	// The type before the ignore files, because it is cheaper.
	if !dir && f.types.Len() > 0 && f.types.Match(name, false) != ignore.Ignored {
		return false
	}
	return !f.ignores.ignored(f.dir.resolved, name, dir)
}

// unknownType names the types that look like the one that was asked for.
func unknownType(name string) error {
	var near []string
	for known, globs := range types() {
		if strings.Contains(known, name) || strings.Contains(name, known) && len(known) > 1 ||
			slices.Contains(globs, "*."+name) {
			near = append(near, known)
		}
	}
	slices.Sort(near)
	if len(near) == 0 {
		return invalid("there is no file type %q; use a glob such as \"*.ext\" instead", name)
	}
	return invalid("there is no file type %q; did you mean %s? A glob such as \"*.ext\" works too", name, strings.Join(near, ", "))
}
