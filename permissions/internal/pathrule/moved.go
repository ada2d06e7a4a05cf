package pathrule

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/glob"
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

// follow returns what a pattern names in the other worktree: it is bound there to each of the
// rests. There is none where it names nothing in the first worktree. One of any depth in the whole
// file system holds in both anyway, and has a rest only where it names the way to the first one.
func (m *Moved) follow(base string, segs []glob.Segment, fold bool) (rests [][]glob.Segment) {
	if base != "" && base != "/" {
		segs = append(glob.Names(base), segs...)
	}
	for _, from := range m.From {
		reached := glob.Reach(segs, strings.Trim(from, "/"), fold)
		for i, reached := range slices.Backward(reached) {
			switch {
			case !reached, i == 0 && len(segs) > 0 && segs[0].Deep:
			case i > 0 && segs[i-1].Deep: // the one before it can be none, too
			default:
				rests = append(rests, segs[i:])
			}
		}
	}
	return rests
}

// relative reports whether the rule is written relative to a directory of the session or of its
// project.
func (r *Rule) relative() bool { return r.Spec.Anchor != Root && r.Spec.Anchor != Home }
