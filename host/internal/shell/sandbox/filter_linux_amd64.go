package sandbox

import "golang.org/x/sys/unix"

// refusedHere are calls that other machines do without.
var refusedHere = []uintptr{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_CREATE_MODULE,
}
