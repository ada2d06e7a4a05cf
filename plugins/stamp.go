package plugins

import (
	"io/fs"
	"time"
)

// stamp is what a file system says of a file without its being read. Two equal
// stamps mean the same content, if the file had rested for a while when the
// first was taken (see [stamp.settled]).
type stamp struct {
	size, modified, changed int64 // bytes; nanoseconds since 1970
	inode, device           uint64
}

// rest is how long a file must have been left alone for its stamp to be trusted:
// a file that is changed twice within one tick of the file system's clock, which
// is two seconds on the coarsest, has the same stamp twice.
const rest = 2 * time.Second

// settled reports whether a file of that stamp cannot have changed under it
// after a moment at which it was looked at. A clock that is ahead counts as no
// rest, and a stamp without the time of the last change, which nobody can set
// back, says too little.
func (s stamp) settled(at time.Time) bool {
	return s.changed != 0 && max(s.modified, s.changed) < at.Add(-rest).UnixNano()
}

// stampOf is the stamp of a file that a file system describes.
func stampOf(info fs.FileInfo) stamp {
	if p, ok := info.Sys().(*programFile); ok {
		return p.stamp
	}
	if s, ok := systemStamp(info.Sys()); ok {
		return s
	}
	s := stamp{size: info.Size()}
	if t := info.ModTime(); !t.IsZero() {
		s.modified = t.UnixNano()
	}
	return s
}
