//go:build linux && (amd64 || arm64)

package calls

import (
	"encoding/binary"
	"errors"
	"syscall"
	"time"
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
	line line
}

// wakesWithin is how long a process that waits takes to go on, unless somebody has stopped it.
const wakesWithin = 2 * time.Second

// line leads to a process: where it reports, and, if it can wait, where it waits. 0 is nowhere.
type line struct{ reports, wakes int }

// close gives a line up: a process that waits ends.
func (l *line) close() {
	for _, fd := range []int{l.reports, l.wakes} {
		if fd > 0 {
			_ = unix.Close(fd)
		}
	}
	*l = line{}
}

// stackSize is that of one stack, in bytes; what runs there needs less than a page.
const stackSize = 16 << 10

// Start carries out a program in a child of this process with the descriptors of its files. No
// signal is handled, ignored or blocked there. It returns when the program has called execve,
// has ended, waits, or failed, which is a [*Fault]; then nothing of it is left. The number is that
// of the child, or of the one that the program went on in by [Program.Apart], which is a child of
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
	c.line.close()
	theirs, err := c.line.open(m)
	if err != nil {
		c.line.close()
		theirs.close()
		return 0, err
	}
	syscall.ForkLock.Lock()
	child, errno := m.fork()
	syscall.ForkLock.Unlock()
	theirs.close()
	if errno != 0 {
		c.line.close()
		return 0, errno
	}
	return c.hear(child, owner)
}

// open makes a line, and returns the ends of the process that carries m out.
func (l *line) open(m *machine) (theirs line, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return line{}, err
	}
	l.reports = ends[0]
	m.report, err = unix.FcntlInt(uintptr(ends[1]), unix.F_DUPFD_CLOEXEC, leastReport)
	_ = unix.Close(ends[1])
	if err != nil || !m.waits {
		return line{reports: m.report}, err
	}
	sockets, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	l.wakes, m.wake, m.wakes = sockets[0], sockets[1], sockets[0]
	return line{m.report, m.wake}, err
}

// Continue has the process that waits go on with the rest of its program, and with another one. It
// returns as Start does, but where it fails something may be left. The step of a [*Fault] is counted
// over both programs, with one for each file between them. [unix.EPIPE] is that nobody waits any more,
// and [unix.ETIMEDOUT] that it does not go on.
func (c *Carrier) Continue(pid int, p *Program, files []uintptr, owner int) error {
	defer c.line.close()
	if err := c.send(p, files); err != nil {
		return err
	}
	_, _, err := c.reports(pid, owner, int(wakesWithin.Milliseconds()))
	return err
}

// send tells the process that waits how it goes on.
func (c *Carrier) send(p *Program, files []uintptr) error {
	if c.line.wakes == 0 || len(files) > maxLate {
		return errLinked
	}
	if err := c.last.extend(p, len(files)); err != nil {
		return err
	}
	fds := make([]int, len(files))
	for i, file := range files {
		fds[i] = int(file)
	}
	return unix.Sendmsg(c.line.wakes, []byte{1}, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
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

// await waits until there is something to read, which takes so many milliseconds at most; -1 is any
// time. It fails if the owner is gone.
func await(from, owner, within int) error {
	for {
		list := []unix.PollFd{{Fd: int32(from), Events: unix.POLLIN}, {Fd: int32(owner), Events: unix.POLLRDHUP}}
		switch n, err := unix.Poll(list, within); {
		case err == unix.EINTR:
		case err == nil && n == 0:
			return unix.ETIMEDOUT
		case err == nil && list[1].Revents != 0:
			return unix.ECONNRESET
		default:
			return nil
		}
	}
}

// hear reads what a child reports until it is done with that, or waits.
func (c *Carrier) hear(child, owner int) (pid int, err error) {
	pid, waits, err := c.reports(child, owner, -1)
	if err != nil {
		c.line.close()
		_ = unix.Kill(pid, unix.SIGKILL) // it is ours until it is reaped
		reap(pid)
		return 0, err
	}
	if !waits {
		c.line.close()
	}
	return pid, nil
}

// reports reads what is reported, at first within so many milliseconds. That the process waits may
// come before the one that was left tells of it.
func (c *Carrier) reports(child, owner, first int) (pid int, waits bool, err error) {
	pid = child
	var message [16]byte
	for within := first; !waits || c.last.leaves; within = -1 {
		if err := await(c.line.reports, owner, within); err != nil {
			return pid, waits, err
		}
		n, errno := unix.Read(c.line.reports, message[:])
		if errno == unix.EINTR {
			continue
		}
		if n < len(message) {
			return pid, false, err
		}
		step := int64(binary.NativeEndian.Uint64(message[:]))
		value := int64(binary.NativeEndian.Uint64(message[8:]))
		switch step {
		case waiting:
			waits = true
		case apart:
			pid, c.last.leaves = int(value), false
			reap(child)
		case awake:
		default:
			err = &Fault{int(step), syscall.Errno(value)}
		}
	}
	return pid, waits, err
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
	m := &machine{}
	if !p.copied && !instrumented {
		m.memory = unix.CLONE_VM
	}
	return m, m.link(p, files, false)
}

// extend adds a program whose files come in a message.
func (m *machine) extend(p *Program, files int) error {
	taken := make([]uintptr, files)
	for i := range taken {
		taken[i] = uintptr(len(m.steps))
		m.steps = append(m.steps, order{kind: takeFile, number: uintptr(unix.CmsgLen(0) + 4*i)})
	}
	return m.link(p, taken, true)
}

// link adds the steps of a program. Its files are descriptors, or, where they come late, results.
func (m *machine) link(p *Program, files []uintptr, late bool) error {
	for _, l := range p.links {
		if l.block >= len(p.blocks) || l.to >= len(p.blocks) || l.offset < 0 || l.offset+8 > len(p.blocks[l.block]) {
			return errLinked
		}
		binary.NativeEndian.PutUint64(p.blocks[l.block][l.offset:], uint64(address(p.blocks[l.to])))
	}
	blocks, first := len(m.blocks), len(m.steps)
	m.blocks = append(m.blocks, p.blocks...)
	for i, s := range p.steps {
		o := order{kind: s.kind, number: uintptr(s.number)}
		for j, a := range s.args {
			value, ok := p.resolve(a, i, files)
			if !ok {
				return errLinked
			}
			o.args[j] = value
			switch {
			case a.from == result:
				o.args[j] += uintptr(first)
				o.results |= 1 << j
			case a.from == file && late:
				o.results |= 1 << j
			}
		}
		// A block that the program itself looks at goes by its number.
		for j, size := range looksAt[s.kind] {
			at := s.args[j].value
			if s.args[j].from != block || s.number+size > uint64(len(p.blocks[at])) {
				return errLinked
			}
			o.args[j] = uintptr(blocks) + uintptr(at)
		}
		m.leaves = m.leaves || s.kind == goApart
		if s.kind == goOn {
			waits := m.waits
			m.waits, m.late = true, o.args[1]
			if m.memory == 0 || late || waits {
				return errLinked
			}
		}
		m.steps = append(m.steps, o)
	}
	m.results = append(m.results, make([]uintptr, len(m.steps)-len(m.results))...)
	return nil
}

// looksAt is how much a step looks at itself, of which blocks.
var looksAt = map[kind][]uint64{putResult: {4}, expectBit: {1}, refuseBits: {1}, goOn: {messageSize, unix.SizeofCmsghdr}}

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
