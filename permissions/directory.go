package permissions

import (
	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/walk"
)

// Directory tells by the name alone whether reading a file of a directory needs a closer look:
// Plain reports whether no deny or ask rule and no protected place tells the name from the
// directory. It is safe for concurrent use, and valid as long as the policy is.
type Directory = walk.Directory

// Directory prepares reading what lies in a directory, given as it was named and as it
// really is.
func (p *Policy) Directory(target, actual string) Directory {
	dirs := []string{paths.Prefix(target)}
	if actual != target {
		dirs = append(dirs, paths.Prefix(actual))
	}
	return walk.Reading(dirs, p.guards.Index, p.book.paths[Deny].bound, p.book.paths[Ask].bound)
}
