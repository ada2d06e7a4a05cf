package host

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/host/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// maxKept bounds what is protected name by name below the working directories: each costs
// a sandbox a mount, and one more for every directory on the way. Where there is more, the
// directories that hold most of it are protected as a whole.
const maxKept = 512

// maxShut bounds how many entries of the working directories are protected as a whole, as a
// sandbox takes so many mounts and no more. Beyond it nothing can be written.
const maxShut = 2000

// keptNames are what a walk found to be protected.
type keptNames struct {
	names, links []string
	repositories []repository
}

// repository is a directory with a .git, or a bare one.
type repository struct {
	path string
	bare bool
}

// kept are the protected paths of a moment that are there. For those that are links it has
// where they lead and whether something is there: a mount can hold that, and not the link.
type kept map[string]string

// onlyTold stands for what git has to write in, so that it is told and not held.
const onlyTold = "only told"

// existing looks at what a walk found. Names directly in a directory of tops are left out
// that the sandbox keeps whether they are there or not.
func (k *keptNames) existing(rules *permissions.Walls, tops []string) kept {
	all := make(kept)
	list := once(namesIn)
	for _, path := range slices.Concat(k.names, k.links) {
		if !slices.Contains(tops, filepath.Dir(path)) || !rules.Placed(path) {
			all.add(path)
		}
	}
	for _, r := range k.repositories {
		mark := filepath.Join(r.path, gitName)
		if r.bare {
			mark = filepath.Join(r.path, "HEAD")
		}
		all.add(mark)
		if _, there := all[mark]; there && (r.bare || isListable(mark)) {
			all[mark] = onlyTold
		}
		for _, path := range rules.Repository(r.path, r.bare, list) {
			all.add(path)
		}
	}
	return all
}

// isListable reports whether a path is a directory that can be looked into. A command may
// have closed one, to open it again later.
func isListable(path string) bool {
	_, err := namesIn(path)
	return err == nil
}

// add notes a path that is there, other than as a sandbox's placeholder.
func (k kept) add(path string) {
	for len(path) > longestPath+256 { // what is around it can be held
		path = filepath.Dir(path)
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrPermission) && filepath.Dir(path) != path {
		k.add(filepath.Dir(path)) // a command may open it again
		return
	}
	if err != nil || info.Mode().Perm()&0o222 == 0 && sandbox.IsPlaceholder(path) {
		return
	}
	k[path] = ""
	if info.Mode()&os.ModeSymlink != 0 {
		_, err := os.Stat(path)
		k[path] = fmt.Sprint(err == nil, " ", realPath(path))
	}
}

// paths are what mounts can hold of it, of links where they lead.
func (k kept) paths(rules *permissions.Walls, paths realPaths) []string {
	var out []string
	for path, link := range k {
		at := paths.of(path)
		if link == onlyTold || at.err != nil || link == "" && at.path != path {
			continue // it is gone by now
		}
		if _, err := os.Lstat(at.path); err == nil {
			out = append(out, at.path)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(path string) bool { return !rules.Inside(path) })
}

// since is what is there now and was not, or led elsewhere. What lies in something new is
// left out.
func (k kept) since(before kept) []string {
	made := make([]string, 0)
	for path, link := range k {
		if was, there := before[path]; !there || was != link {
			made = append(made, path)
		}
	}
	slices.Sort(made)
	return slices.DeleteFunc(slices.Clone(made), func(path string) bool {
		return slices.ContainsFunc(made, func(other string) bool { return other != path && below(path, other) })
	})
}

// gatheredAround makes at most so many paths of a list, which lie in tops: the directories
// with the most branches that lead to some of them stand for all below. It returns those
// too, as shut. A top never stands for what is in it, as commands could write nothing then:
// where too many of its own entries hold some, there is one path for each of these, unless
// that are more than any sandbox can hold.
func gatheredAround(paths, tops []string, most int) (all, shut []string) {
	branches := branchesOf(paths, tops)
	least := 0
	for _, n := range branches {
		least = max(least, n)
	}
	for all = paths; len(all) > most && least > 0; least /= 2 {
		set := make(map[string]bool)
		shut = nil
		for _, path := range paths {
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

// branchesOf counts for each directory, from tops on, in how many of its entries paths lie.
func branchesOf(paths, tops []string) map[string]int {
	seen, branches := make(map[string]bool), make(map[string]int)
	for _, path := range paths {
		for at := path; at != "/" && !seen[at] && !slices.Contains(tops, at); at = filepath.Dir(at) {
			seen[at] = true
			branches[filepath.Dir(at)]++
		}
	}
	return branches
}

// outermostWith is the outermost directory above a path, and below tops, that has so many
// branches; empty is none.
func outermostWith(branches map[string]int, path string, tops []string, least int) string {
	found := ""
	for at := filepath.Dir(path); at != "/" && !slices.Contains(tops, at) && !slices.Contains(tops, path); at = filepath.Dir(at) {
		if branches[at] >= least {
			found = at
		}
	}
	return found
}

// madeNote tells the model what a command made that is protected from the next one on, and
// which directories it closed, so that there may be more.
func madeNote(made, closed []string, cwd string) string {
	var notes []string
	const most = 50
	if len(made) > 0 {
		notes = append(notes, "New since this command began: "+listed(mixed(seenFrom(cwd, made), most), most)+". Programs outside of the sandbox (git, editors, package managers, the host itself) act on what is in such files. Commands cannot change them from now on; tell the user about them before anything is run there.")
	}
	if len(closed) > 0 {
		notes = append(notes, "There may be new protected files in "+listed(seenFrom(cwd, closed), most)+", which can no longer be looked through. Commands cannot change them from now on; tell the user about them before anything is run there.")
	}
	return strings.Join(notes, " ")
}

// seenFrom are paths as they are seen from a directory that they may lie in.
func seenFrom(cwd string, paths []string) []string {
	out := slices.Clone(paths)
	for i, path := range out {
		if rest, inside := strings.CutPrefix(path, strings.TrimSuffix(cwd, "/")+"/"); inside {
			out[i] = rest
		}
	}
	return out
}

// mixed has some of each name first where there are more than so many paths, so that many
// of one name keep none of another out of sight.
func mixed(paths []string, most int) []string {
	if len(paths) <= most {
		return paths
	}
	seen, rank := make(map[string]int), make(map[string]int)
	for _, path := range paths {
		rank[path] = seen[filepath.Base(path)]
		seen[filepath.Base(path)]++
	}
	paths = slices.Clone(paths)
	slices.SortStableFunc(paths, func(a, b string) int { return rank[a] - rank[b] })
	return paths
}
