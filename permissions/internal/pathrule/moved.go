package pathrule

import (
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/glob"
	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Moved says that a session works in another worktree of a repository than it began in. What
// rules say of paths in the one holds for the same paths in the other: for deny and ask rules
// beside what they say, and for relative allow rules in its place.
type Moved struct {
	// From are all names of the root of the worktree that the session came from; none where
	// it has not moved. To is the root of the other one, where it really lies.
	From []string
	To   string
}

// follow returns what a pattern names in the other worktree: the pattern is bound to in and
// rest there. Moved is false where it names nothing in the first one, and where it is one of
// any depth in the whole file system, which holds in both anyway.
func (m *Moved) follow(base string, segs []glob.Segment, fold bool) (in string, rest []glob.Segment, moved bool) {
	if (base == "" || base == "/") && len(segs) > 0 && segs[0].Deep {
		return "", nil, false
	}
	if base != "" && base != "/" {
		segs = append(glob.Names(base), segs...)
	}
	for _, from := range m.From {
		if rest, moved := beyond(segs, from, fold); moved {
			return m.To, rest, true
		}
	}
	return "", nil, false
}

// beyond takes the components off a pattern that lead to a directory, and reports whether they
// do.
func beyond(segs []glob.Segment, dir string, fold bool) (rest []glob.Segment, ok bool) {
	for dir = strings.Trim(dir, "/"); dir != ""; {
		if len(segs) == 0 {
			return nil, false
		}
		if segs[0].Deep {
			return segs, true
		}
		var name string
		if name, dir = paths.Cut(dir); !segs[0].Match(name, fold) {
			return nil, false
		}
		segs = segs[1:]
	}
	return segs, true
}

// relative reports whether the rule is written relative to a directory of the session or of its
// project.
func (r *Rule) relative() bool { return r.Spec.Anchor != Root && r.Spec.Anchor != Home }
