//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

const (
	// maxTemplates bounds those of a session: commands that only read have other mounts.
	maxTemplates = 4
	// templateIdle is how long they are kept after the last command.
	templateIdle = time.Minute
	// maxAttempts is how often the mounts are made of what others change meanwhile.
	maxAttempts = 4
)

// template has the mounts of a layout in a namespace of which each command gets a copy: all but
// those that it has for itself. What is in it nobody can change, but the kernel takes a mount off
// when what it lies on is removed or replaced.
type template struct {
	spec Spec
	shared
	// uses is how many commands had mounts that stood, and next what waits for the next one, if
	// anything. Making says that something is about to.
	uses   int
	next   *waiting
	making bool
	// mounts is the namespace. Table is where the kernel lists its mounts, and host where it
	// lists this process's, of which it has copies.
	mounts, table, host *os.File
}

// shared is what the commands of a template have in common.
type shared struct {
	layout *layout
	// program is what makes their sandboxes: all of it but its last two files, which are the
	// namespace of the mounts, and the socket over which the command's own are told. Table is
	// where the kernel lists these.
	program *calls.Program
	table   calls.Arg
	// touches are [Spec].Touches.
	touches []string
}

// of is the program of one command.
func (s *shared) of(mounts, tell *os.File) *calls.Program {
	p := s.program.Clone()
	p.Files = append(p.Files[:len(p.Files)-2], mounts, tell)
	return p
}

// templates are those of a session, the last one used last.
type templates struct {
	mu     sync.Mutex
	list   []*template
	idle   *time.Timer
	host   *os.File // where the kernel lists this process's mounts, to be waited on
	closed bool
	// work makes what waits for commands, until life ends.
	work sync.WaitGroup
	life context.Context //nolint:containedctx // it outlives the calls
	end  context.CancelFunc
}

// close gives them up.
func (t *templates) close() error {
	t.mu.Lock()
	t.closed = true
	if t.idle != nil {
		t.idle.Stop()
	}
	if t.end != nil {
		t.end()
	}
	host, err := t.host, t.drop(len(t.list))
	t.mu.Unlock()
	t.work.Wait()
	if host != nil {
		err = errors.Join(err, host.Close()) // which waits for the watch, and that for the lock
	}
	return err
}

// drop gives the first ones up. The caller holds the lock.
func (t *templates) drop(count int) error {
	var faults []error
	for _, one := range t.list[:count] {
		faults = append(faults, one.close())
	}
	t.list = slices.Delete(t.list, 0, count)
	return errors.Join(faults...)
}

// take returns what there is of the template for a specification, its namespace, which the caller
// closes, and what waits for a command there; nil is none.
func (t *templates) take(spec Spec) (*shared, *os.File, *waiting, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.list, func(o *template) bool { return reflect.DeepEqual(o.spec, spec) }) //nolint:govet // there is no error in them
	if i < 0 {
		return nil, nil, nil, nil
	}
	one := t.list[i]
	t.list = slices.Delete(t.list, i, i+1)
	if !one.stands() {
		return nil, nil, nil, one.close()
	}
	t.list = append(t.list, one)
	t.idle.Reset(templateIdle)
	one.uses++
	mounts, err := duplicate(one.mounts)
	if err != nil {
		return nil, nil, nil, err
	}
	return &one.shared, mounts, one.takeNext(), nil
}

// keep keeps a template for other commands.
func (t *templates) keep(one *template) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return one.close()
	}
	if t.idle == nil {
		host, err := openTable("self")
		if err != nil {
			return errors.Join(err, one.close())
		}
		t.host, t.idle = host, time.AfterFunc(templateIdle, t.expire)
		go t.watch(host)
	}
	t.list = append(t.list, one)
	t.idle.Reset(templateIdle)
	return t.drop(max(0, len(t.list)-maxTemplates))
}

// watch gives up what has mounts that are others by now, until the table of them is closed: a file
// system that somebody unmounts would stay in use.
func (t *templates) watch(host *os.File) {
	raw, err := host.SyscallConn()
	if err != nil {
		return // it is closed
	}
	_ = raw.Read(func(uintptr) bool { // it ends when the table is closed
		for _, one := range t.outdated() {
			_ = one.close() // which may write to the file system for long
		}
		return false
	})
}

// outdated takes out those of which this process's mounts are others by now.
func (t *templates) outdated() (out []*template) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = slices.DeleteFunc(t.list, func(one *template) bool {
		if !changed(one.host) {
			return false
		}
		out = append(out, one)
		return true
	})
	return out
}

// forget gives up the template with a layout, of which a copy was not as it was asked for.
func (t *templates) forget(l *layout) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.list, func(o *template) bool { return o.layout == l })
	if i < 0 {
		return nil
	}
	one := t.list[i]
	t.list = slices.Delete(t.list, i, i+1)
	return one.close()
}

// forgetAll closes all templates.
func (t *templates) forgetAll() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.drop(len(t.list))
}

func (t *templates) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.drop(len(t.list)) // they are of no use any more
}

func (t *template) close() error {
	return errors.Join(t.next.close(), t.mounts.Close(), t.table.Close(), t.host.Close())
}

// stands reports whether everything that the template was made of is as it was, and all its
// mounts are where they were.
func (t *template) stands() bool {
	return !changed(t.host) && !changed(t.table) && t.layout.seen.same() && t.layout.seen.over.verifyBelow() == nil
}

// changed reports whether a table of mounts has changed since it was opened. It says so once, to
// whoever asks first: nobody else may wait on it.
func changed(table *os.File) bool {
	raw, err := table.SyscallConn()
	if err != nil {
		return true
	}
	n := 0
	closed := raw.Control(func(fd uintptr) {
		n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}, 0)
	})
	return n != 0 || err != nil || closed != nil
}

func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// sameSandbox is a specification without what makes no other sandbox in a session.
func sameSandbox(spec Spec) Spec {
	spec.Namespace, spec.FirstFile, spec.Proxy, spec.ProxyPort = nil, 0, "", 0
	return spec
}

// own is a specification whose lists are nobody else's, who might change them.
func own(spec Spec) Spec {
	for _, list := range []*[]string{&spec.Writable, &spec.Visible, &spec.Hidden, &spec.Protected, &spec.Touches, &spec.Unstaged} {
		*list = slices.Clone(*list)
	}
	spec.Copies, spec.Bind = slices.Clone(spec.Copies), slices.Clone(spec.Bind)
	return spec
}

// prepared returns what a command shares by its specification, the namespace of its mounts,
// which the caller closes, and what waits for it, if anything.
func (l *launcher) prepared(ctx context.Context, n *Namespace, spec Spec) (*shared, *os.File, *waiting, error) {
	spec = sameSandbox(spec)
	if share, mounts, next, err := n.templates.take(spec); share != nil || err != nil {
		return share, mounts, next, err
	}
	t, err := l.newTemplate(ctx, n, spec)
	for range maxAttempts - 1 {
		if !errors.Is(err, ErrChanged) {
			break
		}
		t, err = l.newTemplate(ctx, n, spec) // something is being saved perhaps
	}
	if err != nil {
		return nil, nil, nil, err
	}
	mounts, err := duplicate(t.mounts)
	if err != nil || t.layout.forOne() {
		return &t.shared, mounts, nil, errors.Join(err, t.close())
	}
	return &t.shared, mounts, nil, n.templates.keep(t)
}

// forOne says that a layout has a folder in memory that is one command's alone.
func (l *layout) forOne() bool {
	return slices.ContainsFunc(l.entries, func(e *entry) bool { return e.kind == kindScratch })
}

// newTemplate makes a template, and looks whether the mounts in it are what was asked for: who
// exchanges directories meanwhile can have one of them lie elsewhere.
func (l *launcher) newTemplate(ctx context.Context, n *Namespace, spec Spec) (*template, error) {
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("open", err)
	}
	host := os.NewFile(uintptr(fd), "mountinfo")
	laid, err := newLayout(l.options, spec, n.staged())
	if err != nil {
		return nil, closing(host, err)
	}
	p, opened := assembleTemplate(spec, laid, n)
	files, err := received(ctx, l.options.Supervisors, p, opened)
	if err != nil {
		return nil, closing(host, Judge(err))
	}
	program, table := assemble(spec, laid, n)
	t := &template{spec: own(spec), shared: shared{laid, program, table, slices.Clone(spec.Touches)}, table: files[0], mounts: files[1], host: host}
	if err := t.verify(); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// verify fails with [ErrChanged] if something else is mounted than was asked for, or lies where it
// was mounted.
func (t *template) verify() error {
	inside, err := mountsOf(t.table)
	if err != nil {
		return err
	}
	over := t.layout.seen.over
	host, err := over.hostMounts()
	if err != nil {
		return err
	}
	if err := over.verify(host); err != nil {
		return err
	}
	for _, want := range t.layout.mounted(func(*entry) bool { return false }) {
		if fault := want.fault(inside, host); fault != "" && !within(want.target, "/proc") {
			return fmt.Errorf("%w: %s %s", ErrChanged, want.target, fault)
		}
	}
	if !t.layout.seen.same() {
		return ErrChanged
	}
	return nil
}

// assembleTemplate is the program that makes the mounts of a layout, and opens the table of them
// and their namespace. It has the namespaces of the session, in which it may do everything that
// it does.
func assembleTemplate(spec Spec, l *layout, n *Namespace) (p *calls.Program, opened []calls.Arg) {
	a := &assembly{Program: &calls.Program{}, over: l.seen.over}
	n.join(a.Program)
	a.over.enter(a)
	a.dieWithParent()
	a.Call("making a namespace", unix.SYS_UNSHARE, calls.Int(unix.CLONE_NEWNS))
	a.Call("keeping mounts from others", unix.SYS_MOUNT, a.Text("none"), a.Text("/"), calls.Int(0), calls.Int(unix.MS_REC|unix.MS_PRIVATE), calls.Int(0))
	self := a.self()
	a.base(l.root())
	a.devices(spec)
	for i, e := range l.entries {
		if e.target != "/" && !within(e.target, "/proc") {
			a.entry(l.entries[:i], e)
		}
	}
	for _, mount := range a.closing {
		a.set(mount, unix.MOUNT_ATTR_RDONLY, 0)
	}
	a.pivot()
	opened = a.tables(self)
	return a.Program, []calls.Arg{opened[0], opened[2]}
}
