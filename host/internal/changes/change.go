package changes

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Change is a change to one path.
type Change struct {
	Path string
	// Before and After describe the path before and after the change; nil means that nothing is
	// there.
	Before, After *Node
	// From is the former path of a renamed file; see [Renames].
	From string
}

// Below reports whether a path is inside a directory, at any depth.
func Below(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && rest != "" && (strings.HasSuffix(dir, string(filepath.Separator)) || rest[0] == filepath.Separator)
}

// Renames pairs each removed file with a new file of the same content. The new file gets the
// removed one's path as From and its node as Before, and the removal is dropped. Empty files are
// not paired. If several files have the same content, those with the same base name are paired
// first.
func Renames(list []Change) []Change {
	named := func(hash, path string) string { return hash + "/" + filepath.Base(path) }
	gone := make(map[string][]int) // indexes of removed files, by hash and by hash with base name
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

// Ordered returns changes in the order in which to make them: directories before their contents,
// and removals last, innermost first. The contents of a directory that becomes a file or link are
// removed before all other changes.
func Ordered(list []Change) []Change {
	turned := make(map[string]bool) // directories that become a file or link
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

// ComparePaths orders paths so that the contents of a directory directly follow it.
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
	// Forceable means that a caller can have the change made despite the conflict.
	Forceable bool `json:"forceable,omitempty"`
}

// ConflictError reports that changes cannot be made. None of them was made.
type ConflictError struct {
	// Undone is the participle for the message "nothing was ...", such as "applied".
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
