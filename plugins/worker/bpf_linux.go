//go:build amd64 || arm64

package worker

import "golang.org/x/sys/unix"

// filter is a seccomp program under construction: a list of system calls that
// are let through. See seccomp(2).
type filter []unix.SockFilter

// What a filter reads is struct seccomp_data: these are offsets into it. The
// machines that are built for are little-endian, so an argument's lower half
// comes first.
const (
	offsetNumber       = 0
	offsetArch         = 4
	offsetArguments    = 16
	argumentSize       = 8
	foreignNumbers     = 1 << 30 // from here on: the x32 calls of amd64
	maxConditionValues = 250     // so that jumps, of one byte, reach the end
)

func statement(code uint16, k uint32) unix.SockFilter {
	return unix.SockFilter{Code: code, K: k}
}

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k}
}

func load(offset uint32) unix.SockFilter {
	return statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset)
}

func verdict(action uint32) unix.SockFilter {
	return statement(unix.BPF_RET|unix.BPF_K, action)
}

const (
	jumpIfEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpIfFrom  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	jumpIfBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K

	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// absent makes libraries fall back to an older call.
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// newFilter begins a filter. System calls of another machine's, which have other
// numbers, end the process.
func newFilter(arch uint32) filter {
	return filter{
		load(offsetArch),
		jump(jumpIfEqual, arch, 1, 0),
		verdict(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetNumber),
		jump(jumpIfFrom, foreignNumbers, 0, 1),
		verdict(unix.SECCOMP_RET_KILL_PROCESS),
	}
}

// on gives a system call a verdict of its own.
func (f *filter) on(number uintptr, action uint32) {
	*f = append(*f, jump(jumpIfEqual, uint32(number), 0, 1), verdict(action))
}

// allow lets system calls through, whatever their arguments.
func (f *filter) allow(numbers ...uintptr) {
	for _, n := range numbers {
		f.on(n, unix.SECCOMP_RET_ALLOW)
	}
}

// allowValues lets a system call through where the lower half of an argument has
// one of the values.
func (f *filter) allowValues(number uintptr, argument int, values ...uint32) {
	f.conditional(number, argument, jumpIfEqual, values[:min(len(values), maxConditionValues)])
}

// allowBits lets a system call through where an argument has one of the bits.
func (f *filter) allowBits(number uintptr, argument int, bits uint32) {
	f.conditional(number, argument, jumpIfBits, []uint32{bits})
}

func (f *filter) conditional(number uintptr, argument int, test uint16, values []uint32) {
	n := len(values)
	*f = append(*f,
		jump(jumpIfEqual, uint32(number), 0, uint8(n+3)),
		load(uint32(offsetArguments+argumentSize*argument)),
	)
	for i, v := range values {
		*f = append(*f, jump(test, v, uint8(n-i), 0))
	}
	*f = append(*f, verdict(refuse), verdict(unix.SECCOMP_RET_ALLOW))
}

// finish refuses whatever was not let through.
func (f *filter) finish() []unix.SockFilter { return append(*f, verdict(refuse)) }
