package discovery

import (
	"cmp"
	"io/fs"
	"time"
)

// Stamp is what a file system says of a file without its being read. Two equal
// stamps mean the same content, if the file had rested for a while when the
// first was taken (see [Stamp.Settled]).
type Stamp struct {
	Size, Modified, Changed int64 // bytes; nanoseconds since 1970
	Inode, Device           uint64
}

// rest is how long a file must have been left alone for its stamp to be trusted:
// a file that is changed twice within one tick of the file system's clock, which
// is two seconds on the coarsest, has the same stamp twice.
const rest = 2 * time.Second

// Settled reports whether a file of that stamp cannot have changed under it
// after a moment at which it was looked at. A clock that is ahead counts as no
// rest, and a stamp without the time of the last change, which nobody can set
// back, says too little.
func (s Stamp) Settled(at time.Time) bool {
	return s.Changed != 0 && max(s.Modified, s.Changed) < at.Add(-rest).UnixNano()
}

// stampOf is the stamp of a file that a file system describes.
func stampOf(info fs.FileInfo) Stamp {
	if p, ok := info.Sys().(*Program); ok {
		return p.Stamp
	}
	if s, ok := systemStamp(info.Sys()); ok {
		return s
	}
	s := Stamp{Size: info.Size()}
	if t := info.ModTime(); !t.IsZero() {
		s.Modified = t.UnixNano()
	}
	return s
}

// Since is when the file came to be as it is, in nanoseconds since 1970, or 0 where the
// system does not tell.
func (s Stamp) Since() int64 { return cmp.Or(s.Changed, s.Modified) }
