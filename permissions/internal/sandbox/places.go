package sandbox

import (
	"cmp"

	"github.com/toolquay/toolquay/permissions/internal/paths"
)

// Places are paths that a sandbox hides or protects, absolute, clean and sorted. They may lead
// through links, which must be resolved first, and may not exist.
type Places struct {
	// Hidden may not be read. Those that do not exist need nothing.
	Hidden []string
	// Shown lie in hidden paths, and may be read: what a person approved, the session's
	// own folder, the worktree that the host made for it, and folders of skills that rules
	// allow. Hidden paths in them stay hidden: apply both lists in one, in order.
	Shown []string
	// Protected lie in writable directories. They may not be changed, nor created.
	Protected []string
	// Pinned are the directories above them, up to the writable one. They may be written but
	// not renamed, as another directory could take their place; a mount on itself prevents
	// that.
	Pinned []string
}

// protect adds a path in a writable directory, or each writable directory in the path.
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
