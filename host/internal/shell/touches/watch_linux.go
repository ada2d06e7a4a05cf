//go:build amd64 || arm64

package touches

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/seccomp"
)

// Watch reports to a handler what a command is about to change.
type Watch struct {
	listener *seccomp.Listener
	owns     func(path string) bool
	handler  Handler
	// call is the call that is being handled.
	call seccomp.Call
	paths
}

// Begin begins to report, until no process with the filter is left, or until Close. Root is the root directory
// of the command's sandbox, and owns reports whether a real path there is watched. Begin takes over the files.
func Begin(listener, root *os.File, owns func(path string) bool, h Handler) (*Watch, error) {
	l, err := seccomp.Listen(listener, Patience)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening to a command: %w", err), root.Close())
	}
	w := &Watch{listener: l, owns: owns, handler: h, paths: newPaths(root)}
	h.Begin(w.look)
	go func() {
		defer root.Close()
		if err := l.Serve(w.hear, w.late); err != nil {
			h.Missed(err)
		}
	}()
	return w, nil
}

// look is the function that [Handler.Begin] gets.
func (w *Watch) look(path string) (*os.File, error) {
	if !w.owns(path) {
		return nil, fs.ErrPermission
	}
	fd, err := w.open(path)
	if !w.listener.Waits(w.call) { // else the mounts that hide files may have been gone
		if err == nil {
			_ = unix.Close(fd)
		}
		return nil, os.ErrClosed
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// late reports how many calls went on while the handler was busy with another one.
func (w *Watch) late(n int) {
	w.handler.Missed(fmt.Errorf("%d changes were missed, because keeping one took more than %v", n, Patience))
}

// Close ends the reports. It waits for the handler, but no longer than a call does. Processes of the command that
// are left can no longer make the calls that are reported.
func (w *Watch) Close() error { return w.listener.Close() }

// hear reports a call to the handler.
func (w *Watch) hear(c seccomp.Call) {
	k, ok := known[c.Number]
	if !ok {
		return
	}
	w.call = c
	w.fresh(time.Now())
	var err error
	switch k.verb {
	case open:
		err = w.opened(c, k)
	case make_:
		if c.Number == symlinkAt || c.Number == symlink {
			w.forget()
		}
		err = w.touch(c, k, false, true)
	case alter:
		follow := k.flags == none || c.Args[k.flags]&unix.AT_SYMLINK_NOFOLLOW == 0
		err = w.touch(c, k, follow, false)
	case remove:
		err = w.touch(c, k, false, false)
	case rename:
		err = w.renamed(c, k)
	case link:
		err = w.linked(c, k)
	}
	if err != nil && w.listener.Waits(c) {
		w.handler.Missed(err)
	}
}

// opened reports a file that is opened for writing.
func (w *Watch) opened(c seccomp.Call, k call) error {
	flags, err := w.openFlags(c, k)
	if err != nil {
		return err
	}
	const unnamed = unix.O_TMPFILE
	if flags&writing == 0 || flags&unix.O_PATH != 0 || flags&unnamed == unnamed {
		return nil
	}
	exclusive := flags&unix.O_CREAT != 0 && flags&unix.O_EXCL != 0
	return w.touch(c, k, !exclusive && flags&unix.O_NOFOLLOW == 0, exclusive)
}

// openFlags returns the flags of a call that opens a file.
func (w *Watch) openFlags(c seccomp.Call, k call) (uint64, error) {
	switch {
	case k.flags > none:
		return c.Args[k.flags], nil
	case c.Number == unix.SYS_OPENAT2:
		return w.number(c.Thread, c.Args[2])
	}
	return unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, nil
}

// touch reports the file that a call names.
func (w *Watch) touch(c seccomp.Call, k call, follow, fresh bool) error {
	path, err := w.named(c, k.dir, k.path, follow)
	if err == nil && path != "" {
		w.handler.Touch(path, fresh)
	}
	return err
}

// renamed reports a rename.
func (w *Watch) renamed(c seccomp.Call, k call) error {
	flags := uint64(0)
	if k.flags > none {
		flags = c.Args[k.flags]
	}
	from, err := w.named(c, k.dir, k.path, false)
	if err != nil {
		return err
	}
	to, err := w.named(c, k.newDir, k.newPath, false)
	w.forget()
	switch {
	case err != nil:
		return err
	case flags&unix.RENAME_NOREPLACE != 0 && to != "" && w.there(to): // the call fails
	case from != "" && to != "":
		w.handler.Rename(from, to, flags&unix.RENAME_EXCHANGE != 0)
	case from != "":
		w.handler.Touch(from, false)
	case to != "":
		w.handler.Touch(to, false)
	}
	return nil
}

// linked reports a new hard link.
func (w *Watch) linked(c seccomp.Call, k call) error {
	follow := k.flags > none && c.Args[k.flags]&unix.AT_SYMLINK_FOLLOW != 0
	from, err := w.named(c, k.dir, k.path, follow)
	if err != nil {
		return err
	}
	to, err := w.named(c, k.newDir, k.newPath, false)
	switch {
	case err != nil:
		return err
	case from != "" && to != "":
		w.handler.Link(from, to)
	case to != "":
		w.handler.Touch(to, true)
	}
	return nil
}

// named returns the real path of the file that a call names by a directory and a path in its arguments. It is
// empty if the path is not watched.
func (w *Watch) named(c seccomp.Call, dir, path int, follow bool) (string, error) {
	at := unix.AT_FDCWD
	if dir > none {
		at = int(int32(c.Args[dir]))
	}
	if path == none {
		return w.own(w.descriptor(c.Thread, at)), nil
	}
	text, err := w.text(c.Thread, c.Args[path])
	switch {
	case errors.Is(err, unix.EFAULT), errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.ESRCH):
		return "", nil // the call fails too
	case err != nil:
		return "", fmt.Errorf("the memory of a process cannot be read: %w", err)
	case text == "" && at != unix.AT_FDCWD: // with AT_EMPTY_PATH it is the descriptor itself
		return w.own(w.descriptor(c.Thread, at)), nil
	}
	found, err := w.find(c.Thread, at, text, follow)
	return w.own(found), err
}

// own returns the path if it is watched, and otherwise an empty one.
func (w *Watch) own(path string) string {
	if path == "" || !w.owns(path) {
		return ""
	}
	return path
}
