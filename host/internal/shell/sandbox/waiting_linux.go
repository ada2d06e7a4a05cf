//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/binary"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
)

// maxWaiting bounds the processes of a host that wait for commands. Each is below a supervisor of
// its own, and is given up with its template: a minute after the last command.
const maxWaiting = 8

// waiting is a process that has the sandbox of the next command, and waits to become it. Making
// the sandbox takes half as long as bash, and is done while the command before runs.
type waiting struct {
	process  *process.Process
	overseer *overseer
}

// close gives it up. It is not for what became a command.
func (w *waiting) close() error {
	if w == nil {
		return nil
	}
	w.overseer.launcher.waits.Add(-1)
	go w.process.Stop(0) // a supervisor may hear late
	return w.overseer.Close()
}

// fits reports whether it waits still, and all its mounts are where they were.
func (w *waiting) fits() bool {
	select {
	case <-w.process.Done():
		return false
	default:
		return !changed(w.overseer.checked)
	}
}

// unchanged ends a program if the mounts that a table lists have changed, for somebody replaced or
// moved what one lay on.
func unchanged(p *calls.Program, table calls.Arg) {
	const events, changes = 4, 6 // where struct pollfd has what is waited for and what happened
	fd := make([]byte, 8)
	binary.NativeEndian.PutUint16(fd[events:], unix.POLLPRI)
	at := p.Bytes(fd)
	p.Put(at, 0, table)
	p.Call("asking for changes", unix.SYS_PPOLL, at, calls.Int(1), p.Bytes(make([]byte, 16)), calls.Int(0), calls.Int(0))
	p.Refuse(opening+"what has changed", at, changes, unix.POLLPRI|unix.POLLERR)
}

// stopper ends a process that did not become a command.
type stopper struct{ *process.Process }

// Close does nothing where it became one, which has ended by now.
func (s stopper) Close() error {
	s.Stop(0)
	return nil
}

// takeNext returns what waits in the template's sandbox, if it does.
func (t *template) takeNext() *waiting {
	w := t.next
	t.next = nil
	switch {
	case w == nil:
		return nil
	case !w.fits():
		_ = w.close() // it is of no use any more
		return nil
	}
	w.overseer.launcher.waits.Add(-1)
	return w
}

// prepareNext has a process wait for the next command like this one, if one like it came before.
func (o *overseer) prepareNext() {
	t := &o.namespace.templates
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.list, func(one *template) bool { return one.layout == o.layout })
	if i < 0 || t.closed || !calls.Waits {
		return
	}
	one := t.list[i]
	if one.uses == 0 || one.next != nil || one.making {
		return
	}
	mounts, err := duplicate(one.mounts)
	if err != nil {
		return // the next command says so
	}
	if t.life == nil {
		t.life, t.end = context.WithCancel(context.Background())
	}
	life := t.life
	one.making = true
	t.work.Go(func() {
		next := o.launcher.wait(life, o.namespace, &one.shared, mounts, one.spec.Limits)
		t.mu.Lock()
		defer t.mu.Unlock()
		one.making = false
		if slices.Contains(t.list, one) {
			one.next = next
			return
		}
		_ = next.close() // the template is of no use any more
	})
}

// wait starts a process that waits; nil where it cannot be done, which the next command says. It
// closes mounts.
func (l *launcher) wait(ctx context.Context, n *Namespace, s *shared, mounts *os.File, limits process.Limits) (w *waiting) {
	defer mounts.Close()
	defer func() {
		if w == nil {
			l.waits.Add(-1)
		}
	}()
	if l.waits.Add(1) > maxWaiting {
		return nil
	}
	o, err := newOverseer(l, n, s)
	if err != nil {
		return nil
	}
	p := s.of(mounts, o.theirs)
	p.Wait()
	unchanged(p, s.table)
	ctx, cancel := context.WithTimeout(ctx, handing)
	defer cancel()
	waits, err := l.options.Supervisors.Start(ctx, process.Command{Program: p, Limits: limits})
	if err == nil {
		err = o.receive()
	}
	if err != nil {
		_ = o.Close()
		if waits != nil {
			go waits.Stop(0)
		}
		return nil
	}
	return &waiting{waits, o}
}
