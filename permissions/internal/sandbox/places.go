package sandbox

import (
	"cmp"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Places are paths that a sandbox shuts, absolute and clean, sorted. Most may lead
// through links: they are to be resolved before they are shut, and so may not exist.
type Places struct {
	// Hidden may not be read. Those that do not exist need nothing.
	Hidden []string
	// Shown lie in hidden paths, and may be read: what a person approved, and the session's
	// own folder. Hidden paths in them stay hidden: apply both lists in one, in order.
	Shown []string
	// Protected lie in writable directories and may not be changed, nor made where they
	// do not exist.
	Protected []string
	// Pinned are the directories above them, up to the writable one. They may be
	// written but not renamed, as another could be put in their place; one that is
	// mounted on itself cannot be. Those that do not exist come into being with the
	// placeholder of what is protected in them.
	Pinned []string
}

// protect adds a path that lies in a writable directory, or such a directory that lies
// in it.
func (p *Places) protect(roots []string, name string) {
	for _, dir := range roots {
		if _, inside := paths.Below(dir, name); inside {
			p.Protected = append(p.Protected, name)
			p.Pinned = append(p.Pinned, paths.Parents(dir, name)...)
		} else if _, above := paths.Below(paths.Prefix(name), dir); above {
			p.Protected = append(p.Protected, cmp.Or(dir, "/"))
		}
	}
}
