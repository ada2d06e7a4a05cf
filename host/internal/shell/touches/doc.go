// Package touches reports which files a command is about to change, before it does.
//
// It uses seccomp user notification: a filter ([Filter]) makes system calls wait if they can create, change or
// remove files by their paths. Calls that only read do not wait. A [Watch] receives each call, finds out which file
// it names, reports that to a [Handler], and lets the call continue. Files are named by their real paths, which are
// the same inside and outside the command's sandbox.
//
// It is not a security boundary. The path that a thread passes, and the file there, can change between the report
// and the call: then the handler gets a wrong name, or none. Some changes are not reported: writes to a file that
// was opened before the filter was installed, sockets that bind creates, and changes of owners, times and extended
// attributes.
//
// No call waits for a handler longer than [Patience]. After that its call continues, and so do all further calls
// until the handler returns. [Handler].Missed is called then.
//
// Only Linux has user notification.
package touches

import (
	"os"
	"time"
)

// Patience is how long a call waits for a handler.
const Patience = 10 * time.Second

// Handler receives paths before a command changes them. The command waits until the handler returns.
type Handler interface {
	// Begin is called first. look opens what is at a path as the command sees it, for its metadata and not for
	// reading. It follows no symbolic links, neither on the way nor at the end. Errors are [fs.ErrNotExist],
	// [fs.ErrPermission] if the path is not watched, and [os.ErrClosed] if the command no longer waits, so that
	// the result may be wrong. look works only during a call of Touch, Rename or Link.
	Begin(look func(path string) (*os.File, error))
	// Touch says that a file may be created, changed or removed at a path. fresh says that it is only created,
	// and only if the path is free.
	Touch(path string, fresh bool)
	// Rename says that from may be renamed to to, replacing what is there. exchange says that the two trade
	// places.
	Rename(from, to string, exchange bool)
	// Link says that a hard link to from may be made at to, if that path is free.
	Link(from, to string)
	// Missed says that changes may have been made that are not known, and why.
	Missed(err error)
}
