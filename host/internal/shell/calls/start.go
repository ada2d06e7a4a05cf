//go:build linux && (amd64 || arm64)

package calls

import (
	"encoding/binary"
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errLinked is that of a program which refers to what it does not have.
var errLinked = errors.New("a list of system calls refers to something that is not there")

// leastReport is from where on the descriptor lies by which a child reports: above those
// that programs put in place.
const leastReport = 48

// Carrier carries out programs, one after another. The zero value is ready.
type Carrier struct {
	stacks []byte
	// last keeps what the processes of the last program may be reading.
	last *machine
}

// stackSize is that of one stack, in bytes; what runs there needs less than a page.
const stackSize = 16 << 10

// Start carries out a program in a child of this process with the descriptors of its files. No
// signal is handled, ignored or blocked there. It returns when the program has called execve,
// has ended, or failed, which is a [*Fault]; then nothing of it is left. The number is that of
// the child, or of the one that the program went on in by [Program.Apart], which is a child of
// this process too.
//
// All processes that the carrier started before must be gone: what it starts stands on the same
// memory, of this process.
//
// Owner is a socket, or -1: when its other end is closed, what is being started is killed.
func (c *Carrier) Start(p *Program, files []uintptr, owner int) (pid int, err error) {
	m, err := p.linked(files)
	if err != nil {
		return 0, err
	}
	if err := c.ready(m); err != nil {
		return 0, err
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return 0, err
	}
	defer unix.Close(ends[0])
	m.report, err = unix.FcntlInt(uintptr(ends[1]), unix.F_DUPFD_CLOEXEC, leastReport)
	_ = unix.Close(ends[1])
	if err != nil {
		return 0, err
	}
	syscall.ForkLock.Lock()
	child, errno := m.fork()
	syscall.ForkLock.Unlock()
	_ = unix.Close(m.report)
	if errno != 0 {
		return 0, errno
	}
	return hear(ends[0], child, owner)
}

// ready gives a program its stacks.
func (c *Carrier) ready(m *machine) (err error) {
	if c.stacks == nil {
		c.stacks, err = unix.Mmap(-1, 0, len(m.stacks)*stackSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return err
		}
	}
	const arguments = 64 // of what runs there, in bytes
	for i := range m.stacks {
		m.stacks[i] = address(c.stacks) + uintptr((i+1)*stackSize-arguments)
	}
	c.last = m
	return nil
}

// alone waits until there is something to read, and reports whether the owner is gone.
func alone(from, owner int) bool {
	for {
		list := []unix.PollFd{{Fd: int32(from), Events: unix.POLLIN}, {Fd: int32(owner), Events: unix.POLLRDHUP}}
		if _, err := unix.Poll(list, -1); err != unix.EINTR {
			return err == nil && list[1].Revents != 0
		}
	}
}

// hear reads what a child reports until it is done with that.
func hear(from, child, owner int) (pid int, err error) {
	pid = child
	var message [16]byte
	for {
		if alone(from, owner) {
			err = unix.ECONNRESET
			break
		}
		n, errno := unix.Read(from, message[:])
		if errno == unix.EINTR {
			continue
		}
		if n < len(message) {
			break
		}
		step := int64(binary.NativeEndian.Uint64(message[:]))
		value := int64(binary.NativeEndian.Uint64(message[8:]))
		if step == apart {
			pid = int(value)
			reap(child)
		} else {
			err = &Fault{int(step), syscall.Errno(value)}
		}
	}
	if err != nil {
		_ = unix.Kill(pid, unix.SIGKILL) // it is ours until it is reaped
		reap(pid)
		return 0, err
	}
	return pid, nil
}

func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, unix.WALL, nil); err != unix.EINTR {
			return
		}
	}
}

// linked makes what the child reads: addresses instead of numbers of blocks.
func (p *Program) linked(files []uintptr) (*machine, error) {
	m := &machine{results: make([]uintptr, len(p.steps)), steps: make([]order, len(p.steps)), blocks: p.blocks}
	if !p.copied && !instrumented {
		m.memory = unix.CLONE_VM
	}
	for _, l := range p.links {
		if l.block >= len(p.blocks) || l.to >= len(p.blocks) || l.offset < 0 || l.offset+8 > len(p.blocks[l.block]) {
			return nil, errLinked
		}
		binary.NativeEndian.PutUint64(p.blocks[l.block][l.offset:], uint64(address(p.blocks[l.to])))
	}
	for i, s := range p.steps {
		o := order{kind: s.kind, number: uintptr(s.number)}
		for j, a := range s.args {
			value, ok := p.resolve(a, i, files)
			if !ok {
				return nil, errLinked
			}
			o.args[j] = value
			if a.from == result {
				o.results |= 1 << j
			}
		}
		if size := map[kind]uint64{putResult: 4, expectBit: 1}[s.kind]; size > 0 {
			at := s.args[0].value
			if s.args[0].from != block || s.number+size > uint64(len(p.blocks[at])) {
				return nil, errLinked
			}
			o.args[0] = uintptr(at) // a block that the program itself looks at goes by its number
		}
		m.steps[i] = o
	}
	return m, nil
}

// resolve is an argument's value, of an earlier result its number.
func (p *Program) resolve(a Arg, at int, files []uintptr) (uintptr, bool) {
	switch a.from {
	case number:
		return uintptr(a.value), true
	case block:
		if a.value < uint64(len(p.blocks)) {
			return address(p.blocks[a.value]), true
		}
	case result:
		return uintptr(a.value), a.value < uint64(at)
	case file:
		if a.value < uint64(len(files)) {
			return files[a.value], true
		}
	}
	return 0, false
}

// address is where a block lies. The garbage collector moves nothing on the heap.
func address(b []byte) uintptr {
	if len(b) == 0 {
		return 0
	}
	return uintptr(unsafe.Pointer(&b[0]))
}
