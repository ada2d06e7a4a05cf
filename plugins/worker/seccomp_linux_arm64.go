package worker

import "golang.org/x/sys/unix"

// runtimeCalls are those that only some machines have: none here.
var runtimeCalls []uintptr

// fileCalls are those of the file system that go by another name here.
var fileCalls = []uintptr{unix.SYS_FSTATAT}
