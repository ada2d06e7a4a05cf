package changes

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Change is the change of one path.
type Change struct {
	Path string
	// Before and After are what is there; nil is nothing.
	Before, After *Node
	// From is where the file was before, if it was renamed; see [Renames].
	From string
}

// Below reports whether a path lies below a directory.
func Below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && rest != "" && (strings.HasSuffix(dir, string(filepath.Separator)) || rest[0] == filepath.Separator)
}

// Renames joins each removed file with a new one of the same content: the new one gets its
// From, and the removal is left out. Empty files are not joined. If several files have the
// same content, those with the same name are joined first.
func Renames(list []Change) []Change {
	named := func(hash, path string) string { return hash + "/" + filepath.Base(path) }
	gone := make(map[string][]int) // by content, and by content and name
	for i := range list {
		if c := &list[i]; c.Before.Is(File) && c.After == nil && c.Before.Size > 0 {
			for _, key := range []string{c.Before.Hash, named(c.Before.Hash, c.Path)} {
				gone[key] = append(gone[key], i)
			}
		}
	}
	if len(gone) == 0 {
		return list
	}
	taken := make([]bool, len(list))
	list = slices.Clone(list)
	join := func(c *Change, key string) {
		for c.From == "" && len(gone[key]) > 0 {
			j := gone[key][0]
			if gone[key] = gone[key][1:]; !taken[j] {
				taken[j] = true
				c.From, c.Before = list[j].Path, list[j].Before
			}
		}
	}
	for _, byName := range []bool{true, false} {
		for i := range list {
			if c := &list[i]; c.After.Is(File) && c.Before == nil {
				key := c.After.Hash
				if byName {
					key = named(key, c.Path)
				}
				join(c, key)
			}
		}
	}
	out := list[:0]
	for i := range list {
		if !taken[i] {
			out = append(out, list[i])
		}
	}
	return out
}

// Ordered returns changes in the order in which to make them: directories before what is in
// them, and removals last, innermost first. What is in a directory that becomes something
// else is removed first of all.
func Ordered(list []Change) []Change {
	turned := make(map[string]bool) // directories that become something else
	for i := range list {
		if c := &list[i]; c.Before.Is(Dir) && c.After != nil && !c.After.Is(Dir) {
			turned[c.Path] = true
		}
	}
	first := func(c *Change) bool {
		for dir := c.Path; c.After == nil && len(turned) > 0 && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			if turned[dir] {
				return true
			}
		}
		return false
	}
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b Change) int {
		byPath := ComparePaths(a.Path, b.Path)
		if a.After == nil {
			byPath = -byPath
		}
		return cmp.Or(rank(a.After == nil, first(&a))-rank(b.After == nil, first(&b)), byPath)
	})
	return out
}

func rank(gone, first bool) int {
	switch {
	case first:
		return 0
	case gone:
		return 2
	}
	return 1
}

// ComparePaths orders paths so that a directory is followed directly by what is in it.
func ComparePaths(a, b string) int {
	const separator = filepath.Separator
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i] == separator {
			return -1
		}
		if b[i] == separator {
			return 1
		}
		return cmp.Compare(a[i], b[i])
	}
	return cmp.Compare(len(a), len(b))
}

// Conflict says why a change cannot be made.
type Conflict struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	// Forceable says that a caller who forces it gets it made even so.
	Forceable bool `json:"forceable,omitempty"`
}

// ConflictError says that changes cannot be made. None was made.
type ConflictError struct {
	// Undone is what was not done with them, such as "applied".
	Undone    string
	Conflicts []Conflict
}

// Error names the first conflict and counts the others.
func (e *ConflictError) Error() string {
	first := e.Conflicts[0]
	if n := len(e.Conflicts) - 1; n > 0 {
		return fmt.Sprintf("nothing was %s: %s: %s; and %d more", e.Undone, first.Path, first.Why, n)
	}
	return fmt.Sprintf("nothing was %s: %s: %s", e.Undone, first.Path, first.Why)
}
