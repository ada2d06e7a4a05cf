//go:build amd64 || arm64

package seccomp

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What a rule does with a system call.
const (
	Allow  = unix.SECCOMP_RET_ALLOW
	Refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// Absent makes libraries fall back to an older call.
	Absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// Rule is a row of a filter: what is done with calls whose arguments pass all tests.
type Rule struct {
	Action uint32
	Calls  []uintptr
	When   []Test
}

// Test looks at the lower half of an argument, of which Mask leaves what counts; none
// leaves all. It has to be one of Is, or to have one of the bits of Has.
type Test struct {
	Argument int
	Mask     uint32
	Is       []uint32
	Has      uint32
}

// Program is what the kernel runs.
type Program []unix.SockFilter

// A program reads struct seccomp_data: these are offsets into it. The machines that are
// built for are little-endian, so an argument's lower half comes first.
const (
	offsetNumber    = 0
	offsetArch      = 4
	offsetArguments = 16
	argumentSize    = 8
	foreignNumbers  = 1 << 30 // from here on: the x32 calls of amd64

	jumpEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpFrom  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	jumpBits  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
)

// New makes the program of rules, of which the first that speaks of a call counts; what
// none speaks of gets the action otherwise. Calls of another machine, which have other
// numbers, end the process.
//
// A call is searched for by halves: when a program is installed the kernel carries it out once
// for each call there is.
func New(otherwise uint32, rules ...Rule) Program {
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	p := Program{
		load(offsetArch),
		jump(jumpEqual, arch, 1, 0),
		verdict(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetNumber),
		jump(jumpFrom, foreignNumbers, 0, 1),
		verdict(unix.SECCOMP_RET_KILL_PROCESS),
	}
	bodies := make(map[uintptr]Program)
	for _, r := range rules {
		for _, call := range r.Calls {
			bodies[call] = append(bodies[call], r.body()...)
		}
	}
	return append(p, search(slices.Sorted(maps.Keys(bodies)), bodies, verdict(otherwise))...)
}

// few is how many calls are searched one by one: the kernel translates a program too, and its
// length counts there.
const few = 8

// search finds the call among some, in order, and does what its body says, or otherwise.
func search(calls []uintptr, bodies map[uintptr]Program, otherwise unix.SockFilter) Program {
	alike := func(call uintptr) bool { return slices.Equal(bodies[call], bodies[calls[0]]) }
	if len(calls) == 0 {
		return Program{otherwise}
	}
	if len(calls) <= few && !slices.ContainsFunc(calls, func(call uintptr) bool { return !alike(call) }) {
		var p Program
		for i, call := range calls {
			p = append(p, jump(jumpEqual, uint32(call), uint8(len(calls)-i), 0))
		}
		return append(append(append(p, otherwise), bodies[calls[0]]...), otherwise)
	}
	half := len(calls) / 2
	below := search(calls[:half], bodies, otherwise)
	p := Program{jump(jumpFrom, uint32(calls[half]), 0, 1), {Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(len(below))}}
	if near := len(below); near <= math.MaxUint8 {
		p = Program{jump(jumpFrom, uint32(calls[half]), uint8(near), 0)}
	}
	return append(append(p, below...), search(calls[half:], bodies, otherwise)...)
}

// body is what follows a rule's call, made from its end on: where a test fails, the rest
// is jumped over.
func (r Rule) body() Program {
	body := Program{verdict(r.Action)}
	for _, t := range slices.Backward(r.When) {
		block := Program{load(uint32(offsetArguments + argumentSize*t.Argument))}
		if t.Mask != 0 {
			block = append(block, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: t.Mask})
		}
		if t.Has != 0 {
			block = append(block, jump(jumpBits, t.Has, 0, uint8(len(body))))
		}
		for i, v := range t.Is {
			left, past := uint8(len(t.Is)-1-i), uint8(0)
			if left == 0 {
				past = uint8(len(body))
			}
			block = append(block, jump(jumpEqual, v, left, past))
		}
		body = append(block, body...)
	}
	return body
}

func jump(test uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: test, K: k, Jt: yes, Jf: no}
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func verdict(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// Bytes is the program as the kernel reads it.
func (p Program) Bytes() []byte {
	b, _ := binary.Append(nil, binary.NativeEndian, p) // it has a fixed size
	return b
}

// Install binds every thread of this process to a program, for good. A later one adds to
// an earlier one.
func (p Program) Install() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	list := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&list)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return fmt.Errorf("setting the system call filter (seccomp): %w", errno)
	}
	if thread != 0 {
		return fmt.Errorf("setting the system call filter (seccomp): thread %d has one of its own", thread)
	}
	return nil
}
