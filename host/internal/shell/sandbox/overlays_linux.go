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

// overlays are the overlays over directories, in a mount namespace of which each command of a
// session has a copy. The commands share the file systems with each other and with this process,
// which holds descriptors of the overlaid directories. The list does not change after it is made.
//
// Nil means that there are no overlays: each path is then the host's.
type overlays struct {
	// mounts is the namespace, and table the file in which the kernel lists its mounts.
	mounts, table *os.File
	list          []*overlaid
}

// overlaid is a directory with an overlay over it.
type overlaid struct {
	Layer
	dir *os.File
	// device is the overlay's device number, as tables of mounts show it.
	device string
	// below is the directory on the host. It is held open so that its inode is not reused by another
	// directory.
	below *os.File
}

// over returns the overlay that a path is in, and the rest of the path there; nil if there is none.
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

// at returns the path by which this process finds what commands see at a clean path. Only the
// path's last name may be a symbolic link.
func (o *overlays) at(path string) string {
	one, rest := o.over(path)
	if one == nil {
		return path
	}
	return descriptorPath(int(one.dir.Fd())) + "/" + cmp.Or(rest, ".")
}

func (o *overlays) lstat(path string) (fs.FileInfo, error) { return os.Lstat(o.at(path)) }

// hostMounts returns the mounts that a sandbox's mounts are copied from. It fails if the overlays are
// closed, which a session may do while a command that is ending is still watched.
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

// verify fails with [ErrChanged] if an overlay is no longer over its directory, because the directory
// was moved or removed: commands could change another directory that is there now.
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

// verifyBelow is the part of verify that looks at the host's directories alone.
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

// stores returns the upper and work directories of the overlays.
func (o *overlays) stores() (dirs []string) {
	if o != nil {
		for _, one := range o.list {
			dirs = append(dirs, one.Upper, one.Work)
		}
	}
	return dirs
}

// close closes the overlays. The kernel unmounts them when no command has them any more.
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

// Stage mounts overlays over directories. The commands that share the namespace see them from then
// on. Overlays that are mounted already stay, unless a layer has another generation: then all are
// mounted anew. The error wraps [ErrOverlay] if this machine cannot mount overlays; commands whose
// [Spec] says Staged are refused then.
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

// outdated reports whether one of layers is of another generation than the mounted ones.
func (o *overlays) outdated(layers []Layer) bool {
	return o != nil && slices.ContainsFunc(layers, func(l Layer) bool { return l.Generation != o.list[0].Generation })
}

// missing returns the layers that are not mounted yet. It fails if one of them cannot be mounted.
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

// below returns a mount point inside a directory; empty if there is none.
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

// mountOverlays mounts further overlays beside those that are mounted.
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

// release closes the files of overlays that could not be made.
func (o *overlays) release() {
	files := []*os.File{o.mounts, o.table}
	for _, one := range o.list {
		files = append(files, one.below, one.dir)
	}
	for _, f := range files {
		if f != nil {
			_ = f.Close() // nothing was written
		}
	}
}

// assembleOverlays returns a program that mounts overlays, and the descriptors that it opens: the mount
// namespace, the table of its mounts, and each overlaid directory.
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

// unmountable returns the error for a program that failed to mount overlays.
func unmountable(err error) error {
	if judged := Judge(err); errors.Is(judged, ErrChanged) {
		return judged
	}
	if _, ok := errors.AsType[*calls.Failure](err); ok {
		return fmt.Errorf("%w: %w", ErrOverlay, err)
	}
	return err
}

// identify sets the device number of an overlay.
func (o *overlaid) identify() error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(o.dir.Fd()), &stat); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	o.device = strconv.FormatUint(uint64(unix.Major(stat.Dev)), 10) + ":" + strconv.FormatUint(uint64(unix.Minor(stat.Dev)), 10)
	return nil
}

// enter joins the mount namespace of the overlays.
func (o *overlays) enter(a *assembly) {
	if o != nil {
		a.Call("joining the overlays", unix.SYS_SETNS, a.Hold(o.mounts), calls.Int(unix.CLONE_NEWNS))
	}
}

// firstFixed is the first of the descriptors by which mount options name the directories of an
// overlay. Their paths could be too long for an option, or contain characters that have a meaning
// there. Besides, commands can read the options, and need not know the paths.
const firstFixed = 500

// overlay mounts an overlay over a directory, and opens it. The overlay stores its data in user
// extended attributes even if root mounts it, so that the upper directory has the same format
// whoever mounts it next.
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

// At returns the path by which this process finds what the commands of a namespace see at a clean
// path. Only the path's last name may be a symbolic link. The result is valid while the namespace is
// open.
func (n *Namespace) At(path string) string { return n.staged().at(path) }

// Resolve is [filepath.EvalSymlinks] for the files that the commands of a namespace see.
func (n *Namespace) Resolve(path string) (string, error) {
	return newObservations(n.staged()).resolve(filepath.Clean(path))
}

// staged returns the overlays of the namespace; nil if it has none.
func (n *Namespace) staged() *overlays {
	if n == nil {
		return nil
	}
	return n.overlays.Load()
}

// Overlaid returns a new descriptor of a directory with an overlay over it. The caller closes it; the
// overlay lasts until then.
func (n *Namespace) Overlaid(root string) (*os.File, error) {
	one, rest := n.staged().over(root)
	if one == nil || rest != "" {
		return nil, fmt.Errorf("%w: there is no overlay over %s", ErrOverlay, root)
	}
	return duplicate(one.dir)
}

// Run runs a program without a sandbox, but with the overlays of a namespace, and returns its output.
// A program that prints so many bytes as most says is killed. Run fails if the program fails.
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
		_, _ = fed.Write(input) // a program that reads no more says so by its exit status
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

// TryOverlay tries to mount an overlay whose upper directory is in dir, which must exist. The error
// wraps [ErrOverlay] if the kernel or dir's file system does not support that. TryOverlay removes what
// it makes in dir.
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

// Beside makes a namespace with the overlays of another one and a network of its own.
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
