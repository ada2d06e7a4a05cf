//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// overlays are mounted over directories, in a namespace of mounts of which the commands of a
// session have copies. All of them have the same file systems in common, and so has this process,
// by descriptors of the directories. Once made, a list stays as it is.
//
// Nil is none: then each path is this machine's.
type overlays struct {
	// mounts is the namespace, and table where the kernel lists its mounts.
	mounts, table *os.File
	list          []*overlaid
}

// overlaid is a directory with an overlay over it.
type overlaid struct {
	Layer
	dir *os.File
	// device is that of the overlay, as tables of mounts have it.
	device string
	// below is this machine's directory, which is held so that no other one is taken for it.
	below *os.File
}

// over is the overlay in which a path lies, and the rest of the path there.
func (o *overlays) over(path string) (one *overlaid, rest string) {
	if o == nil {
		return nil, ""
	}
	for _, one := range o.list {
		if within(path, one.Root) {
			return one, strings.TrimPrefix(strings.TrimPrefix(path, one.Root), "/")
		}
	}
	return nil, ""
}

// at is a path by which this process finds what commands find at a clean one. What is above its
// last name may have no links.
func (o *overlays) at(path string) string {
	one, rest := o.over(path)
	if one == nil {
		return path
	}
	return descriptorPath(int(one.dir.Fd())) + "/" + cmp.Or(rest, ".")
}

func (o *overlays) lstat(path string) (fs.FileInfo, error) { return os.Lstat(o.at(path)) }

// hostMounts are those that the mounts of a sandbox are copied from.
// A command that ends may still be watched when its session closes the overlays.
func (o *overlays) hostMounts() (m *mounts, err error) {
	if o == nil {
		return hostMounts()
	}
	table, err := o.table.SyscallConn()
	if err != nil {
		return nil, err
	}
	closed := table.Control(func(fd uintptr) { m, err = mountsIn(int(fd)) })
	return m, errors.Join(closed, err)
}

// verify fails with [ErrChanged] where an overlay is not over its directory any more, since that
// was moved or removed: another one that lies there now would be open to changes.
func (o *overlays) verify(host *mounts) error {
	if o == nil {
		return nil
	}
	for _, one := range o.list {
		if is := host.at(one.Root); is.point != one.Root || is.root != "/" || is.device != one.device {
			return one.moved()
		}
	}
	return o.verifyBelow()
}

// verifyBelow is verify as far as this machine's own directories tell.
func (o *overlays) verifyBelow() error {
	if o == nil {
		return nil
	}
	for _, one := range o.list {
		was, wasErr := one.below.Stat()
		if now, err := os.Lstat(one.Root); err != nil || wasErr != nil || !os.SameFile(now, was) {
			return one.moved()
		}
	}
	return nil
}

func (o *overlaid) moved() error {
	return fmt.Errorf("%w: %s was moved or replaced since commands of the session run over it; put the directory back, or start a new session", ErrChanged, o.Root)
}

// stores are the directories with what lies in the overlays.
func (o *overlays) stores() (dirs []string) {
	if o != nil {
		for _, one := range o.list {
			dirs = append(dirs, one.Upper, one.Work)
		}
	}
	return dirs
}

// close gives the overlays up. They are unmounted when no command has them any more.
func (o *overlays) close() error {
	if o == nil {
		return nil
	}
	err := errors.Join(o.mounts.Close(), o.table.Close())
	for _, one := range o.list {
		err = errors.Join(err, one.dir.Close(), one.below.Close())
	}
	return err
}

// Stage mounts overlays over directories, in which the commands that share a namespace find them
// from then on. Those that are mounted already stay. The error wraps [ErrOverlay] where this machine
// does not do that; commands whose [Spec] says Staged are refused then.
func (s *Sandbox) Stage(ctx context.Context, n *Namespace, layers []Layer) error {
	if s.own == nil || n == nil {
		return fmt.Errorf("%w: only sandboxes that Toolquay makes itself have overlays, not bubblewrap", ErrOverlay)
	}
	n.staging.Lock()
	defer n.staging.Unlock()
	was := n.overlays.Load()
	if was.outdated(layers) {
		n.overlays.Store(nil)
		if err := errors.Join(n.templates.forgetAll(), was.close()); err != nil {
			return err
		}
		was = nil
	}
	fresh, err := was.missing(layers)
	if err != nil || len(fresh) == 0 {
		return err
	}
	now, err := s.mountOverlays(ctx, n, was, fresh)
	if err != nil {
		return err
	}
	n.overlays.Store(now)
	return n.templates.forgetAll()
}

// outdated reports whether layers are of another generation than those that are mounted.
func (o *overlays) outdated(layers []Layer) bool {
	return o != nil && slices.ContainsFunc(layers, func(l Layer) bool { return l.Generation != o.list[0].Generation })
}

// missing returns the layers that are not mounted, and fails where they cannot be.
func (o *overlays) missing(layers []Layer) ([]Layer, error) {
	var all, fresh []Layer
	if o != nil {
		for _, one := range o.list {
			all = append(all, one.Layer)
		}
	}
	for _, l := range layers {
		if slices.Contains(all, l) {
			continue
		}
		for _, other := range all {
			if within(l.Root, other.Root) || within(other.Root, l.Root) {
				return nil, fmt.Errorf("%w: one of %s and %s lies in the other", ErrSpec, l.Root, other.Root)
			}
		}
		all, fresh = append(all, l), append(fresh, l)
	}
	host, err := hostMounts()
	if err != nil {
		return nil, err
	}
	for _, l := range fresh {
		if within(l.Upper, l.Root) {
			return nil, fmt.Errorf("%w: %s contains the stage itself (%s); work in a directory below it", ErrOverlay, l.Root, l.Upper)
		}
		if point := host.below(l.Root); point != "" {
			return nil, fmt.Errorf("%w: another file system is mounted at %s, which an overlay of %s would not show", ErrOverlay, point, l.Root)
		}
	}
	return fresh, nil
}

// below is a point in a directory at which something is mounted; empty is none.
func (m *mounts) below(dir string) string {
	for _, list := range m.on {
		for _, one := range list {
			if one.point != dir && within(one.point, dir) {
				return one.point
			}
		}
	}
	return ""
}

// mountOverlays mounts further overlays beside those that there are.
func (s *Sandbox) mountOverlays(ctx context.Context, n *Namespace, was *overlays, fresh []Layer) (_ *overlays, err error) {
	now := &overlays{}
	defer func() {
		if err != nil {
			now.release()
		}
	}()
	for _, l := range fresh {
		one := &overlaid{Layer: l}
		if one.below, err = os.OpenFile(l.Root, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrSpec, err)
		}
		now.list = append(now.list, one)
	}
	p, opened := assembleOverlays(n, was, fresh)
	files, err := received(ctx, s.own.options.Supervisors, p, opened)
	if err != nil {
		return nil, unmountable(err)
	}
	now.mounts, now.table = files[0], files[1]
	for i, one := range now.list {
		one.dir = files[2+i]
	}
	for _, one := range now.list {
		if err := one.identify(); err != nil {
			return nil, err
		}
	}
	host, err := now.hostMounts()
	if err == nil {
		err = now.verify(host)
	}
	if err != nil || was == nil {
		return now, err
	}
	return &overlays{was.mounts, was.table, slices.Concat(was.list, now.list)}, errors.Join(now.mounts.Close(), now.table.Close())
}

// release closes what there is of overlays that were not made.
func (o *overlays) release() {
	files := []*os.File{o.mounts, o.table}
	for _, one := range o.list {
		files = append(files, one.below, one.dir)
	}
	for _, f := range files {
		if f != nil {
			_ = f.Close() // nothing comes of it
		}
	}
}

// assembleOverlays is the program that mounts overlays, and opens the namespace of their mounts, the
// table of these, and the directories with an overlay over them.
func assembleOverlays(n *Namespace, was *overlays, fresh []Layer) (p *calls.Program, opened []calls.Arg) {
	a := &assembly{Program: &calls.Program{}}
	n.join(a.Program)
	if was != nil {
		was.enter(a)
	} else {
		a.Call("making a namespace", unix.SYS_UNSHARE, calls.Int(unix.CLONE_NEWNS))
		a.Call("keeping mounts from others", unix.SYS_MOUNT, a.Text("none"), a.Text("/"), calls.Int(0), calls.Int(unix.MS_REC|unix.MS_SLAVE), calls.Int(0))
	}
	tables := a.tables(a.self())
	opened = []calls.Arg{tables[2], tables[0]}
	for _, l := range fresh {
		opened = append(opened, a.overlay(l))
	}
	return a.Program, opened
}

// unmountable is the error of a program that mounts overlays.
func unmountable(err error) error {
	if judged := Judge(err); errors.Is(judged, ErrChanged) {
		return judged
	}
	if _, ok := errors.AsType[*calls.Failure](err); ok {
		return fmt.Errorf("%w: %w", ErrOverlay, err)
	}
	return err
}

// identify finds out the device of an overlay.
func (o *overlaid) identify() error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(o.dir.Fd()), &stat); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	o.device = strconv.FormatUint(uint64(unix.Major(stat.Dev)), 10) + ":" + strconv.FormatUint(uint64(unix.Minor(stat.Dev)), 10)
	return nil
}

// enter joins the namespace in which the overlays are mounted.
func (o *overlays) enter(a *assembly) {
	if o != nil {
		a.Call("joining the overlays", unix.SYS_SETNS, a.Hold(o.mounts), calls.Int(unix.CLONE_NEWNS))
	}
}

// firstFixed is the first of the descriptors by which an overlay is told its directories. The paths
// of these could be longer than what the kernel takes of an option, and hold characters that mean
// something there; commands, which see the options, are not told them either.
const firstFixed = 500

// overlay mounts an overlay over a directory, and opens it. It has the extended attributes that any
// user may set, also where root mounts it, so that what lies in the upper directory is the same
// wherever it is mounted next.
func (a *assembly) overlay(l Layer) (dir calls.Arg) {
	var root calls.Arg
	for i, path := range []string{l.Root, l.Upper, l.Work} {
		at := a.open(current, path, 0)
		a.Call("naming "+path, unix.SYS_DUP3, at, calls.Int(firstFixed+i), calls.Int(unix.O_CLOEXEC))
		if i == 0 {
			root = at
		} else {
			a.close(at)
		}
	}
	set := "an overlay over " + l.Root
	system := a.Call("making "+set, unix.SYS_FSOPEN, a.Text("overlay"), calls.Int(unix.FSOPEN_CLOEXEC))
	for i, name := range []string{"lowerdir", "upperdir", "workdir"} {
		value := descriptorPath(firstFixed + i)
		a.Call("setting "+name+" of "+set, unix.SYS_FSCONFIG, system, calls.Int(unix.FSCONFIG_SET_STRING), a.Text(name), a.Text(value), calls.Int(0))
	}
	for name, value := range map[string]string{"index": "off", "xino": "auto"} {
		a.Call("setting "+name+" of "+set, unix.SYS_FSCONFIG, system, calls.Int(unix.FSCONFIG_SET_STRING), a.Text(name), a.Text(value), calls.Int(0))
	}
	a.Call("setting the attributes of "+set, unix.SYS_FSCONFIG, system, calls.Int(unix.FSCONFIG_SET_FLAG), a.Text("userxattr"), calls.Int(0), calls.Int(0))
	a.Call("making the file system of "+set, unix.SYS_FSCONFIG, system, calls.Int(unix.FSCONFIG_CMD_CREATE), calls.Int(0), calls.Int(0), calls.Int(0))
	mount := a.Call("making the mount of "+set, unix.SYS_FSMOUNT, system, calls.Int(unix.FSMOUNT_CLOEXEC), calls.Int(safely))
	a.Call("mounting "+set, unix.SYS_MOVE_MOUNT, mount, a.Text(""), root, a.Text(""), calls.Int(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
	dir = a.Call("listing "+set, unix.SYS_OPENAT, mount, a.Text("."), calls.Int(unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC))
	a.close(mount)
	a.close(system)
	a.close(root)
	return dir
}

// At is a path by which this process finds what the commands of a namespace find at a clean one,
// whose links are resolved but for the last name, as long as the namespace is open.
func (n *Namespace) At(path string) string { return n.staged().at(path) }

// Resolve is [filepath.EvalSymlinks] of what the commands of a namespace find.
func (n *Namespace) Resolve(path string) (string, error) {
	return newObservations(n.staged()).resolve(filepath.Clean(path))
}

// staged are the overlays of the namespace; nil is none.
func (n *Namespace) staged() *overlays {
	if n == nil {
		return nil
	}
	return n.overlays.Load()
}

// Overlaid opens a directory with an overlay over it once more. The file is the caller's, and the
// overlay lasts as long as that.
func (n *Namespace) Overlaid(root string) (*os.File, error) {
	one, rest := n.staged().over(root)
	if one == nil || rest != "" {
		return nil, fmt.Errorf("%w: there is no overlay over %s", ErrOverlay, root)
	}
	return duplicate(one.dir)
}

// Run runs a program where the commands of a namespace find files, without a sandbox, and returns
// what it prints, at most so many bytes. It fails where the program does.
func (s *Sandbox) Run(ctx context.Context, n *Namespace, c process.Command, input []byte, most int) (out []byte, err error) {
	if s.own == nil || n.staged() == nil {
		return nil, fmt.Errorf("%w: there is none", ErrOverlay)
	}
	a := &assembly{Program: &calls.Program{}}
	n.join(a.Program)
	n.staged().enter(a)
	in, fed, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	said, says, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close(), fed.Close())
	}
	defer said.Close()
	c.Program, c.Files = a.Program, []*os.File{in, says}
	p, err := s.own.options.Supervisors.Start(ctx, c)
	if err = errors.Join(err, in.Close(), says.Close()); err != nil {
		return nil, errors.Join(err, fed.Close())
	}
	go func() {
		_, _ = fed.Write(input) // a program that takes no more tells by how it ends
		_ = fed.Close()
	}()
	defer context.AfterFunc(ctx, func() { p.Stop(0) })()
	out, err = io.ReadAll(io.LimitReader(said, int64(most)))
	if len(out) == most {
		p.Stop(0)
	}
	<-p.Gone()
	if status := p.Status(); err == nil && (status.Err != nil || status.Code != 0) {
		err = errors.Join(fmt.Errorf("%s ended with status %d", c.Path, status.Code), status.Err, context.Cause(ctx))
	}
	return out, err
}

// TryOverlay reports whether overlays can be mounted that have what changes in a directory, which
// must be there: nil, or an error that wraps [ErrOverlay]. It makes something there for a moment.
func (s *Sandbox) TryOverlay(ctx context.Context, dir string) (err error) {
	if s.own == nil {
		return s.Stage(ctx, nil, nil)
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if dir, err = os.MkdirTemp(dir, ".overlay-*"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tempdir.RemoveAll(dir)) }()
	l := Layer{Root: filepath.Join(dir, "lower"), Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work")}
	for _, path := range []string{l.Root, l.Upper, l.Work} {
		if err := os.Mkdir(path, 0o700); err != nil {
			return err
		}
	}
	if err := unix.Setxattr(l.Upper, "user.overlay.toolquay", []byte("y"), 0); err != nil {
		return fmt.Errorf("%w: the file system of %s does not store extended attributes: %w", ErrOverlay, dir, err)
	}
	o, err := s.mountOverlays(ctx, s.own.common, nil, []Layer{l})
	return errors.Join(err, o.close())
}

// Beside makes a namespace whose commands find the overlays of another one, and have a network of
// their own.
func (s *Sandbox) Beside(ctx context.Context, n *Namespace) (*Namespace, error) {
	p := &calls.Program{}
	(&Namespace{user: n.user}).join(p)
	p.Call("making a namespace", unix.SYS_UNSHARE, calls.Int(unix.CLONE_NEWNET))
	loopbackUp(p)
	files, err := received(ctx, s.own.options.Supervisors, p, []calls.Arg{openNamespace(p, "net")})
	if err != nil {
		return nil, err
	}
	made := &Namespace{net: files[0], beside: true}
	made.overlays.Store(n.staged())
	if n.user != nil {
		if made.user, err = duplicate(n.user); err != nil {
			return nil, errors.Join(err, made.Close())
		}
	}
	return made, nil
}
