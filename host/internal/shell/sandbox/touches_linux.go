//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"sync"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/touches"
	"github.com/toolquay/toolquay/internal/seccomp"
)

// listening returns the flags for installing a filter with a listener; 0 if the kernel has no listeners.
var listening = sync.OnceValue(seccomp.ListenerFlags)

// telling installs the filter of a command whose changes are reported. It returns the descriptors that the
// program sends along with the mounts: the filter's listener, and the root directory. No later call in the program
// may be one that waits for the listener.
func (a *assembly) telling(renames bool) []calls.Arg {
	return []calls.Arg{a.install("telling of changes", touches.Filter(renames), listening()), a.root}
}

// teller reports what a command is about to change. The lock of its overseer guards it.
type teller struct {
	// places are the directories whose changes are reported; without any there is no listener.
	places         []string
	listener, root *os.File
	watch          *touches.Watch
}

// take takes the files that telling has handed out.
func (t *teller) take(files []*os.File) {
	if len(files) > 0 {
		t.listener, t.root = files[0], files[1]
	}
}

// handed returns how many files telling hands out.
func (t *teller) handed() int {
	if len(t.places) == 0 {
		return 0
	}
	return 2
}

// begin begins the reports to a handler. owns reports whether a real path is the same on the host and can be
// changed by the command.
func (t *teller) begin(h touches.Handler, owns func(path string) bool) (err error) {
	if t.listener == nil {
		return nil
	}
	listener, root := t.listener, t.root
	t.listener, t.root = nil, nil
	t.watch, err = touches.Begin(listener, root, func(path string) bool { return withinAny(path, t.places) && owns(path) }, h)
	return err
}

// close ends the reports.
func (t *teller) close() error {
	switch {
	case t.watch != nil:
		return t.watch.Close()
	case t.listener != nil:
		return errors.Join(t.listener.Close(), t.root.Close())
	}
	return nil
}

func withinAny(path string, dirs []string) bool {
	for _, dir := range dirs {
		if within(path, dir) {
			return true
		}
	}
	return false
}

// tell implements [Wrapped.Tell].
func (o *overseer) tell(h touches.Handler) error {
	o.mending.Lock()
	defer o.mending.Unlock()
	if o.over {
		return os.ErrClosed
	}
	return o.teller.begin(h, o.layout.writableAt)
}

// Tells reports whether changes of commands can be reported in advance; see [Wrapped.Tell].
func (s *Sandbox) Tells() bool { return s.own != nil && s.own.tells }
