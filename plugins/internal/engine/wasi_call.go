package engine

import "github.com/tetratelabs/wazero/api"

// errno is WASI's, as far as it is used here.
type errno uint32

const (
	success  errno = 0
	badf     errno = 8  // no such descriptor
	fault    errno = 21 // outside the guest's memory
	inval    errno = 28
	nosys    errno = 52
	notdir   errno = 54
	notsock  errno = 57
	notsup   errno = 58
	seekPipe errno = 70
)

// wasiCall is one call of a WASI function.
type wasiCall struct {
	run  *Run
	mem  api.Memory
	args []uint64
}

func (c *wasiCall) u32(i int) uint32 { return uint32(c.args[i]) }

// open reports whether a descriptor is one of the standard streams.
func (c *wasiCall) open(fd uint32) bool { return fd <= 2 && c.run.closed&(1<<fd) == 0 }

func (c *wasiCall) putU32(at, v uint32) errno {
	if !c.mem.WriteUint32Le(at, v) {
		return fault
	}
	return success
}

func (c *wasiCall) putU64(at uint32, v uint64) errno {
	if !c.mem.WriteUint64Le(at, v) {
		return fault
	}
	return success
}
