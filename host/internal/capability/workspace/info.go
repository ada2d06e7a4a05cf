package workspace

import (
	"time"

	"github.com/toolquay/toolquay/host/capability"
)

// Info is what is known of a file.
type Info struct {
	// Kind is one of the kinds of package abi, such as [abi.KindFile].
	Kind string
	// Size is in bytes; 0 for all but regular files.
	Size    int64
	ModTime time.Time
	// ChangeTime is when the inode changed; zero where the system does not tell.
	ChangeTime time.Time
	// Mode are the permission bits, with set-uid, set-gid and sticky as Unix has
	// them; UID and GID the owner; Links the number of names. All are 0 where the
	// system has none.
	Mode     uint32
	UID, GID uint32
	Links    uint64

	what string // what a file of kind other is, for messages
	id   fileID
}

// Stamp is what tells without reading that the file probably is as it was, as taken
// now.
func (i Info) Stamp() capability.Stamp {
	device, inode := i.id.numbers()
	return capability.Stamp{
		Size: i.Size, ModTime: i.ModTime, ChangeTime: i.ChangeTime,
		Device: device, Inode: inode, Taken: time.Now(),
	}
}

// Same reports whether both are of one file.
func (i Info) Same(j Info) bool { return i.id.same(j.id) }

// still reports whether a file is as it was, as far as that shows when it has been
// given another name since, which sets its change time.
func (i Info) still(was Info) bool {
	return i.Same(was) && i.Kind == was.Kind && i.Size == was.Size && i.ModTime.Equal(was.ModTime) &&
		i.Mode == was.Mode && i.UID == was.UID && i.GID == was.GID
}
