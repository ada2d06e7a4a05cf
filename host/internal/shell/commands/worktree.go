package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/paths"
)

// repositories returns the directories of git's own that the working directories are linked
// work trees of, as far as they lie outside of all of them: without those, git can commit
// nothing there.
func repositories(p *capability.SandboxPolicy, follow func(path string) string) []string {
	var out []string
	for _, dir := range p.Working {
		if common := commonDir(follow(dir)); common != "" && !below(p, common) && !slices.Contains(out, common) {
			out = append(out, common)
		}
	}
	return out
}

// maxFurther bounds how many further work trees are shown to git.
const maxFurther = 64

// further returns the .git files of work trees outside of the writable directories tops whose
// repositories lie there. Git looks for these files alone, and where it does not see them it
// takes the work trees for gone and forgets them.
func further(tops []string) []string {
	var out []string
	for _, top := range tops {
		for _, git := range []string{filepath.Join(top, ".git"), top} {
			names, _ := paths.Names(filepath.Join(git, "worktrees"))
			for _, name := range names {
				mark := pointer(filepath.Join(git, "worktrees", name, "gitdir"), "")
				inside := slices.ContainsFunc(tops, func(top string) bool { return paths.Below(mark, top) })
				if filepath.Base(mark) == ".git" && !inside && pointer(mark, "gitdir: ") != "" && len(out) < maxFurther {
					out = append(out, mark)
				}
			}
		}
	}
	return out
}

// commonDir returns the directory of git's own, as it really lies, that a directory is a linked
// work tree or a submodule of; empty is none. A .git file alone shows nothing, as it may have
// come with the rest of the directory: the repository must name the work tree, too.
func commonDir(tree string) string {
	mark := filepath.Join(tree, ".git")
	info, err := os.Lstat(mark)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	own := pointer(mark, "gitdir: ")
	if own == "" {
		return ""
	}
	common := pointer(filepath.Join(own, "commondir"), "")
	switch {
	case common == "" && workTree(own) == tree:
		common = own
	case common == "" || filepath.Join(common, "worktrees", filepath.Base(own)) != own || pointer(filepath.Join(own, "gitdir"), "") != mark:
		return ""
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return ""
		}
	}
	return common
}

// workTree is the work tree that the configuration of a submodule names, as it really lies,
// where git has written it plainly.
func workTree(own string) string {
	content, err := paths.Beginning(filepath.Join(own, "config"))
	if err != nil {
		return ""
	}
	section := ""
	for line := range strings.Lines(string(content)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		switch {
		case strings.HasPrefix(key, "["):
			section = key
		case section == "[core]" && key == "worktree" && !strings.ContainsAny(value, "\"\\#;"):
			return paths.Real(filepath.Join(own, value))
		}
	}
	return ""
}

// pointer is where a file of git's leads, as it really lies.
func pointer(file, prefix string) string {
	content, err := paths.Beginning(file)
	if err != nil {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(content), "\r\n"), prefix)
	if !ok || name == "" || strings.ContainsAny(name, "\x00\n") {
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	return paths.Real(name)
}
