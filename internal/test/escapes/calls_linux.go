package escapes

import "golang.org/x/sys/unix"

// numbers are those of the system calls that cases make by number.
var numbers = map[string]uintptr{
	"ptrace": unix.SYS_PTRACE, "process_vm_readv": unix.SYS_PROCESS_VM_READV, "pidfd_getfd": unix.SYS_PIDFD_GETFD,
	"mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2, "pivot_root": unix.SYS_PIVOT_ROOT, "chroot": unix.SYS_CHROOT,
	"open_tree": unix.SYS_OPEN_TREE, "fsopen": unix.SYS_FSOPEN, "move_mount": unix.SYS_MOVE_MOUNT,
	"mount_setattr": unix.SYS_MOUNT_SETATTR, "unshare": unix.SYS_UNSHARE, "setns": unix.SYS_SETNS,
	"clone": unix.SYS_CLONE, "clone3": unix.SYS_CLONE3, "bpf": unix.SYS_BPF, "userfaultfd": unix.SYS_USERFAULTFD,
	"perf_event_open": unix.SYS_PERF_EVENT_OPEN, "keyctl": unix.SYS_KEYCTL, "add_key": unix.SYS_ADD_KEY,
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT,
	"kexec_load": unix.SYS_KEXEC_LOAD, "init_module": unix.SYS_INIT_MODULE, "syslog": unix.SYS_SYSLOG,
	"socket": unix.SYS_SOCKET, "fanotify_init": unix.SYS_FANOTIFY_INIT, "getpid": unix.SYS_GETPID,
}

// callProgram makes the system call whose name and arguments it is given, and tells
// when it went through. An argument is a number or, after "s:", text.
const callProgram = `import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
name, *rest = sys.argv[1:]
number, _, offset = name.partition("+")
def argument(text):
    if text.startswith("s:"):
        return ctypes.c_char_p(text[2:].encode())
    return ctypes.c_long(int(text, 0))
got = libc.syscall(ctypes.c_long(int(os.environ["NR_" + number]) + int(offset or "0", 0)), *map(argument, rest))
if got >= 0:
    print("ESCAPED:", name, "returned", got)
else:
    print(name + ":", errno.errorcode[ctypes.get_errno()])
`
