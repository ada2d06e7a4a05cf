package capability

import (
	"context"
	"io"
	"os"
	"time"
)

// Knowledge is what the model of a session has read of files, as one call may know it.
// Paths are real ones. It is safe for concurrent use.
type Knowledge interface {
	// Seen returns the read state of a file.
	Seen(path string) (ReadState, bool)
	// Shown says what the call's result is to show of a file. It is added to the read
	// state when that result has left, as a success and complete: not before, and not if
	// the call fails, or its result is replaced or cut. What was seen of the file under
	// another stamp is dropped then. View names what was asked for; it is empty if asking
	// again is no repetition.
	Shown(path, view string, s ReadState)
	// Again reports whether exactly this view was shown in an earlier turn, when the file
	// had this stamp, so that it need not be shown again. It does so in one turn only: a
	// model that asks a third time has lost what it was shown.
	Again(path, view string, stamp Stamp) bool
	// Wrote replaces the read state by what is known after a write, whatever becomes of
	// the call. Views are dropped, and the change is not reported as one by others.
	Wrote(path string, s ReadState)
	// Rewrote says that the call replaced content that the model has not seen, since its
	// plugin had read it itself. The read state stays, and the change is reported to a
	// model that has seen earlier content.
	Rewrote(path string, stamp Stamp)
}

// ReadState is what was seen of one file.
type ReadState struct {
	Stamp Stamp
	// Ranges are the bytes that were seen, sorted by start; they may overlap.
	Ranges []Range
}

// Range is a range of a file's bytes, from From up to To, and the SHA-256 of them.
type Range struct {
	From, To int64
	Hash     [32]byte
}

// Stamp tells without reading a file that it probably is as it was.
type Stamp struct {
	Size int64
	// ModTime and ChangeTime are the inode's; ChangeTime is zero where the system
	// has none.
	ModTime, ChangeTime time.Time
	// Device and Inode are 0 where the system has none.
	Device, Inode uint64
	// Taken is when the stamp was taken. A file whose times are not clearly before
	// it may change without its stamp changing: see [Stamp.Settled].
	Taken time.Time
}

// settling is more than the steps in which file systems count time: 4 to 10 ms on
// Linux; FAT's two seconds are not covered.
const settling = 50 * time.Millisecond

// Same reports whether two stamps are of the same file as it then was, as far as
// stamps tell.
func (s Stamp) Same(t Stamp) bool {
	return s.Size == t.Size && s.ModTime.Equal(t.ModTime) && s.ChangeTime.Equal(t.ChangeTime) &&
		s.Device == t.Device && s.Inode == t.Inode
}

// Settled reports whether a later stamp that is the same proves that the content is
// the same, as git has it: the file had its times for a while when it was taken.
func (s Stamp) Settled() bool {
	return s.Taken.Sub(s.ModTime) > settling && s.Taken.Sub(s.ChangeTime) > settling
}

// Whole reports whether all of the file was seen.
func (s ReadState) Whole() bool { return s.Covers(0, s.Stamp.Size) }

// Covers reports whether the bytes from from up to to were seen.
func (s ReadState) Covers(from, to int64) bool {
	for _, r := range s.Ranges {
		if r.From <= from && from <= r.To {
			from = r.To
		}
	}
	return from >= to
}

// History keeps what files were before they are written. It is safe for concurrent
// use.
type History interface {
	// Keep records a write that is about to be done, with the former content. The
	// write is done only where Keep succeeds. It returns the record's name.
	Keep(ctx context.Context, w Write) (id string, err error)
	// Void takes back the record of a write that was not done.
	Void(id string) error
	// Watch starts keeping the former content of files that a command is about to change below
	// some directories.
	Watch(call Call, dirs []string) CommandWatch
	// Unknown records that the changes of a command are not known, and why.
	Unknown(ctx context.Context, call Call, why string) error
}

// CommandWatch keeps the former content of files that a command changes. Touch, Rename and Link
// are called before each change, while the command waits. It is safe for concurrent use.
type CommandWatch interface {
	// Begin is called first. look opens the file at a path as the command sees it, for its metadata
	// and not for reading. It works only during a call of Touch, Rename or Link.
	Begin(look func(path string) (*os.File, error))
	// Touch says that the command may create, change or remove the file at a path. fresh says that
	// it can only create one, and only if the path is free.
	Touch(path string, fresh bool)
	// Rename says that the command may rename the path from to the path to, replacing what lies
	// there. exchange says that the two trade places.
	Rename(from, to string, exchange bool)
	// Link says that the command may make a hard link to the file from at the path to, if that path
	// is free.
	Link(from, to string)
	// Missed says that the command may have made changes that are not known, and why.
	Missed(err error)
	// End records what the command changed. It is called when the command has ended. It returns a
	// sentence about what is not kept; empty if everything is.
	End(ctx context.Context) (gaps string)
}

// Write is one write of a file, as history keeps it.
type Write struct {
	Call Call
	// Path is the file's real path.
	Path string
	// Before is the former content and BeforeSize its length in bytes; nil where
	// there was no file. It is read once, before Keep returns.
	Before     io.Reader
	BeforeSize int64
	// Mode are the permission bits of the former file.
	Mode uint32
	// AfterHash and AfterSize are of the new content.
	AfterHash [32]byte
	AfterSize int64
}
