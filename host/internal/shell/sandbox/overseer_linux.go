//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// overseer guards a command whose sandbox this program made. What is lost it mounts again.
type overseer struct {
	*guard
	launcher  *launcher
	namespace *Namespace
	layout    *layout
	// own and theirs are the ends of the socket over which the sandbox hands out its mounts.
	own, theirs *os.File
	// inside is the sandbox's namespace of mounts, from the release on.
	inside *os.File
	teller teller

	// mending is held while something is mounted again, and over says that nothing is any more.
	mending sync.Mutex
	over    bool
}

func newOverseer(l *launcher, n *Namespace, s *shared) (*overseer, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	o := &overseer{
		guard:    newGuard(s.layout, l.options.State, &l.live, func(*entry) bool { return false }),
		launcher: l, namespace: n, layout: s.layout, teller: teller{places: s.touches},
		own: os.NewFile(uintptr(ends[0]), "sandbox"), theirs: os.NewFile(uintptr(ends[1]), "sandbox"),
	}
	o.mend = o.again
	return o, nil
}

// Close undoes what is left at missing names, also where the command ran and was never released:
// nothing holds it back if its caller gives up meanwhile.
func (o *overseer) Close() error {
	o.mending.Lock()
	o.over = true
	o.mending.Unlock()
	var err error
	if o.inside == nil && o.take() != nil { // no command ran
		err = o.namespace.templates.forget(o.layout)
	}
	err = errors.Join(err, o.teller.close(), o.guard.close(), o.own.Close(), o.theirs.Close())
	if o.inside != nil {
		err = errors.Join(err, o.checked.Close())
		go func() { _ = o.inside.Close() }() // the kernel takes the mounts apart then, and nobody waits for that
	}
	return err
}

func (o *overseer) release(context.Context, int) error {
	if err := o.take(); err != nil {
		return err
	}
	o.prepareNext() //nolint:contextcheck // it is not for this call
	return nil
}

// take takes what the sandbox handed out before its command ran, of which it may run by now.
func (o *overseer) take() error {
	if err := o.receive(); err != nil {
		return err
	}
	o.missing.release()
	return nil
}

// receive takes what the sandbox handed out, once.
func (o *overseer) receive() error {
	if o.inside != nil {
		return nil
	}
	const mounts = 3
	files, err := receive(int(o.own.Fd()), mounts+o.teller.handed())
	if err != nil {
		return fmt.Errorf("%w: it did not tell its mounts: %w", ErrUnmade, err)
	}
	o.checked, o.table, o.inside = files[0], files[1], files[2]
	o.teller.take(files[mounts:])
	return nil
}

// again mounts once more what was lost at a place, in the sandbox.
func (o *overseer) again(ctx context.Context, target string) error {
	o.mending.Lock()
	defer o.mending.Unlock()
	if o.over {
		return os.ErrClosed
	}
	a := &assembly{Program: &calls.Program{}, over: o.overlays}
	o.namespace.join(a.Program)
	a.Call("joining the sandbox's mounts", unix.SYS_SETNS, a.Hold(o.inside), calls.Int(unix.CLONE_NEWNS))
	a.root = a.Call("opening the sandbox's root", unix.SYS_OPENAT, current, a.Text("/"), calls.Int(unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC))
	for _, e := range o.layout.entries {
		if e.target == target {
			a.anew(e)
		}
	}
	return do(ctx, o.launcher.options.Supervisors, process.Command{Program: a.Program})
}

// anew makes a mount of the layout in a sandbox that stands, on what lies there now.
func (a *assembly) anew(e *entry) {
	now := *e
	switch {
	case e.hides():
		now.kind, now.source, now.passage = kindHiddenFile, os.DevNull, false
		info, err := a.over.lstat(e.target)
		if err != nil {
			info = e.was // perhaps the way there was closed to this process
		}
		if info != nil && info.IsDir() {
			now.kind, now.source = kindHiddenDir, ""
		}
	case e.kind == kindPin, e.kind == kindProtected:
		now.source = e.target
	case e.kind == kindCopied:
		a.relink(e)
		return
	}
	a.entry(nil, &now)
}
