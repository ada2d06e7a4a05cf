//go:build amd64 || arm64

package sandbox

import (
	"path/filepath"
	"slices"
)

// Bounds says that [Spec].Visible counts on this system.
const Bounds = true

// root is what lies at the sandbox's root: an empty folder, where it is told what is in
// sight, or the machine's.
func (l *layout) root() *entry {
	if len(l.entries) > 0 && l.entries[0].target == "/" {
		return l.entries[0]
	}
	return &entry{kind: kindReadOnly, target: "/", source: "/"}
}

// visible asks for an empty root, an empty home and what is to be seen in them; roots are
// the writable folders.
func (l *layout) visible(o Options, spec Spec, roots []string) {
	if len(spec.Visible) == 0 {
		return
	}
	l.want(kindEmpty, "/", "")
	if home, err := l.seen.realDir(o.Home); err == nil && home != "/" && !inAny(home, roots) && !inAny(home, spec.Visible) {
		l.want(kindEmpty, home, "")
	}
	for _, path := range spec.Visible {
		l.see(path, roots)
	}
}

// ownPlaces are those of which a sandbox has its own.
var ownPlaces = []string{"/proc", "/dev", "/run"}

// see puts a path in sight, with the links that lead to it. It does not look at what a
// command can write to: that is in sight, and a link there could lead anywhere.
func (l *layout) see(path string, roots []string) {
	stopped := false
	at, err := l.seen.follow(filepath.Clean(path), func(next, link string) bool {
		stopped = inAny(next, roots) || inAny(next, ownPlaces)
		if !stopped && link != "" {
			l.want(kindLink, next, link)
		}
		return !stopped
	})
	if err == nil && !stopped && at != "/" {
		l.want(kindReadOnly, at, at)
	}
}

func inAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(path, dir) })
}
