//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// program is a seccomp program under construction: system calls are let through but
// for those it names. See seccomp(2). What the kernel looks up in user memory, such
// as the address of connect or the flags of clone3, is out of its sight.
type program []unix.SockFilter

// What a program reads is struct seccomp_data; the machines that are built for are
// little-endian, so an argument's lower half comes first. All arguments looked at
// are 32 bits wide for the kernel too: the upper halves change nothing.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16
	argumentSize   = 8
	foreignNumbers = 1 << 30 // from here on: the x32 calls of amd64

	jumpEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpFrom  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	jumpBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K

	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// absent makes libraries fall back to an older call.
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	// foreign is what a kernel without a family of sockets says.
	foreign = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
)

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

func instruction(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: test, K: k, Jt: yes, Jf: no}
}

func load(offset uint32) unix.SockFilter {
	return instruction(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset)
}

func verdict(action uint32) unix.SockFilter { return instruction(unix.BPF_RET|unix.BPF_K, action) }

// newProgram begins a program that ends a process which makes calls of another
// machine, for these have other numbers.
func newProgram() program {
	return program{
		load(offsetArch),
		jump(jumpEqual, auditArch, 1, 0),
		verdict(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetNumber),
		jump(jumpFrom, foreignNumbers, 0, 1),
		verdict(unix.SECCOMP_RET_KILL_PROCESS),
	}
}

// on gives a call a verdict.
func (p *program) on(number uintptr, action uint32) {
	*p = append(*p, jump(jumpEqual, uint32(number), 0, 1), verdict(action))
}

// onArgument gives a call a verdict where one of its arguments passes a test.
func (p *program) onArgument(number uintptr, argument int, test uint16, k, action uint32) {
	*p = append(*p,
		jump(jumpEqual, uint32(number), 0, 4),
		load(uint32(offsetArgument+argumentSize*argument)),
		jump(test, k, 0, 1),
		verdict(action),
		load(offsetNumber),
	)
}

// sockets lets through the families a command has a use for: of netlink, whose other
// protocols configure the kernel, only what lists addresses.
func (p *program) sockets(unixSockets bool) {
	local := refuse
	if unixSockets {
		local = unix.SECCOMP_RET_ALLOW
	}
	*p = append(*p,
		jump(jumpEqual, unix.SYS_SOCKET, 0, 11),
		load(offsetArgument),
		jump(jumpEqual, unix.AF_UNIX, 0, 1),
		verdict(local),
		jump(jumpEqual, unix.AF_INET, 6, 0),
		jump(jumpEqual, unix.AF_INET6, 5, 0),
		jump(jumpEqual, unix.AF_NETLINK, 1, 0),
		verdict(foreign),
		load(offsetArgument+2*argumentSize),
		jump(jumpEqual, unix.NETLINK_ROUTE, 1, 0),
		verdict(refuse),
		verdict(unix.SECCOMP_RET_ALLOW),
	)
}

// pairs lets through pairs of sockets that stay with each other. One of datagrams (or
// raw, which is the same there) can send to any other socket it knows the path of.
func (p *program) pairs() {
	*p = append(*p,
		jump(jumpEqual, unix.SYS_SOCKETPAIR, 0, 6),
		load(offsetArgument+argumentSize),
		instruction(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, socketTypes),
		jump(jumpEqual, unix.SOCK_STREAM, 2, 0),
		jump(jumpEqual, unix.SOCK_SEQPACKET, 1, 0),
		verdict(refuse),
		verdict(unix.SECCOMP_RET_ALLOW),
	)
}

// allow ends a program: all else is let through.
func (p *program) allow() program { return append(*p, verdict(unix.SECCOMP_RET_ALLOW)) }

// confinement is the program of a sandbox.
func confinement(unixSockets bool) program {
	p := newProgram()
	for _, number := range refused {
		p.on(number, refuse)
	}
	for _, number := range refusedHere {
		p.on(number, refuse)
	}
	p.on(unix.SYS_CLONE3, absent)
	p.onArgument(unix.SYS_CLONE, 0, jumpBits, newNamespaces, refuse)
	p.onArgument(unix.SYS_UNSHARE, 0, jumpBits, newNamespaces|unix.CLONE_NEWTIME, refuse)
	// Typing into a terminal, whose shell is outside.
	p.onArgument(unix.SYS_IOCTL, 1, jumpEqual, unix.TIOCSTI, refuse)
	p.onArgument(unix.SYS_IOCTL, 1, jumpEqual, unix.TIOCLINUX, refuse)
	p.sockets(unixSockets)
	if !unixSockets {
		p.pairs()
	}
	return p.allow()
}

// withoutUnixSockets is a program that forbids them and nothing else.
func withoutUnixSockets() program {
	p := newProgram()
	p.onArgument(unix.SYS_SOCKET, 0, jumpEqual, unix.AF_UNIX, refuse)
	p.pairs()
	return p.allow()
}

// file is the program as bubblewrap reads it, from a descriptor.
func (p program) file() (*os.File, error) {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, []unix.SockFilter(p)); err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("seccomp", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "seccomp")
	if _, err := f.Write(b.Bytes()); err != nil {
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
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	p := withoutUnixSockets()
	list := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&list)))
	runtime.KeepAlive(p)
	if errno != 0 || thread != 0 {
		return fmt.Errorf("setting the system call filter (seccomp): %w (thread %d)", errno, thread)
	}
	return unix.Exec(path, argv, env)
}
