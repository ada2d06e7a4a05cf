// Package touches tells which files a command is about to change, before it does.
//
// A filter ([Filter]) has the calls wait that can make, change or remove files by their paths; what only reads
// pays nothing. A [Watch] hears of each, finds out which file it is about, tells a [Handler], and lets the
// call go on. Files are named by their real paths, as the command's sandbox has them at the same place
// as the machine.
//
// It is no fence. What a thread names can become another between the look and the call, as can what
// lies there: then a handler is told the wrong name, or none. What is written to a file that was opened
// before the filter was there is not told either, nor what a socket makes by being bound, nor changes of
// owners, times and extended attributes.
//
// A handler that takes longer than [Patience] is not waited for: the call goes on, and so do all that follow
// until it is back, when it is told that it missed them.
//
// Only Linux has such filters.
package touches

import (
	"os"
	"time"
)

// Patience is how long a call waits for a handler.
const Patience = 10 * time.Second

// Handler is told of paths before something happens there. A call waits until it returns.
type Handler interface {
	// Begin is called before anything else. Look opens what lies at a path, as the command finds it, to be
	// looked at and not to be read: it follows no link, on the way neither. Errors are [fs.ErrNotExist],
	// [fs.ErrPermission] where it is not told of, and [os.ErrClosed] where the command does not wait any more, so
	// that what it finds there is no answer. It is only for the methods below.
	Begin(look func(path string) (*os.File, error))
	// Touch is told that something may be made, changed or removed at a path. Fresh says that something
	// may be made, and only if nothing lies there.
	Touch(path string, fresh bool)
	// Rename is told that what lies at one path may be moved to another one, where it would replace what
	// lies there. Exchange says that the two trade places.
	Rename(from, to string, exchange bool)
	// Link is told that what lies at one path may get another name too, if nothing lies there.
	Link(from, to string)
	// Missed is told that something may be changed, and that it cannot be said what.
	Missed(err error)
}
