//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package workspace

import "golang.org/x/sys/unix"

// place is one step of a walk: what was found under a name.
type place struct {
	name string
	fd   int // -1 where it cannot be held
	info Info
	link string // where a symbolic link points
	err  error  // why a file that exists could not be opened
}

func (p *place) close() {
	if p.fd >= 0 {
		_ = unix.Close(p.fd)
	}
}
