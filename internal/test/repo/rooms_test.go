package repo

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the import path of the root module.
const module = "github.com/toolquay/toolquay"

// room is a folder with everything below it that no other room is of.
type room struct {
	dir string
	// may is what its code may import besides the standard library and its own
	// packages, and tests what its test files may import, too.
	may, tests []string
	// forTests says that only tests, and other such rooms, may import it.
	forTests bool
	// row is what it has in common with the other folders of its row.
	row *row
}

// row notes which of the words of a row were of use, in its third and fourth columns.
type row struct{ may, tests map[string]bool }

// everything is the word for all packages of this module.
const everything = "everything"

// rooms reads the import table.
func rooms(t *testing.T) []room {
	t.Helper()
	var out []room
	for _, cells := range tableRows(t, "ARCHITECTURE.md", "| folder | what it is | may import | its tests too |") {
		common := &row{may: make(map[string]bool), tests: make(map[string]bool)}
		for _, dir := range items(cells[0]) {
			out = append(out, room{strings.Trim(dir, "/"), items(cells[2]), items(cells[3]), strings.HasPrefix(strings.TrimSpace(cells[1]), "For tests:"), common})
		}
	}
	return out
}

// items are the words of a cell; a hyphen is none.
func items(cell string) []string {
	var out []string
	for item := range strings.SplitSeq(cell, ",") {
		if item = strings.Trim(item, " `"); item != "-" {
			out = append(out, item)
		}
	}
	return out
}

// roomOf is the innermost room that a folder lies in.
func roomOf(all []room, dir string) (best *room) {
	for i, r := range all {
		if (dir == r.dir || strings.HasPrefix(dir, r.dir+"/")) && (best == nil || len(r.dir) > len(best.dir)) {
			best = &all[i]
		}
	}
	return best
}

var majorVersion = regexp.MustCompile(`/v[0-9]+\b`)

// covers reports whether an item of the table stands for a package.
func covers(item, importPath string) bool {
	item, below := strings.CutSuffix(item, "/...")
	name, own := strings.CutPrefix(importPath, module+"/")
	switch {
	case own && item == everything:
		return true
	case own:
		return name == item || below && strings.HasPrefix(name, item+"/")
	}
	name = "/" + majorVersion.ReplaceAllString(importPath, "")
	return strings.HasSuffix(name, "/"+item) || below && strings.Contains(name, "/"+item+"/")
}

// allows reports whether a file of the room may import a package, and notes what of the
// table says so.
func (r *room) allows(all []room, importPath string, test bool) bool {
	if first, _, _ := strings.Cut(importPath, "/"); !strings.Contains(first, ".") {
		return importPath != "io/ioutil" && importPath != "math/rand" // there are newer ones
	}
	if name, own := strings.CutPrefix(importPath, module+"/"); own {
		to := roomOf(all, name)
		switch {
		case to == nil:
			return false
		case to == r:
			return true
		case to.forTests && !test && !r.forTests:
			return false
		}
	}
	named := func(items []string) string {
		i := slices.IndexFunc(items, func(item string) bool { return covers(item, importPath) })
		if i < 0 {
			return ""
		}
		return items[i]
	}
	if item := named(r.may); item != "" {
		r.row.may[item] = r.row.may[item] || !test
		return true
	}
	item := named(r.tests)
	r.row.tests[item] = true
	return test && (item != "" || covers("internal/...", importPath) || covers("go-internal/testscript", importPath))
}
