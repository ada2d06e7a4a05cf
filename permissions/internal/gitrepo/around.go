package gitrepo

import (
	"cmp"
	"path"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Around returns the paths, with all below, by which git comes to run programs in the
// repositories that files lie in, other than by their names: directories that are git's own
// by their layout or because a .git file leads there, directories of hooks, and further files
// of configuration. A file that would complete such a layout counts as if it was there.
func (f *Programs) Around(files []string) []string {
	seen := make(map[string]bool)
	for _, file := range files {
		f.around(file, seen)
	}
	var out []string
	for _, name := range f.Found {
		out = append(out, f.names(name)...)
	}
	return paths.Sorted(out)
}

// around goes up from a file. Seen are the directories that were looked at before.
func (f *Programs) around(name string, seen map[string]bool) {
	for name != "/" && name != "" {
		dir, next := path.Split(name)
		dir = paths.Prefix(path.Clean(dir))
		if f.laidOut(dir, paths.Fold(next)) {
			f.Found = append(f.Found, cmp.Or(dir, "/"))
		}
		if name = cmp.Or(dir, "/"); seen[name] {
			continue // another name may complete a layout above
		}
		seen[name] = true
		for _, git := range f.dirs(dir) {
			f.Found = append(f.Found, git)
			f.configured(git, dir)
		}
	}
}

// laidOut reports whether a directory with one more name in it is laid out as git's own: with a
// HEAD, and with objects and refs or a file that leads to them.
func (f *Programs) laidOut(dir, next string) bool {
	has := func(name string) bool {
		if next == name {
			return true
		}
		_, err := f.List(dir + "/" + name)
		return err == nil
	}
	if next != "head" && len(f.content(dir+"/HEAD")) == 0 && !f.isLink(dir+"/HEAD") { // git accepts a dangling link
		return false
	}
	return has("objects") && has("refs") || next == "commondir" || len(f.content(dir+"/commondir")) > 0
}
