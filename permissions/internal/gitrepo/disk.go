// Package gitrepo finds git's own directories, and what in them makes git run programs or read
// other files. It looks at the disk only through the functions it is given.
package gitrepo

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Disk is how the package looks at files. Paths are absolute and clean, with forward slashes.
type Disk struct {
	// List returns the names in a directory. The error is fs.ErrNotExist where there is no
	// directory.
	List func(dir string) (names []string, err error)
	// Read returns the beginning of a file, as much of it as a configuration may have. It
	// may be nil.
	Read func(file string) (content []byte, err error)
	// Lies returns where a path really lies, as far as that is known.
	Lies func(name string) string
	// Home are the names of the home directory.
	Home []string
}

// home is the name by which the home directory is called.
func (d *Disk) home() string {
	if len(d.Home) == 0 {
		return ""
	}
	return d.Home[0]
}

// names are the names of a path: that it was called by, and where it really lies.
func (d *Disk) names(name string) []string {
	if target := d.Lies(name); target != name {
		return []string{name, target}
	}
	return []string{name}
}

// dirs are the directories of git's own that belong to a work tree.
func (d *Disk) dirs(top string) []string {
	git := top + "/.git"
	if _, err := d.List(git); err == nil {
		return []string{git}
	}
	dir := d.pointer(git, "gitdir: ")
	if dir == "" {
		return nil
	}
	if common := d.pointer(dir+"/commondir", ""); common != "" {
		return []string{dir, common}
	}
	return []string{dir}
}

// isBare reports whether a directory is laid out as git's own, without a work tree.
func (d *Disk) isBare(dir string) bool {
	names, _ := d.List(cmp.Or(dir, "/"))
	return slices.Contains(names, "HEAD") && slices.Contains(names, "objects") && slices.Contains(names, "refs")
}

// pointer is the path in a file that leads to another one of git's directories.
func (d *Disk) pointer(file, prefix string) string {
	name, ok := strings.CutPrefix(strings.TrimRight(string(d.content(file)), "\r\n"), prefix)
	if !ok || name == "" || strings.ContainsAny(name, "\x00\n") {
		return ""
	}
	return paths.From(path.Dir(file), name)
}

// content is the content of a file, nothing if it cannot be read.
func (d *Disk) content(file string) []byte {
	if d.Read == nil {
		return nil
	}
	content, err := d.Read(file)
	if err != nil {
		return nil
	}
	return content
}

// isLink reports whether the last component of a path is a link.
func (d *Disk) isLink(name string) bool {
	dir, base := path.Split(name)
	return d.Lies(name) != path.Join(d.Lies(path.Clean(dir)), base)
}
