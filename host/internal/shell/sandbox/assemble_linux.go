//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/internal/seccomp"
)

// assembly writes the programs of a sandbox. The processes that carry them out have the
// namespaces of the session, in which they may do everything that they do here. One makes the
// mounts of a [template]; the other makes a command's own in a copy of that, and gives up all
// powers before the command.
//
// Every path is opened without following links, and what was opened is mounted: whoever
// exchanges a folder for a link meanwhile makes the program fail.
type assembly struct {
	*calls.Program
	root calls.Arg // the sandbox's root directory
	// closing are mounts that become read-only when all is in place.
	closing []calls.Arg
	links   int // how many files are shown as copies
	// over are the overlays through which sources are found.
	over *overlays
}

// current is the working directory, for paths that begin with none.
var current = calls.Int(unix.AT_FDCWD)

// building is where the sandbox's root lies while it is made: in a mount namespace of its
// own, on a directory in which no source lies.
const building = "/proc"

// assemble is the program that makes a sandbox of a copy of a template's mounts, and goes on in
// it. Its mounts are told over a socket; table is where the kernel lists them. See [shared] for the
// files that it is without.
func assemble(spec Spec, l *layout, n *Namespace) (p *calls.Program, table calls.Arg) {
	a := &assembly{Program: &calls.Program{}}
	if spec.network() == NetworkAll {
		n = &Namespace{user: n.user} // it has the machine's
	}
	a.enter(n)
	a.processes()
	a.terminals()
	if !spec.ReadOnly {
		a.close(a.memory("/dev/shm", scratchSize, "1777", safely))
	}
	for _, e := range l.entries {
		if within(e.target, "/proc") {
			a.entry(nil, e)
		}
	}
	opened := a.tables(a.self())
	a.check(l) // what changes from now on, the tables tell
	if len(spec.Touches) > 0 {
		opened = append(opened, a.telling(spec.Renames)...)
	}
	a.Send(a.Hold(nil), opened)
	a.giveUp(confinement(spec.UnixSockets, spec.ReadOnly))
	a.Below()
	return a.Program, opened[0]
}

// Where struct statx says that a file is the root of a mount.
const (
	statSize      = 256
	statMountRoot = 8 + 1 // in the second byte of its attributes
	mountRoot     = unix.STATX_ATTR_MOUNT_ROOT >> 8
)

// check fails where nothing is mounted on a guarded path. What was mounted there is gone if
// somebody replaced or moved what it lay on before the mounts were copied.
func (a *assembly) check(l *layout) {
	stat := a.Bytes(make([]byte, statSize))
	for _, e := range l.entries {
		if e.guards() {
			a.Call(opening+e.target, unix.SYS_STATX, current, a.Text(e.target), calls.Int(unix.AT_SYMLINK_NOFOLLOW|unix.AT_STATX_DONT_SYNC), calls.Int(0), stat)
			a.Expect(opening+e.target+" once more", stat, statMountRoot, mountRoot)
		}
	}
}

// enter joins the session's namespaces and a copy of mounts, and makes the command's own
// namespaces.
func (a *assembly) enter(n *Namespace) {
	n.join(a.Program)
	a.dieWithParent()
	a.Call("joining the mounts", unix.SYS_SETNS, a.Hold(nil), calls.Int(unix.CLONE_NEWNS))
	a.Call("making namespaces", unix.SYS_UNSHARE,
		calls.Int(unix.CLONE_NEWNS|unix.CLONE_NEWPID|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS|unix.CLONE_NEWCGROUP))
	a.Apart()
	a.dieWithParent()
	a.Call("leaving the session of the terminal", unix.SYS_SETSID)
	a.root = a.Call("opening the root", unix.SYS_OPENAT, current, a.Text("/"), calls.Int(unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC))
}

func (a *assembly) dieWithParent() {
	a.Call("ending with the supervisor", unix.SYS_PRCTL, calls.Int(unix.PR_SET_PDEATHSIG), calls.Int(unix.SIGKILL))
}

// base places the root: the machine's files, to read, or an empty folder in which there are
// only /dev and /proc yet. In both the machine's /proc lies there, under the command's own: without
// one the kernel lets nobody mount one.
func (a *assembly) base(root *entry) {
	from := "/"
	if root.inMemory() {
		from = "/proc"
	}
	tree := a.Call("copying the mounts of "+from, unix.SYS_OPEN_TREE, current, a.Text(from),
		calls.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE))
	a.set(tree, safely|unix.MOUNT_ATTR_RDONLY, unix.AT_RECURSIVE)
	mount := tree
	if root.inMemory() {
		fs := a.fileSystem("tmpfs", "/", "mode=0555")
		mount = a.Call("making the mount for /", unix.SYS_FSMOUNT, fs, calls.Int(unix.FSMOUNT_CLOEXEC), calls.Int(safely))
		a.closing = append(a.closing, mount)
	}
	a.Call("placing the new root", unix.SYS_MOVE_MOUNT, mount, a.Text(""), current, a.Text(building), calls.Int(unix.MOVE_MOUNT_F_EMPTY_PATH))
	a.root = a.Call("opening the new root", unix.SYS_OPENAT, current, a.Text(building), calls.Int(unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC))
	if root.inMemory() {
		for _, name := range []string{"dev", "proc"} {
			a.Call("making /"+name, unix.SYS_MKDIRAT, a.root, a.Text(name), calls.Int(0o755))
		}
		a.put(tree, "/proc")
	}
}

// set sets attributes of a mount.
func (a *assembly) set(mount calls.Arg, attributes uint64, flags int) {
	var b []byte
	for _, n := range []uint64{attributes, 0, 0, 0} { // to set, to clear, propagation, user namespace
		b = binary.NativeEndian.AppendUint64(b, n)
	}
	a.Call("closing a mount to changes", unix.SYS_MOUNT_SETATTR, mount, a.Text(""), calls.Int(unix.AT_EMPTY_PATH|flags), a.Bytes(b), calls.Int(len(b)))
}

// opening begins what is said of the opening of a path.
const opening = "opening "

// Judge makes [ErrChanged] of what the start of a sandbox's program failed with, if that is
// that a path was another when it was opened than when the sandbox was planned.
func Judge(err error) error {
	if errors.Is(err, process.ErrEnded) {
		return fmt.Errorf("%w: %w", ErrChanged, err) // what waited for a command, which can do without
	}
	failure, ok := errors.AsType[*calls.Failure](err)
	if !ok || !strings.HasPrefix(failure.What, opening) {
		return err
	}
	switch failure.Errno {
	case unix.ELOOP, unix.ENOENT, unix.ENOTDIR, unix.ESTALE:
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return err
}

// open opens a path without links: of the machine's, or of the sandbox's root.
func (a *assembly) open(at calls.Arg, path string, resolve uint64) calls.Arg {
	var b []byte
	for _, n := range []uint64{unix.O_PATH | unix.O_CLOEXEC, 0, unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | resolve} {
		b = binary.NativeEndian.AppendUint64(b, n)
	}
	return a.Call(opening+path, unix.SYS_OPENAT2, at, a.Text(path), a.Bytes(b), calls.Int(len(b)))
}

// place opens a path of the sandbox's.
func (a *assembly) place(path string) calls.Arg { return a.open(a.root, path, unix.RESOLVE_IN_ROOT) }

// put mounts something at a path of the sandbox's.
func (a *assembly) put(mount calls.Arg, path string) {
	at := a.place(path)
	a.Call("mounting on "+path, unix.SYS_MOVE_MOUNT, mount, a.Text(""), at, a.Text(""), calls.Int(unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH))
	a.close(at)
}

func (a *assembly) close(fd calls.Arg) { a.Call("closing", unix.SYS_CLOSE, fd) }

// bind mounts what lies at a path of the machine's at one of the sandbox's.
func (a *assembly) bind(source, target string, attributes uint64) {
	from := a.open(current, source, 0)
	tree := a.Call("copying the mounts of "+source, unix.SYS_OPEN_TREE, from, a.Text(""),
		calls.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE))
	a.set(tree, attributes, unix.AT_RECURSIVE)
	a.put(tree, target)
	a.close(tree)
	a.close(from)
}

// fileSystem makes a new file system that is not mounted yet.
func (a *assembly) fileSystem(kind, target string, options ...string) calls.Arg {
	fs := a.Call("making a file system "+kind, unix.SYS_FSOPEN, a.Text(kind), calls.Int(unix.FSOPEN_CLOEXEC))
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		a.Call("setting "+o+" of "+target, unix.SYS_FSCONFIG, fs, calls.Int(unix.FSCONFIG_SET_STRING), a.Text(name), a.Text(value), calls.Int(0))
	}
	a.Call("making the file system for "+target, unix.SYS_FSCONFIG, fs, calls.Int(unix.FSCONFIG_CMD_CREATE), calls.Int(0), calls.Int(0), calls.Int(0))
	return fs
}

// fresh mounts a new file system, and returns the mount.
func (a *assembly) fresh(kind, target string, attributes uint64, options ...string) calls.Arg {
	fs := a.fileSystem(kind, target, options...)
	mount := a.Call("making the mount for "+target, unix.SYS_FSMOUNT, fs, calls.Int(unix.FSMOUNT_CLOEXEC), calls.Int(attributes))
	a.put(mount, target)
	a.close(fs)
	return mount
}

// memory mounts a folder in memory.
func (a *assembly) memory(target string, size int, mode string, attributes uint64) calls.Arg {
	return a.fresh("tmpfs", target, attributes, "size="+strconv.Itoa(size), "mode="+mode)
}

const safely = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

// devicesSize is how much room there is for the names in /dev, in bytes.
const devicesSize = 64 << 10

// harmless are the devices that a command has. It can write to them, while their mounts are closed to
// changes: root could take them from everybody by their permissions.
var harmless = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}

// devices makes a /dev of what harms nobody, with room for what each command has of its own.
func (a *assembly) devices(spec Spec) {
	dev := a.memory("/dev", devicesSize, "0755", unix.MOUNT_ATTR_NOSUID)
	at := a.place("/dev")
	for _, path := range harmless {
		a.file(at, filepath.Base(path))
		a.bind(path, path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_RDONLY)
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx", "core": "/proc/kcore",
	} {
		a.Call("linking /dev/"+name, unix.SYS_SYMLINKAT, a.Text(to), at, a.Text(name))
	}
	for _, name := range []string{"pts", "shm"} {
		a.Call("making /dev/"+name, unix.SYS_MKDIRAT, at, a.Text(name), calls.Int(0o755))
	}
	if len(spec.Copies) > 0 {
		a.Call("making "+copies, unix.SYS_MKDIRAT, at, a.Text(filepath.Base(copies)), calls.Int(0o755))
	}
	a.close(at)
	a.closing = append(a.closing, dev)
}

// terminals makes place for the command's own.
func (a *assembly) terminals() {
	a.close(a.fresh("devpts", "/dev/pts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, "ptmxmode=0666", "mode=0620"))
}

// file makes an empty file for something to be mounted on.
func (a *assembly) file(dir calls.Arg, name string) {
	a.close(a.Call("making "+name, unix.SYS_OPENAT, dir, a.Text(name), calls.Int(unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW), calls.Int(0o444)))
}

// processes shows the command's own processes. That /proc configures the kernel asks for no
// capability but for its user.
func (a *assembly) processes() {
	a.close(a.fresh("proc", "/proc", safely|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_RDONLY))
}

// entry makes one mount of the layout, in what those before it made.
func (a *assembly) entry(before []*entry, e *entry) {
	a.ready(before, e)
	switch e.kind {
	case kindLink:
		parent := a.place(filepath.Dir(e.target))
		a.Call("linking "+e.target, unix.SYS_SYMLINKAT, a.Text(e.source), parent, a.Text(filepath.Base(e.target)))
		a.close(parent)
	case kindCopied:
		a.copied(e)
	case kindScratch:
		a.close(a.memory(e.target, scratchSize, "1777", safely))
	case kindEmpty, kindHiddenDir:
		a.closed(e)
	case kindWritable, kindPin:
		a.bind(e.source, e.target, safely)
	default:
		a.bind(e.source, e.target, safely|unix.MOUNT_ATTR_RDONLY)
	}
}

// copies is where the links lie that are mounted over files.
const copies = "/dev/.copies"

// copied mounts a link to a copy over a file. Programs that replace the file as a whole, as git
// does with its configuration, follow the link first, and replace the copy.
func (a *assembly) copied(e *entry) {
	e.link = strconv.Itoa(a.links)
	a.links++
	dir := a.place(copies)
	a.Call("linking to "+e.source, unix.SYS_SYMLINKAT, a.Text(e.source), dir, a.Text(e.link))
	a.close(dir)
	a.relink(e)
}

// relink mounts the link to a copy that was made.
func (a *assembly) relink(e *entry) {
	dir, name := a.place(copies), e.link
	link := a.Call("copying the link to "+e.source, unix.SYS_OPEN_TREE, dir, a.Text(name),
		calls.Int(unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW))
	a.set(link, safely|unix.MOUNT_ATTR_RDONLY, 0)
	a.put(link, e.target)
	a.close(link)
	a.close(dir)
}

// closed mounts a folder that stays empty, but for what is mounted there.
func (a *assembly) closed(e *entry) {
	mode := "0555"
	if e.kind == kindHiddenDir {
		mode = "0000"
		if e.passage {
			mode = "0111"
		}
	}
	if e.passage {
		a.closing = append(a.closing, a.memory(e.target, emptySize, mode, safely))
		return
	}
	a.close(a.memory(e.target, emptySize, mode, safely|unix.MOUNT_ATTR_RDONLY))
}

// ready makes what an entry is mounted on, if that lies in a folder in memory.
func (a *assembly) ready(before []*entry, e *entry) {
	var around *entry
	for _, other := range before {
		if other.target != e.target && within(e.target, other.target) {
			around = other
		}
	}
	if around == nil || !around.fresh() || within(e.target, "/proc") {
		return
	}
	for _, dir := range append(between(around.target, e.target), e.target) {
		parent := a.place(filepath.Dir(dir))
		switch {
		case dir != e.target || e.kind != kindLink && (e.source == "" || isDir(a.over.at(e.source))):
			a.Try("making "+dir, unix.SYS_MKDIRAT, parent, a.Text(filepath.Base(dir)), calls.Int(0o755))
		case e.kind != kindLink:
			a.file(parent, filepath.Base(dir))
		}
		a.close(parent)
	}
}

// pivot makes the new root the only one.
func (a *assembly) pivot() {
	a.Call("entering the new root", unix.SYS_FCHDIR, a.root)
	here := a.Text(".")
	a.Call("exchanging the root", unix.SYS_PIVOT_ROOT, here, here)
	a.Call("leaving the old root", unix.SYS_UMOUNT2, here, calls.Int(unix.MNT_DETACH))
	a.Call("entering the root", unix.SYS_CHDIR, a.Text("/"))
}

// self is the directory of the process that carries the program out.
func (a *assembly) self() calls.Arg {
	return a.Call("opening /proc/self", unix.SYS_OPENAT, current, a.Text("/proc/self"), calls.Int(unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC))
}

// tables opens where the kernel lists the mounts that a process has, of which there is the
// directory in /proc: once to ask by [changed], and once for Go to wait for changes, each of which
// is told once. The third is the namespace that they are in.
func (a *assembly) tables(self calls.Arg) []calls.Arg {
	open := func(name string, flags int) calls.Arg {
		return a.Call("opening "+name, unix.SYS_OPENAT, self, a.Text(name), calls.Int(unix.O_RDONLY|unix.O_CLOEXEC|flags))
	}
	return []calls.Arg{open("mountinfo", 0), open("mountinfo", unix.O_NONBLOCK), open("ns/mnt", 0)}
}

// lastCapability is the last one that the kernel has, or beyond what any has.
var lastCapability = sync.OnceValue(func() int {
	const beyond = 63
	content, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err != nil {
		return beyond
	}
	last, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return beyond
	}
	return last
})

// giveUp gives up all powers for good, and the calls that are not for commands.
func (a *assembly) giveUp(filter seccomp.Program) {
	for c := range lastCapability() + 1 {
		a.Try("giving up a capability", unix.SYS_PRCTL, calls.Int(unix.PR_CAPBSET_DROP), calls.Int(c))
	}
	header := binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3), 0)
	a.Call("giving up all capabilities", unix.SYS_CAPSET, a.Bytes(header), a.Bytes(make([]byte, 24)))
	a.Try("being nobody's to look into", unix.SYS_PRCTL, calls.Int(unix.PR_SET_DUMPABLE), calls.Int(0))
	a.filter(filter)
}

// filter installs a filter of calls, for good: programs give no privileges from then on.
func (a *assembly) filter(filter seccomp.Program) {
	a.install("installing the filter of calls", filter, 0)
}

// install is filter with flags. It returns the result of the call: the listener, if the flags ask for one.
func (a *assembly) install(what string, filter seccomp.Program, flags uintptr) calls.Arg {
	a.Call("taking no new privileges", unix.SYS_PRCTL, calls.Int(unix.PR_SET_NO_NEW_PRIVS), calls.Int(1), calls.Int(0), calls.Int(0), calls.Int(0))
	program := a.Bytes(binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, uint64(len(filter))), 0))
	a.Point(program, 8, a.Bytes(filter.Bytes()))
	return a.Call(what, unix.SYS_SECCOMP, calls.Int(unix.SECCOMP_SET_MODE_FILTER), calls.Int(flags), program)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
