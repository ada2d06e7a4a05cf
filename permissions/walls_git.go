package permissions

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Read returns the beginning of a file, as much of it as a configuration may have.
type Read func(file string) (content []byte, err error)

// The bounds of looking for git's directories and configuration.
const (
	// maxGitDepth is how deep below git's own directory the directories of submodules
	// are looked for.
	maxGitDepth = 8
	// maxGitIncludes is how many files one configuration is read from, at most as deep
	// as git itself goes.
	maxGitIncludes = 100
)

// gitOf adds what makes git run programs in a writable directory. Where there is no
// repository yet, or .git is a file that leads to one, that name is protected as a
// whole.
func (f *finder) gitOf(dir string) {
	git := dir + "/.git"
	if _, err := f.list(git); err != nil {
		f.kept = append(f.kept, git)
	}
	for _, git := range f.gitDirs(dir) {
		f.gitDir(git)
		f.configured(git, dir)
	}
	if f.isBare(dir) {
		f.gitDir(dir) // its configuration may be a command's
	}
	// A repository that lies above is out of a command's reach, but not what it leads to.
	for up := path.Dir(dir); dir != "" && up != "/"; up = path.Dir(up) {
		for _, git := range f.gitDirs(up) {
			f.configured(git, up)
		}
	}
}

// Repository returns what makes git run programs in a repository somewhere in the writable
// directories, whether or not it exists, as it really lies: of the work tree top, or where
// it is bare, of a directory laid out as git's own. Its configuration may be a command's:
// what that leads to counts as far as it does not shut a whole writable directory.
func (w *Walls) Repository(top string, bare bool, list List) []string {
	f := finder{walls: w, list: list}
	top = paths.Prefix(filepath.ToSlash(top))
	dirs := []string{top}
	if !bare {
		dirs = f.gitDirs(top)
		if _, err := list(top + "/.git"); err != nil {
			f.kept = append(f.kept, top+"/.git")
		}
	}
	for _, git := range dirs {
		f.gitDir(git)
		f.configured(git, top)
	}
	var out []string
	keep(f.kept, func(name string) {
		name = w.lies(name)
		shuts := slices.ContainsFunc(w.roots, func(root string) bool { return paths.InsideAny([]string{name}, root) })
		if paths.InsideAny(w.roots, name) && !shuts && !w.opened(name) {
			out = append(out, name)
		}
	}, w.kept, w.ruledWriting)
	return paths.Sorted(out)
}

// GitAround returns the paths, with all below, by which git comes to run programs in the
// repositories that paths lie in and those of the working directories, other than by
// their names: directories that are git's own by their layout or because a .git file leads
// there, directories of hooks, and further files of configuration. A path that would
// complete such a layout counts as if it was there.
func (p *Policy) GitAround(names []string, list List, read Read) []string {
	f := finder{walls: p.Walls(nil).Reading(read), list: list}
	seen := make(map[string]bool)
	around := func(name string) {
		for name != "/" && name != "" {
			dir, next := path.Split(name)
			dir = paths.Prefix(path.Clean(dir))
			if f.laidOut(dir, paths.Fold(next)) {
				f.kept = append(f.kept, cmp.Or(dir, "/"))
			}
			if name = cmp.Or(dir, "/"); seen[name] {
				continue // another name may complete a layout above
			}
			seen[name] = true
			for _, git := range f.gitDirs(dir) {
				f.kept = append(f.kept, git)
				f.configured(git, dir)
			}
		}
	}
	for _, name := range names {
		around(filepath.ToSlash(name))
	}
	for _, root := range p.workingReal {
		around(root + "/.git")
	}
	var out []string
	for _, name := range f.kept {
		out = append(out, f.names(name)...)
	}
	return paths.Sorted(out)
}

// laidOut reports whether a directory is laid out as git's own, where one more name is in
// it: it has a HEAD, and objects and refs or a file that leads to those.
func (f *finder) laidOut(dir, next string) bool {
	has := func(name string) bool {
		if next == name {
			return true
		}
		_, err := f.list(dir + "/" + name)
		return err == nil
	}
	if next != "head" && len(f.content(dir+"/HEAD")) == 0 && !f.isLink(dir+"/HEAD") { // one to nothing will do for git
		return false
	}
	return has("objects") && has("refs") || next == "commondir" || len(f.content(dir+"/commondir")) > 0
}

// gitDirs are the directories of git's own that belong to a work tree.
func (f *finder) gitDirs(top string) []string {
	git := top + "/.git"
	if _, err := f.list(git); err == nil {
		return []string{git}
	}
	dir := f.pointer(git, "gitdir: ")
	if dir == "" {
		return nil
	}
	if common := f.pointer(dir+"/commondir", ""); common != "" {
		return []string{dir, common}
	}
	return []string{dir}
}

// isBare reports whether a directory is laid out as git's own, without a work tree.
func (f *finder) isBare(dir string) bool {
	names, _ := f.list(cmp.Or(dir, "/"))
	return slices.Contains(names, "HEAD") && slices.Contains(names, "objects") && slices.Contains(names, "refs")
}

// pointer is the path in a file that leads to another one of git's directories.
func (f *finder) pointer(file, prefix string) string {
	name, ok := strings.CutPrefix(strings.TrimRight(string(f.content(file)), "\r\n"), prefix)
	if !ok || name == "" || strings.ContainsAny(name, "\x00\n") {
		return ""
	}
	return paths.From(path.Dir(file), name)
}

// content is what stands in a file, nothing where that cannot be told.
func (f *finder) content(file string) []byte {
	if f.walls.read == nil {
		return nil
	}
	content, err := f.walls.read(file)
	if err != nil {
		return nil
	}
	return content
}

// gitDir adds what there is in a directory of git's own.
func (f *finder) gitDir(git string) {
	f.gitPrograms(git)
	for _, folder := range gitFolders {
		f.gitFolder(git+"/"+folder, maxGitDepth)
	}
}

func (f *finder) gitPrograms(git string) {
	for _, name := range gitPrograms {
		f.kept = append(f.kept, git+"/"+name)
	}
	f.linked(git + "/hooks")
}

// linked adds where the links in a directory of hooks lead, other than to a whole writable
// directory.
func (f *finder) linked(hooks string) {
	names, _ := f.list(hooks)
	for _, name := range names {
		name = hooks + "/" + name
		if target := f.walls.lies(name); f.isLink(name) && f.walls.Inside(target) {
			f.kept = append(f.kept, target)
		}
	}
}

// gitFolder looks for directories that are laid out as git's own. A submodule's lies
// as deep as its name has components. A directory that cannot be looked into is
// protected as a whole: a command may have closed it, to open it again later. A link
// git has no use for; who put one there wants something else shut.
func (f *finder) gitFolder(dir string, depth int) {
	if f.isLink(dir) {
		return
	}
	names, err := f.list(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil || depth < 0:
		f.kept = append(f.kept, dir)
		return
	}
	own := f.isOwn(dir, names)
	if own {
		f.gitPrograms(dir)
		f.pointers(dir)
	}
	for _, name := range names {
		// A command may have made the directory above a submodule with such a name look like
		// git's own.
		if own && depth < maxGitDepth && slices.Contains(gitContent, name) {
			if sub, err := f.list(dir + "/" + name); err == nil && !slices.Contains(sub, "config") {
				continue
			}
		}
		f.gitFolder(dir+"/"+name, depth-1)
	}
}

// isOwn reports whether a directory with these names is one of git's own. Any name that git
// has a use for makes it one: a command may have taken the others away, to bring them back
// later. A submodule may have such a name, too; it is no file.
func (f *finder) isOwn(dir string, names []string) bool {
	isFile := func(name string) bool {
		_, err := f.list(dir + "/" + name)
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
			hooks, _ := f.list(dir + "/hooks")
			if slices.ContainsFunc(hooks, func(hook string) bool { return isFile("hooks/" + hook) }) && !slices.Contains(hooks, "HEAD") {
				return true
			}
		}
	}
	return false
}

func (f *finder) isLink(name string) bool {
	dir, base := path.Split(name)
	return f.walls.lies(name) != path.Join(f.walls.lies(path.Clean(dir)), base)
}

// pointers adds the file in the work tree of a submodule that leads to its directory in
// the repository: in its place there could be a repository of a command's own, in which
// git looks for changes. What tells of it may be written by commands; so nothing is shut
// for it but what is there, is called .git, and needs no link to get to. Those of further
// work trees git looks into only where it is started, and they come and go.
func (f *finder) pointers(git string) {
	for _, s := range parseGitConfig(f.content(git + "/config")) {
		if s.section != "core" || s.key != "worktree" || s.value == "" {
			continue
		}
		tree := paths.From(git, s.value)
		if file := tree + "/.git"; f.walls.lies(file) == file {
			if names, err := f.list(tree); err == nil && slices.Contains(names, ".git") {
				f.kept = append(f.kept, file)
			}
		}
	}
}

// configured adds what the configuration of a repository leads to: further files of
// configuration, on whatever condition, and directories of hooks. It is the user's
// own: no command can have written it.
func (f *finder) configured(git, top string) {
	c := gitConfig{finder: f}
	c.load("/etc/gitconfig")
	for _, home := range slashed(f.walls.policy.places.home) {
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
			f.kept = append(f.kept, c.path(dir, hooks))
			f.linked(c.path(dir, hooks))
		}
	}
	f.kept = append(f.kept, c.includes...)
}

// gitConfig is what the files of a configuration say.
type gitConfig struct {
	*finder

	seen         []string
	includes     []string
	hooks, trees []string // as they are written
	// files are others that the configuration names, which git reads.
	files []string
}

// gitFileKeys are settings that name files whose lines git may print, if only in an error.
var gitFileKeys = map[string]bool{
	"blame.ignorerevsfile": true, "mailmap.file": true, "core.excludesfile": true, "core.attributesfile": true, "diff.orderfile": true,
}

// load reads a file, and those that it includes.
func (c *gitConfig) load(file string) {
	if slices.Contains(c.seen, file) || len(c.seen) >= maxGitIncludes {
		return
	}
	c.seen = append(c.seen, file)
	for _, s := range parseGitConfig(c.content(file)) {
		switch {
		case s.value == "":
		case s.section == "core" && s.key == "hookspath":
			c.hooks = append(c.hooks, s.value)
		case s.section == "core" && s.key == "worktree":
			c.trees = append(c.trees, s.value)
		case gitFileKeys[s.section+"."+s.key]:
			c.files = append(c.files, c.path(path.Dir(file), s.value))
		case (s.section == "include" || s.section == "includeif") && s.key == "path":
			included := c.path(path.Dir(file), s.value)
			c.includes = append(c.includes, included)
			c.load(included)
		}
	}
}

// path is where a path of a configuration leads.
func (c *gitConfig) path(dir, name string) string {
	name = strings.TrimPrefix(name, ":(optional)")
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return paths.From(paths.Prefix(c.walls.policy.places.home.Path), rest)
	}
	return paths.From(dir, name)
}
