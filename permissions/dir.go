package permissions

import (
	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Dir is a directory under two names.
type Dir struct {
	// Path is the directory as it was named, absolute and clean.
	Path string
	// Real is the same with every link resolved; empty means the same.
	Real string
}

// forms lists the names of the directory, none where it is not known.
func (d Dir) forms() []string {
	switch {
	case d.Path == "":
		return nil
	case d.Real == "" || d.Real == d.Path:
		return []string{d.Path}
	}
	return []string{d.Path, d.Real}
}

// slashed lists the names of a directory as [paths.Below] takes them.
func slashed(d Dir) []string {
	var out []string
	for _, form := range d.forms() {
		out = append(out, paths.Prefix(form))
	}
	return out
}
