package sandbox

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Space is where a sandbox works. Directories have no slash at their end.
type Space struct {
	// Roots are the directories that the sandbox leaves writable, as they really lie.
	Roots []string
	// Home and Working are the home and the working directories, under all their names.
	Home, Working []string
	// Fold says that names are compared whatever the case of their letters.
	Fold bool
	// Resolve returns where a path really lies, or empty. It may be nil.
	Resolve func(path string) string
}

// Inside reports whether a path lies in a writable directory, and is none itself.
func (w *Space) Inside(name string) bool {
	name = filepath.ToSlash(name)
	return paths.InsideAny(w.Roots, name) && !slices.Contains(w.Roots, paths.Prefix(name))
}

// Pins returns the directories to pin for a protected path that a walk found, as
// [Places.Pinned] are.
func (w *Space) Pins(name string) []string {
	var pinned Places
	pinned.protect(w.Roots, filepath.ToSlash(name))
	return pinned.Pinned
}

// crowded reports whether a directory is the home or a working directory or lies above one, so
// that walking all of it takes too long.
func (w *Space) crowded(dir string) bool {
	holds := func(inner string) bool {
		_, inside := paths.Below(dir, inner)
		return inside
	}
	return slices.ContainsFunc(w.Home, holds) || slices.ContainsFunc(w.Working, holds)
}

// Lies is where a path really lies, as far as that is known.
func (w *Space) Lies(name string) string {
	if w.Resolve != nil {
		return cmp.Or(w.Resolve(name), name)
	}
	return name
}

// names are the names of a path: that it was called by, and where it really lies.
func (w *Space) names(name string) []string {
	if target := w.Lies(name); target != name {
		return []string{name, target}
	}
	return []string{name}
}
