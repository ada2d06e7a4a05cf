//go:build amd64 || arm64

package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	if home, err := realDir(o.Home); err == nil && home != "/" && !inAny(home, roots) && !inAny(home, spec.Visible) {
		l.want(kindEmpty, home, "")
	}
	for _, path := range spec.Visible {
		l.see(path, roots)
	}
}

// maxLinks bounds how many links lead to what is in sight, as the kernel does.
const maxLinks = 40

// ownPlaces are those of which a sandbox has its own.
var ownPlaces = []string{"/proc", "/dev", "/run"}

// see puts a path in sight, with the links that lead to it. It does not look at what a
// command can write to: that is in sight, and a link there could lead anywhere.
func (l *layout) see(path string, roots []string) {
	at, names := "/", strings.Split(filepath.Clean(path), "/")
	for links := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		if name == "" {
			continue
		}
		next := filepath.Join(at, name) // at has no links, so .. is what is above it
		info, err := os.Lstat(next)
		if err != nil || inAny(next, roots) || inAny(next, ownPlaces) {
			return
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		text, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return
		}
		l.want(kindLink, next, text)
		if filepath.IsAbs(text) {
			at = "/"
		}
		names = append(strings.Split(text, "/"), names...)
	}
	if at != "/" {
		l.want(kindReadOnly, at, at)
	}
}

func inAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(path, dir) })
}
