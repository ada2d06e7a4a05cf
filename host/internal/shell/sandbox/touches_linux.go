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

// listening are the flags with which the kernel gives a filter a listener; 0 is that it does not.
var listening = sync.OnceValue(seccomp.ListenerFlags)

// telling adds what is handed out beside the mounts of a command that is to tell what it changes: the
// listener of a filter, and the root directory. Nothing that waits for the listener may follow in
// the program.
func (a *assembly) telling(renames bool) []calls.Arg {
	return []calls.Arg{a.install("telling of changes", touches.Filter(renames), listening()), a.root}
}

// teller tells what a command is about to change. It is guarded by the lock of its overseer.
type teller struct {
	// places are where it does; none has no listener.
	places         []string
	listener, root *os.File
	watch          *touches.Watch
}

// take takes what telling handed out.
func (t *teller) take(files []*os.File) {
	if len(files) > 0 {
		t.listener, t.root = files[0], files[1]
	}
}

// handed is how many files telling hands out.
func (t *teller) handed() int {
	if len(t.places) == 0 {
		return 0
	}
	return 2
}

// begin has the handler be told. Owns says of a real path whether it is the machine's and can be changed.
func (t *teller) begin(h touches.Handler, owns func(path string) bool) (err error) {
	if t.listener == nil {
		return nil
	}
	listener, root := t.listener, t.root
	t.listener, t.root = nil, nil
	t.watch, err = touches.Begin(listener, root, func(path string) bool { return withinAny(path, t.places) && owns(path) }, h)
	return err
}

// close ends the telling.
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

// Tells reports whether commands can tell what they are about to change; see [Wrapped.Tell].
func (s *Sandbox) Tells() bool { return s.own != nil && s.own.tells }
