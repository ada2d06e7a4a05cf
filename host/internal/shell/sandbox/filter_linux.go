//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/internal/seccomp"
)

// foreign is what a kernel without a family of sockets says.
const foreign = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)

// newNamespaces are the flags of clone and unshare that make namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// socketTypes is the part of a socket's type that is no flag.
const socketTypes = 0xf

// sysOpenTreeAttr is newer than the names of package unix.
const sysOpenTreeAttr = 467

// refused are the calls nobody has a use for in a sandbox but to leave it or to
// attack the kernel.
var refused = []uintptr{
	// Other processes' memory and descriptors.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	// Mounts, namespaces, and files by handle instead of by path.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, sysOpenTreeAttr, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_FANOTIFY_INIT,
	// The kernel itself, and the parts of it with the longest lists of faults.
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_BPF, unix.SYS_USERFAULTFD,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL,
	unix.SYS_QUOTACTL_FD, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	// Keys belong to the user, not to the namespace.
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	// Queued calls are carried out without a look at this program.
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// pairs lets through pairs of sockets that stay with each other. One of datagrams (or
// raw, which is the same there) can send to any other socket it knows the path of.
var pairs = []seccomp.Rule{
	{
		Action: seccomp.Allow, Calls: []uintptr{unix.SYS_SOCKETPAIR},
		When: []seccomp.Test{{Argument: 1, Mask: socketTypes, Is: []uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}}},
	},
	{Action: seccomp.Refuse, Calls: []uintptr{unix.SYS_SOCKETPAIR}},
}

// confinement is the filter of a sandbox. One that is offline may share a network, and reaches
// nothing there.
func confinement(unixSockets, offline bool) seccomp.Program {
	socket := []uintptr{unix.SYS_SOCKET}
	family := func(families ...uint32) seccomp.Test { return seccomp.Test{Argument: 0, Is: families} }
	local := seccomp.Refuse
	if unixSockets {
		local = seccomp.Allow
	}
	internet := uint32(seccomp.Allow)
	if offline {
		internet = foreign
	}
	rules := []seccomp.Rule{
		{Action: seccomp.Refuse, Calls: refused},
		{Action: seccomp.Refuse, Calls: refusedHere},
		{Action: seccomp.Absent, Calls: []uintptr{unix.SYS_CLONE3}},
		{Action: seccomp.Refuse, Calls: []uintptr{unix.SYS_CLONE}, When: []seccomp.Test{{Argument: 0, Has: newNamespaces}}},
		{Action: seccomp.Refuse, Calls: []uintptr{unix.SYS_UNSHARE}, When: []seccomp.Test{{Argument: 0, Has: newNamespaces | unix.CLONE_NEWTIME}}},
		// Typing into a terminal, whose shell is outside.
		{Action: seccomp.Refuse, Calls: []uintptr{unix.SYS_IOCTL}, When: []seccomp.Test{{Argument: 1, Is: []uint32{unix.TIOCSTI, unix.TIOCLINUX}}}},
		// The families a command has a use for: of netlink, whose other protocols
		// configure the kernel, only what lists addresses.
		{Action: local, Calls: socket, When: []seccomp.Test{family(unix.AF_UNIX)}},
		{Action: internet, Calls: socket, When: []seccomp.Test{family(unix.AF_INET, unix.AF_INET6)}},
		{Action: seccomp.Allow, Calls: socket, When: []seccomp.Test{family(unix.AF_NETLINK), {Argument: 2, Is: []uint32{unix.NETLINK_ROUTE}}}},
		{Action: seccomp.Refuse, Calls: socket, When: []seccomp.Test{family(unix.AF_NETLINK)}},
		{Action: foreign, Calls: socket},
	}
	if !unixSockets {
		rules = append(rules, pairs...)
	}
	return seccomp.New(seccomp.Allow, rules...)
}

// changing are calls that change what is known of a file without opening it to be written to,
// of which Landlock knows nothing, and those that share memory and queues with other programs.
var changing = []uintptr{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, sysSetxattrAt,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, sysRemovexattrAt, sysFileSetattr,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// These calls are newer than the names of package unix.
const (
	sysSetxattrAt    = 463
	sysRemovexattrAt = 466
	sysFileSetattr   = 469
)

// partialFilter is what a command that has no sandbox is refused beside what [confinement]
// refuses: the limits of others, by which they could be ended; if it only reads, all changes.
func partialFilter(readOnly bool) seccomp.Program {
	limits := []uintptr{unix.SYS_PRLIMIT64}
	rules := []seccomp.Rule{
		{Action: seccomp.Allow, Calls: limits, When: []seccomp.Test{{Argument: 0, Is: []uint32{0}}}},
		{Action: seccomp.Refuse, Calls: limits},
	}
	if readOnly {
		rules = append(rules, seccomp.Rule{Action: seccomp.Refuse, Calls: changing}, seccomp.Rule{Action: seccomp.Refuse, Calls: changingHere},
			seccomp.Rule{Action: seccomp.Refuse, Calls: []uintptr{unix.SYS_IOCTL}, When: []seccomp.Test{{Argument: 1, Is: []uint32{unix.FS_IOC_SETFLAGS, fsSetXattr}}}})
	}
	return seccomp.New(seccomp.Allow, rules...)
}

// fsSetXattr is FS_IOC_FSSETXATTR, which package unix does not name.
const fsSetXattr = 0x401c5820

// withoutUnixSockets is a filter that forbids them and nothing else.
func withoutUnixSockets() seccomp.Program {
	return seccomp.New(seccomp.Allow, append([]seccomp.Rule{{
		Action: seccomp.Refuse, Calls: []uintptr{unix.SYS_SOCKET}, When: []seccomp.Test{{Argument: 0, Is: []uint32{unix.AF_UNIX}}},
	}}, pairs...)...)
}

// programFile is a filter as bubblewrap reads it, from a descriptor.
func programFile(p seccomp.Program) (*os.File, error) {
	fd, err := unix.MemfdCreate("seccomp", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "seccomp")
	if _, err := f.Write(p.Bytes()); err != nil {
		return nil, closing(f, err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, closing(f, err)
	}
	return f, nil
}

func closing(f *os.File, err error) error {
	_ = f.Close() // the first error tells more
	return err
}

// Exec takes Unix sockets away from this process and becomes the command, which is
// looked up as a shell would. It returns only if it fails.
func Exec(argv, env []string) error {
	if len(argv) == 0 {
		return fmt.Errorf("%w: no command", ErrSpec)
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	if err := withoutUnixSockets().Install(); err != nil {
		return err
	}
	return unix.Exec(path, argv, env)
}
