package search

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/internal/ignore"
)

// maxIgnoreFile is how much of an ignore file is read, in bytes.
const maxIgnoreFile = 1 << 20

// ignores are the ignore files of one directory, and by way of parent those of
// the directories above it that have any.
type ignores struct {
	parent *ignores
	base   int // where a path relative to the directory starts in a real path
	// top says that the directory is the root of a repository.
	top bool
	// inRepo says that a repository holds the directory.
	inRepo                    bool
	plain, gitignore, exclude *ignore.Rules
}

// ignored says what the ignore files make of a name in a real directory: as in
// ripgrep, a word of any .ignore file has more weight than every .gitignore, and
// among files of one name the nearest decides.
func (g *ignores) ignored(in, name string, dir bool) bool {
	if g == nil {
		return false
	}
	path := join(in, name)
	var plain, git, exclude ignore.Verdict
	inRepo := g.inRepo
	for ; g != nil; g = g.parent {
		rel := filepath.ToSlash(path[g.base:])
		if plain == ignore.None {
			plain = g.plain.Match(rel, dir)
		}
		if inRepo && git == ignore.None {
			git = g.gitignore.Match(rel, dir)
		}
		if inRepo && exclude == ignore.None {
			exclude = g.exclude.Match(rel, dir)
		}
		if g.top {
			inRepo = false // what lies above is another repository's
		}
	}
	for _, v := range []ignore.Verdict{plain, git, exclude} {
		if v != ignore.None {
			return v == ignore.Ignored
		}
	}
	return false
}

// load reads the ignore files of a directory with the given real path, where has
// does not say that it has none of a name. Without any it returns parent.
func load(parent *ignores, dir *workspace.Dir, path string, has func(name string) bool) *ignores {
	g := &ignores{parent: parent, base: len(join(path, ""))}
	if has(".ignore") {
		g.plain = rules(dir, ".ignore")
	}
	if has(".gitignore") {
		g.gitignore = rules(dir, ".gitignore")
	}
	if has(".git") {
		if info, err := dir.Stat(".git"); err == nil && info.Kind != abi.KindOther {
			g.top = true
			g.exclude = excludes(dir)
		}
	}
	g.inRepo = g.top || parent != nil && parent.inRepo
	if !g.top && g.plain == nil && g.gitignore == nil {
		return parent
	}
	return g
}

// anyName is for a directory of whose entries nothing is known.
func anyName(string) bool { return true }

// rules reads one ignore file; nil where there is none. A link in its place is
// not followed, as in git.
func rules(dir *workspace.Dir, name string) *ignore.Rules {
	f, _, err := dir.OpenFile(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	if r := ignore.Parse(text); r.Len() > 0 {
		return r
	}
	return nil
}

// excludes reads .git/info/exclude. Where .git is a file, as in a linked work
// tree, there is none to read.
func excludes(dir *workspace.Dir) *ignore.Rules {
	git, err := dir.OpenDir(".git")
	if err != nil {
		return nil
	}
	defer func() { _ = git.Close() }() // it was only read
	info, err := git.OpenDir("info")
	if err != nil {
		return nil
	}
	defer func() { _ = info.Close() }()
	return rules(info, "exclude")
}

// parents reads the ignore files above a real directory: up to the root of the
// repository that holds it or, without one, up to cwd.
func parents(start, cwd string) *ignores {
	var chain []*ignores
	keep := 0
	for dir := start; ; {
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
		g := loadAt(dir)
		if g != nil {
			chain = append(chain, g)
		}
		if _, ok := relative(cwd, dir); ok {
			keep = len(chain)
		}
		if g != nil && g.top {
			keep = len(chain)
			break
		}
	}
	return link(chain[:keep])
}

// link makes a chain of directories, the nearest first, know each other.
func link(chain []*ignores) *ignores {
	var parent *ignores
	for _, g := range slices.Backward(chain) {
		g.parent = parent
		g.inRepo = g.top || parent != nil && parent.inRepo
		parent = g
	}
	return parent
}

func loadAt(path string) *ignores {
	n, err := workspace.Resolve(path, path)
	if err != nil {
		return nil
	}
	defer func() { _ = n.Close() }() // it was only read
	dir, err := n.OpenDir()
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	return load(nil, dir, path, anyName)
}

// isVCS reports whether a name is a version control system's own.
func isVCS(name string) bool {
	if !strings.HasPrefix(name, ".") {
		return false
	}
	switch name {
	case ".git", ".svn", ".hg", ".bzr", ".jj", ".sl":
		return true
	}
	return false
}
