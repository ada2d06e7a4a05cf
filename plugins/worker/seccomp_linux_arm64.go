package worker

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// runtimeCalls are those that only some machines have: none here.
var runtimeCalls []uintptr

// fileCalls are those of the file system that go by another name here.
var fileCalls = []uintptr{unix.SYS_FSTATAT}
