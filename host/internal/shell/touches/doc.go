// Package touches reports which files a command is about to change, before it does.
//
// A filter ([Filter]) makes system calls wait that can create, change or remove files by their paths; calls that
// only read are not held. A [Watch] receives each call, finds out which file it is about, tells a [Handler], and
// lets the call go on. Files are named by their real paths, which are the same in the command's sandbox and
// outside.
//
// It is not a security boundary. The path that a thread names, and what lies there, can change between the
// report and the call: then the handler gets a wrong name, or none. Not reported are writes to a file that was
// opened before the filter was installed, sockets that are bound, and changes of owners, times and extended
// attributes.
//
// A handler that takes longer than [Patience] is not waited for: its call goes on, and so do all calls until it
// returns. Then it is told that it missed them.
//
// Only Linux has such filters.
package touches

import (
	"os"
	"time"
)

// Patience is how long a call waits for a handler.
const Patience = 10 * time.Second

// Handler is told of paths before a command changes them. The command waits until it returns.
type Handler interface {
	// Begin is called first. Look opens what lies at a path as the command sees it, for its metadata and not for
	// reading. It follows no links, neither on the way nor at the path. Errors are [fs.ErrNotExist],
	// [fs.ErrPermission] if the path is not watched, and [os.ErrClosed] if the command no longer waits, so that
	// the answer would not count. Look works only during a call of Touch, Rename or Link.
	Begin(look func(path string) (*os.File, error))
	// Touch says that something may be created, changed or removed at a path. Fresh says that it is only
	// created, and only if the path is free.
	Touch(path string, fresh bool)
	// Rename says that from may be renamed to to, replacing what lies there. Exchange says that the two trade
	// places.
	Rename(from, to string, exchange bool)
	// Link says that a hard link to from may be made at to, if that path is free.
	Link(from, to string)
	// Missed says that something may have been changed, and that it is not known what.
	Missed(err error)
}
