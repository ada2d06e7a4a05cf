package history

import (
	"fmt"
	"slices"
	"strings"
)

// leftOut is why what lies in some directories is not kept.
const leftOut = "left out by history_except"

// lacks are what is not known of a command's changes, by the reasons, in the order in which they came.
type lacks struct{ list []lack }

// lack is a reason, with the first files that it is about and how many there are.
type lack struct {
	why   string
	paths []string
	seen  map[string]bool
	more  int
}

// namedLacks is how many files are named for each reason, and maxReasons how many reasons.
const namedLacks, maxReasons = 3, 8

// add notes that a file is not kept; an empty path is one that is not known.
func (l *lacks) add(why, path string) {
	for i := range l.list {
		if l.list[i].why == why {
			l.list[i].add(path)
			return
		}
	}
	if len(l.list) < maxReasons {
		one := lack{why: why, seen: make(map[string]bool)}
		one.add(path)
		l.list = append(l.list, one)
	}
}

func (l *lack) add(path string) {
	const counted = 10_000
	switch {
	case l.seen[path]:
		return
	case len(l.seen) < counted:
		l.seen[path] = true
	}
	if len(l.paths) < namedLacks {
		l.paths = append(l.paths, path)
	} else {
		l.more++
	}
}

// told are those that are worth telling with the command's result: what lies in directories that are left out is
// not, as commands go there again and again.
func (l *lacks) told() *lacks {
	return &lacks{slices.DeleteFunc(slices.Clone(l.list), func(one lack) bool { return one.why == leftOut })}
}

// String says what is not kept; empty is nothing.
func (l *lacks) String() string {
	parts := make([]string, 0, len(l.list))
	for _, one := range l.list {
		names := strings.ToValidUTF8(strings.Join(one.paths, ", "), "?")
		if one.more > 0 {
			names += fmt.Sprintf(" and %d more", one.more)
		}
		if names == "" {
			parts = append(parts, one.why)
			continue
		}
		parts = append(parts, names+" ("+one.why+")")
	}
	return strings.Join(parts, "; ")
}
