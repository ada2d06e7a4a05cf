package gitrepo

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// maxIncludes is how many files one configuration is read from, at most as deep as git itself
// goes.
const maxIncludes = 100

// configuration is what the files of a configuration say.
type configuration struct {
	*Disk

	seen         []string
	includes     []string
	hooks, trees []string // as they are written
	// files are others that the configuration names, which git reads.
	files []string
}

// fileKeys are settings that name files whose lines git may print, if only in an error.
var fileKeys = map[string]bool{
	"blame.ignorerevsfile": true, "mailmap.file": true, "core.excludesfile": true, "core.attributesfile": true, "diff.orderfile": true,
}

// load reads a file, and those that it includes.
func (c *configuration) load(file string) {
	if slices.Contains(c.seen, file) || len(c.seen) >= maxIncludes {
		return
	}
	c.seen = append(c.seen, file)
	for _, s := range parseConfig(c.content(file)) {
		switch {
		case s.value == "":
		case s.section == "core" && s.key == "hookspath":
			c.hooks = append(c.hooks, s.value)
		case s.section == "core" && s.key == "worktree":
			c.trees = append(c.trees, s.value)
		case fileKeys[s.section+"."+s.key]:
			c.files = append(c.files, c.path(path.Dir(file), s.value))
		case (s.section == "include" || s.section == "includeif") && s.key == "path":
			included := c.path(path.Dir(file), s.value)
			c.includes = append(c.includes, included)
			c.load(included)
		}
	}
}

// path is where a path of a configuration leads.
func (c *configuration) path(dir, name string) string {
	name = strings.TrimPrefix(name, ":(optional)")
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return paths.From(c.home(), rest)
	}
	return paths.From(dir, name)
}
