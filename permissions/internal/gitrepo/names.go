package gitrepo

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// programs are the names in git's own directory that make git run programs, or read its
// configuration elsewhere. No command in a sandbox may write them. Git writes the rest when a
// command commits, fetches or rebases: objects, refs, logs, index, HEAD, the state of a merge or
// rebase. So it may write info/attributes, which can only choose among configured filters, as any
// .gitattributes can.
var programs = []string{
	"hooks",           // programs that git runs
	"config",          // names hooks, filters, pagers, the file system monitor, aliases ...
	"config.worktree", // the same, for one work tree
	"commondir",       // leads to another directory with hooks and configuration
}

// folders hold directories that are laid out as git's own: those of submodules
// and of further work trees.
var folders = []string{"modules", "worktrees"}

// large are the directories of a repository that are large and hold no others that
// are laid out as git's own.
var large = []string{"objects", "refs", "logs", "lfs", "hooks", "info"}

// Inside returns the part of a path below its last component .git.
func Inside(name string) (rest string, ok bool) {
	for tail := strings.TrimPrefix(name, "/"); tail != ""; {
		var part string
		part, tail = paths.Cut(tail)
		if paths.Fold(part) == ".git" {
			rest, ok = tail, true
		}
	}
	return rest, ok
}

// RunsPrograms reports whether a path below git's own directory is one of
// [programs], or lies in one. The directory itself is not.
func RunsPrograms(rest string) bool {
	for first := true; rest != ""; first = false {
		var part string
		part, rest = paths.Cut(rest)
		part = paths.Fold(part)
		if slices.Contains(programs, part) {
			return true
		}
		// A submodule may be called libs/x, so its name ends anywhere.
		if first && !slices.Contains(folders, part) {
			return false
		}
	}
	return false
}
