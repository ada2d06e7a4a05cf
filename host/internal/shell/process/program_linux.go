package process

import (
	"encoding/binary"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/calls"
)

// usualOpenFiles is how many descriptors a program expects to be allowed where nothing else
// is said, as most systems have it. The Go runtime raises its own bound, and what is below.
const usualOpenFiles = 1024

// carryOut completes a command's program: it ends with the start of what lies at the path. It
// returns the files that go with it.
func (f *startFrame) carryOut(c *Command) (*calls.Program, []*os.File) {
	p := c.Program.Clone()
	if c.Path != "" {
		execute(p, c)
	}
	f.program, f.path, f.args, f.env = p.Encode(), "", nil, nil
	return p, slices.Concat(c.Program.Files, c.Files, make([]*os.File, max(0, 3-len(c.Files))))
}

// execute adds the start of the command's own program.
func execute(p *calls.Program, c *Command) {
	var now syscall.Rlimit
	if c.Limits.OpenFiles == 0 && syscall.Getrlimit(unix.RLIMIT_NOFILE, &now) == nil && now.Max > usualOpenFiles {
		p.Try("bounding descriptors", unix.SYS_PRLIMIT64, calls.Int(0), calls.Int(unix.RLIMIT_NOFILE),
			p.Bytes(rlimitBytes(usualOpenFiles, now.Max)), calls.Int(0))
	}
	if c.Dir != "" {
		p.Call("entering "+c.Dir, unix.SYS_CHDIR, p.Text(c.Dir))
	}
	// First out of the way of where they are to be, of which another one may be.
	count := max(len(c.Files), 3)
	copies := make([]calls.Arg, count)
	for i := range copies {
		copies[i] = p.Call("copying descriptors", unix.SYS_FCNTL, calls.File(len(p.Files)+i), calls.Int(unix.F_DUPFD_CLOEXEC), calls.Int(count))
	}
	for i, from := range copies {
		p.Call("placing descriptors", unix.SYS_DUP3, from, calls.Int(i), calls.Int(0))
	}
	if all, err := processors(); err == nil {
		p.Try("using all processors", unix.SYS_SCHED_SETAFFINITY, calls.Int(0), calls.Int(len(all)), p.Bytes(all))
	}
	argv := p.Texts(c.Args)
	p.Call("starting "+c.Path, unix.SYS_EXECVE, p.Text(c.Path), argv, p.Texts(c.Env))
}

// stay has what this thread starts run on the processor that it is on, and not on another one that
// has to be woken up first or is busy: a program's processes do little, one after the other. Where
// its own program begins, a command gets all processors again. Back undoes it for this thread.
func stay() (back func()) {
	var was, here unix.CPUSet
	var processor uint32
	if unix.SchedGetaffinity(0, &was) != nil {
		return func() {}
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&processor)), 0, 0); errno != 0 {
		return func() {}
	}
	here.Set(int(processor))
	_ = unix.SchedSetaffinity(0, &here) // it only takes longer otherwise
	return func() { _ = unix.SchedSetaffinity(0, &was) }
}

// processors are those that this process may use, as the system takes them.
func processors() ([]byte, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	return binary.Append(nil, binary.NativeEndian, set[:])
}

// rlimitBytes are limits as the system takes them.
func rlimitBytes(soft, hard uint64) []byte {
	return binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, soft), hard)
}

// carryOut starts the command by a program.
func (c *command) carryOut(encoded []byte, files []uintptr) error {
	p, err := calls.Decode(encoded)
	if err != nil {
		return err
	}
	back := stay()
	c.first, err = c.carrier.Start(p, files, hostSocket)
	back()
	if err != nil {
		return err
	}
	// Until its entry is taken the number is its own; without a descriptor its end is asked for.
	if fd, err := unix.PidfdOpen(c.first, 0); err == nil {
		c.fd = fd
	}
	return nil
}
