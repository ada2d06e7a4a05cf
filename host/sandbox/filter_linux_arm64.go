package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// refusedHere are calls that other machines do without.
var refusedHere []uintptr
