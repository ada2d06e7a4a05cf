package gitrepo

import (
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// maxDepth is how deep below git's own directory the directories of submodules are looked for.
const maxDepth = 8

// Programs collects the paths that make git run programs.
type Programs struct {
	Disk
	// Writable reports whether a path lies in a directory that commands may write, and is
	// none itself.
	Writable func(name string) bool
	// Found are the paths, some more than once.
	Found []string
}

// WorkTree adds what makes git run programs in a writable directory. If there is no repository yet,
// or .git is a file that leads to one, it adds the name .git itself.
func (f *Programs) WorkTree(dir string) {
	git := dir + "/.git"
	if _, err := f.List(git); err != nil {
		f.Found = append(f.Found, git)
	}
	for _, git := range f.dirs(dir) {
		f.directory(git)
		f.configured(git, dir)
	}
	if f.isBare(dir) {
		f.directory(dir) // a command may have written its configuration
	}
	// Commands cannot write a repository above, but perhaps the files that it leads to.
	for up := path.Dir(dir); dir != "" && up != "/"; up = path.Dir(up) {
		for _, git := range f.dirs(up) {
			f.configured(git, up)
		}
	}
}

// Repository adds what makes git run programs in one repository, whether or not it exists: of
// the work tree top or, where it is bare, of a directory laid out as git's own.
func (f *Programs) Repository(top string, bare bool) {
	dirs := []string{top}
	if !bare {
		dirs = f.dirs(top)
		if _, err := f.List(top + "/.git"); err != nil {
			f.Found = append(f.Found, top+"/.git")
		}
	}
	for _, git := range dirs {
		f.directory(git)
		f.configured(git, top)
	}
}

// directory adds one of git's own directories, with those of submodules and work trees in it.
func (f *Programs) directory(git string) {
	f.own(git)
	for _, folder := range folders {
		f.folder(git+"/"+folder, maxDepth)
	}
}

func (f *Programs) own(git string) {
	for _, name := range programs {
		f.Found = append(f.Found, git+"/"+name)
	}
	f.linked(git + "/hooks")
}

// linked adds the targets of links in a directory of hooks, unless the target is a whole writable
// directory.
func (f *Programs) linked(hooks string) {
	names, _ := f.List(hooks)
	for _, name := range names {
		name = hooks + "/" + name
		if target := f.Lies(name); f.isLink(name) && f.Writable(target) {
			f.Found = append(f.Found, target)
		}
	}
}

// folder looks for directories that are laid out as git's own. That of a submodule lies as deep
// as its name has components. A directory that cannot be listed is added as a whole: a command may
// have closed it, to open it again later. Links are ignored: git makes none there, and they could
// make the sandbox protect something else.
func (f *Programs) folder(dir string, depth int) {
	if f.isLink(dir) {
		return
	}
	names, err := f.List(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil || depth < 0:
		f.Found = append(f.Found, dir)
		return
	}
	own := f.isOwn(dir, names)
	if own {
		f.own(dir)
		f.pointers(dir)
	}
	for _, name := range names {
		// A command may have made the directory above a submodule of such a name look like
		// one of git's own.
		if own && depth < maxDepth && slices.Contains(large, name) {
			if sub, err := f.List(dir + "/" + name); err == nil && !slices.Contains(sub, "config") {
				continue
			}
		}
		f.folder(dir+"/"+name, depth-1)
	}
}

// isOwn reports whether a directory with these names is one of git's own. One name that git uses
// is enough: a command may have moved the others away, to bring them back later. A submodule may
// have such a name, too, but is a directory.
func (f *Programs) isOwn(dir string, names []string) bool {
	isFile := func(name string) bool {
		_, err := f.List(dir + "/" + name)
		return errors.Is(err, fs.ErrNotExist)
	}
	for _, name := range names {
		switch name {
		case "HEAD":
			return true
		case "config", "config.worktree", "commondir":
			if isFile(name) {
				return true
			}
		case "hooks":
			hooks, _ := f.List(dir + "/hooks")
			if slices.ContainsFunc(hooks, func(hook string) bool { return isFile("hooks/" + hook) }) && !slices.Contains(hooks, "HEAD") {
				return true
			}
		}
	}
	return false
}

// pointers adds the .git file in the work tree of a submodule that leads to its directory in the
// repository. A command could put a repository of its own in its place, and git would look for
// changes there. Commands may write the configuration that names the work tree, so only existing
// files called .git count, without links on the way. Files of further work trees are left out: git
// reads those only where it is started, and they come and go.
func (f *Programs) pointers(git string) {
	for _, s := range parseConfig(f.content(git + "/config")) {
		if s.section != "core" || s.key != "worktree" || s.value == "" {
			continue
		}
		tree := paths.From(git, s.value)
		if file := tree + "/.git"; f.Lies(file) == file {
			if names, err := f.List(tree); err == nil && slices.Contains(names, ".git") {
				f.Found = append(f.Found, file)
			}
		}
	}
}

// configured adds what the configuration of a repository leads to: further files of configuration,
// whatever their condition, and directories of hooks. No command can have written it.
func (f *Programs) configured(git, top string) {
	c := configuration{Disk: &f.Disk}
	c.load("/etc/gitconfig")
	for _, home := range f.Home {
		c.load(home + "/.config/git/config")
		c.load(home + "/.gitconfig")
	}
	c.load(git + "/config")
	c.load(git + "/config.worktree")
	tops := []string{top}
	for _, tree := range c.trees {
		tops = append(tops, c.path(git, tree))
	}
	for _, hooks := range c.hooks {
		for _, dir := range tops {
			f.Found = append(f.Found, c.path(dir, hooks))
			f.linked(c.path(dir, hooks))
		}
	}
	f.Found = append(f.Found, c.includes...)
}
