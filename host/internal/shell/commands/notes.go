package commands

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// madeNote tells the model which protected files a command created, and in which directories
// there may be more because it closed them. Cwd is where the model sees paths from.
func madeNote(made, closed []string, cwd string) string {
	const most = 50
	const advice = "Commands cannot change them from now on; tell the user about them before anything is run there."
	var notes []string
	if len(made) > 0 {
		notes = append(notes, "New since this command began: "+listed(mixed(relative(cwd, made), most), most)+". Programs outside of the sandbox (git, editors, package managers, the host itself) act on what is in such files. "+advice)
	}
	if len(closed) > 0 {
		notes = append(notes, "There may be new protected files in "+listed(relative(cwd, closed), most)+", which can no longer be looked through. "+advice)
	}
	return strings.Join(notes, " ")
}

// relative makes paths relative to a directory, as far as they lie in it.
func relative(dir string, names []string) []string {
	out := slices.Clone(names)
	for i, path := range out {
		if rest, inside := strings.CutPrefix(path, strings.TrimSuffix(dir, "/")+"/"); inside {
			out[i] = rest
		}
	}
	return out
}

// mixed puts some paths of each base name first where there are more than so many, so that
// many of one name do not crowd out the others.
func mixed(names []string, most int) []string {
	if len(names) <= most {
		return names
	}
	seen, rank := make(map[string]int), make(map[string]int)
	for _, path := range names {
		rank[path] = seen[filepath.Base(path)]
		seen[filepath.Base(path)]++
	}
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return rank[a] - rank[b] })
	return names
}

// listed names the first of several paths, which commands may have chosen.
func listed(names []string, most int) string {
	shown := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		shown = append(shown, plainly(name))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// plainly makes a path fit for a sentence: it is quoted if it has line breaks and the like,
// and cut if it is long.
func plainly(name string) string {
	const longest = 300
	if len(name) > longest {
		name = name[:longest/2] + "..." + name[len(name)-longest/2:]
	}
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
