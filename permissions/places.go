package permissions

import (
	"cmp"

	"github.com/toolquay/toolquay/permissions/internal/pathrule"
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

// places are the directories patterns are relative to.
type places struct {
	home Dir
	// start is where the session began and cwd where it is now.
	start, cwd Dir
	fold       bool
	resolve    func(string) string
}

// bind binds the patterns of a rule to every name of the directories they are relative to.
func (pl *places) bind(r *Rule) pathrule.Bound {
	bases := pathrule.Places{
		Home: pl.home.forms(), Start: pl.start.forms(), Cwd: pl.cwd.forms(), Fold: pl.fold, Resolve: pl.resolve,
	}
	return bases.Bind(&pathrule.Rule{Spec: r.path, Folder: r.folder.forms(), Allow: r.Verdict == Allow, Reads: r.reads, Writes: r.writes})
}

// lies is where a path really lies, as far as that is known.
func (pl *places) lies(name string) string {
	if pl.resolve != nil {
		return cmp.Or(pl.resolve(name), name)
	}
	return name
}
