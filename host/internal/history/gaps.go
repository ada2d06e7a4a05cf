package history

import (
	"fmt"
	"slices"
	"strings"
)

// leftOut is the reason that is given for directories of [Options].Except.
const leftOut = "left out by history_except"

// gaps say which changes of a command are not kept, and why: one gap for each reason, in order.
type gaps struct{ list []gap }

// gap is a reason, with the first files that it applies to and the number of the others.
type gap struct {
	why   string
	paths []string
	seen  map[string]bool
	more  int
}

// namedGaps bounds the files that are named for each reason, and maxReasons the reasons.
const namedGaps, maxReasons = 3, 8

// add notes that a file is not kept, and why. An empty path means that the file is not known.
func (l *gaps) add(why, path string) {
	for i := range l.list {
		if l.list[i].why == why {
			l.list[i].add(path)
			return
		}
	}
	if len(l.list) < maxReasons {
		one := gap{why: why, seen: make(map[string]bool)}
		one.add(path)
		l.list = append(l.list, one)
	}
}

func (l *gap) add(path string) {
	const counted = 10_000
	switch {
	case l.seen[path]:
		return
	case len(l.seen) < counted:
		l.seen[path] = true
	}
	if len(l.paths) < namedGaps {
		l.paths = append(l.paths, path)
	} else {
		l.more++
	}
}

// told returns the gaps that belong in the command's result. Directories that are left out do not, because many
// commands write there.
func (l *gaps) told() *gaps {
	return &gaps{slices.DeleteFunc(slices.Clone(l.list), func(one gap) bool { return one.why == leftOut })}
}

// String describes the gaps; it is empty if everything is kept.
func (l *gaps) String() string {
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
