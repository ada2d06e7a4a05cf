package protected

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/internal/paths"
)

// maxShut bounds how many entries of the working directories are protected as a whole: a
// sandbox takes no more mounts. Beyond it nothing can be written.
const maxShut = 2000

// Gather reduces a list of directories to a number of them, by replacing the deepest ones
// with their parents. Everything in the list is, or lies in, one of the result.
func Gather(dirs []string, most int) []string {
	set := make(map[string]bool, len(dirs))
	for _, dir := range dirs {
		set[dir] = true
	}
	for len(set) > most {
		deepest := 0
		for dir := range set {
			deepest = max(deepest, depth(dir))
		}
		for dir := range set {
			if depth(dir) == deepest {
				delete(set, dir)
				set[filepath.Dir(dir)] = true
			}
		}
	}
	return outermost(slices.Sorted(maps.Keys(set)))
}

// outermost leaves out the paths that lie in another one of a list.
func outermost(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(path string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return other != path && paths.Below(path, other) })
	})
}

// depth is how many components a clean path has.
func depth(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }

// GatherAround reduces a list of paths below tops to a number of them, by replacing paths
// with a directory above them that has the most branches leading to some. It returns those
// directories as shut, too. A top never stands for its content, since commands could then
// write nothing. Where too many of its own entries lead to some, the result has one path for
// each entry, unless no sandbox could hold that many: then it is the tops after all.
func GatherAround(names, tops []string, most int) (all, shut []string) {
	branches := branchesOf(names, tops)
	least := 0
	for _, n := range branches {
		least = max(least, n)
	}
	for all = names; len(all) > most && least > 0; least /= 2 {
		set := make(map[string]bool)
		shut = nil
		for _, path := range names {
			if dir := outermostWith(branches, path, tops, least); dir != "" && !set[dir] {
				path, shut = dir, append(shut, dir)
			} else if dir != "" {
				continue
			}
			set[path] = true
		}
		all = slices.Sorted(maps.Keys(set))
	}
	if len(all) > max(most, maxShut) {
		return tops, tops
	}
	return all, shut
}

// branchesOf counts, for each directory from tops on, how many of its entries lead to one
// of the paths.
func branchesOf(names, tops []string) map[string]int {
	seen, branches := make(map[string]bool), make(map[string]int)
	for _, path := range names {
		for at := path; at != "/" && !seen[at] && !slices.Contains(tops, at); at = filepath.Dir(at) {
			seen[at] = true
			branches[filepath.Dir(at)]++
		}
	}
	return branches
}

// outermostWith returns the outermost directory above a path and below tops that has at
// least so many branches, or "".
func outermostWith(branches map[string]int, path string, tops []string, least int) string {
	found := ""
	for at := filepath.Dir(path); at != "/" && !slices.Contains(tops, at) && !slices.Contains(tops, path); at = filepath.Dir(at) {
		if branches[at] >= least {
			found = at
		}
	}
	return found
}
