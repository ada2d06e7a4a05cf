package gitrepo

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Repository is what git reads where it runs in a directory. Paths are absolute and clean;
// they may lead through links.
type Repository struct {
	// Own are git's own directories that are not just .git in the work tree, the files that
	// their configuration includes or names, and links in them.
	Own []string
	// Trees are the directories whose files, present and former, git may print: the work
	// tree, that of the repository whose branches it shares, and those of repositories
	// whose objects it borrows (gitrepository-layout(5)).
	Trees []string
	// Work is the one directory of Trees, where the repository's objects are its own.
	Work string
}

// maxAlternates bounds how many repositories may lend their objects.
const maxAlternates = 20

// Find finds the repository that git uses in a directory; links lists the names in a
// directory that are links. It reports false where not all of it is known. Where there is no
// repository, it is empty.
func Find(disk Disk, dir string, links func(dir string) ([]string, error)) (found Repository, known bool) {
	f := finder{Disk: disk, links: links, known: true}
	for at := path.Clean(dir); path.IsAbs(at); at = path.Dir(at) {
		dirs := f.dirs(paths.Prefix(at))
		if len(dirs) == 0 && f.isBare(paths.Prefix(at)) {
			dirs = []string{at}
		}
		if len(dirs) > 0 {
			f.Trees = append(f.Trees, at)
			f.add(dirs)
			break
		}
		if at == "/" {
			break
		}
	}
	if trees := paths.Sorted(slices.Clone(f.Trees)); len(trees) == 1 {
		f.Work = trees[0]
	}
	f.Own, f.Trees = paths.Sorted(f.Own), paths.Outermost(f.Trees)
	return f.Repository, f.known
}

// finder collects a repository.
type finder struct {
	Disk
	Repository
	links func(dir string) ([]string, error)
	known bool
}

// add takes git's own directories, and what they lead to.
func (f *finder) add(dirs []string) {
	config := configuration{Disk: &f.Disk}
	for _, dir := range dirs {
		f.owner(dir)
		if common := f.pointer(dir+"/commondir", ""); common != "" && !slices.Contains(dirs, common) {
			f.owner(common)
			dirs = append(dirs, common)
		}
	}
	for _, dir := range dirs {
		config.load(dir + "/config")
		config.load(dir + "/config.worktree")
		f.alternates(dir + "/objects")
		f.inside(dir)
	}
	f.Own = slices.Concat(f.Own, config.includes, config.files)
	f.known = f.known && len(config.seen) < maxIncludes
}

// inside takes the links in one of git's own directories: git prints lines of files there that it
// does not understand. HEAD must be a branch or a hash, as git show prints a file that it names.
func (f *finder) inside(dir string) {
	dirs := []string{dir, dir + "/info", dir + "/objects", dir + "/objects/info", dir + "/objects/pack", dir + "/rebase-merge", dir + "/rebase-apply"}
	worktrees, _ := f.List(dir + "/worktrees")
	for _, name := range worktrees {
		dirs = append(dirs, dir+"/worktrees/"+name)
	}
	for _, d := range dirs {
		names, _ := f.links(d)
		for _, name := range names {
			f.Own = append(f.Own, d+"/"+name)
		}
	}
	head := strings.TrimSpace(string(f.content(dir + "/HEAD")))
	if ref, symbolic := strings.CutPrefix(head, "ref:"); symbolic && !strings.HasPrefix(strings.TrimSpace(ref), "refs/heads/") {
		f.known = false
	}
}

// owner takes one of git's own directories, and the tree whose content it keeps: a command
// may have put a link in its place.
func (f *finder) owner(dir string) {
	f.own(dir)
	for _, name := range f.names(dir) {
		switch {
		case path.Base(name) == ".git":
			f.Trees = append(f.Trees, path.Dir(name))
		case !slices.Contains(strings.Split(name, "/"), ".git"):
			f.Trees = append(f.Trees, name)
		}
	}
}

// own takes one of git's own directories, unless it is the .git of a tree that is taken.
func (f *finder) own(dir string) {
	tree, _, inGit := strings.Cut(dir, "/.git")
	if !inGit || !slices.Contains(f.Trees, tree) || f.Lies(dir) != f.Lies(tree)+strings.TrimPrefix(dir, tree) {
		f.Own = append(f.Own, dir)
	}
}

// alternates takes the repositories that lend their objects, and those that lend to them.
func (f *finder) alternates(objects string) {
	lenders := []string{objects}
	for i := 0; i < len(lenders); i++ {
		f.own(lenders[i])
		for line := range strings.Lines(string(f.content(lenders[i] + "/info/alternates"))) {
			line = strings.TrimRight(line, "\r\n")
			switch {
			case line == "" || line[0] == '#':
				continue
			case line[0] == '"' || len(lenders) > maxAlternates:
				f.known = false
				continue
			}
			if lender := paths.From(lenders[i], line); !slices.Contains(lenders, lender) {
				lenders = append(lenders, lender)
				f.owner(path.Dir(lender))
			}
		}
	}
}
