package worker

import "golang.org/x/sys/unix"

// runtimeCalls are those that other machines do without.
var runtimeCalls = []uintptr{unix.SYS_EPOLL_WAIT, unix.SYS_TIME}

// fileCalls are those of the file system that other machines do without.
var fileCalls = []uintptr{
	unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_ACCESS,
	unix.SYS_READLINK, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_CHMOD,
}
