package calls

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Program is a list of system calls. The zero value is an empty one. A call that fails ends
// the program, unless it is said to be of no matter.
type Program struct {
	blocks [][]byte
	links  []link
	steps  []step
	// what says for people what each step does.
	what []string
	// copied says that its process has a copy of the memory of the one that starts it.
	copied bool
	// Files come with the program, in this order, wherever it is started.
	Files []*os.File
}

// Arg is an argument of a call.
type Arg struct {
	from  source
	value uint64
}

// source says what an argument's value is.
type source uint8

const (
	number source = iota // the argument itself
	block                // a block's address
	result               // what an earlier step returned
	file                 // the descriptor of a file that comes with the program
)

// link is a pointer in a block.
type link struct{ block, offset, to int }

// kind is what a step does.
type kind uint8

const (
	makeCall   kind = iota
	tryCall         // as makeCall, and a failure is of no matter
	goApart         // see [Program.Apart]
	goBelow         // see [Program.Below]
	putResult       // writes a result into a block
	expectBit       // fails if a bit of a block is not set
	refuseBits      // fails if one of some bits of a block is set
	goOn            // see [Program.Wait]
	takeFile        // has a descriptor that came with what it waited for
)

type step struct {
	kind   kind
	number uint64
	args   [6]Arg
}

// Int is a number.
func Int[T ~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~uintptr](n T) Arg {
	return Arg{number, uint64(n)}
}

// File is the descriptor of the n-th file that comes with a program.
func File(n int) Arg { return Arg{file, uint64(n)} }

// Hold adds a file that comes with the program, and returns what stands for its descriptor.
func (p *Program) Hold(f *os.File) Arg {
	p.Files = append(p.Files, f)
	return File(len(p.Files) - 1)
}

// Bytes is the address of a copy of bytes, which the calls of the program may change.
func (p *Program) Bytes(b []byte) Arg {
	p.blocks = append(p.blocks, append([]byte(nil), b...))
	return Arg{block, uint64(len(p.blocks) - 1)}
}

// Text is the address of a string.
func (p *Program) Text(s string) Arg { return p.Bytes(append([]byte(s), 0)) }

// Texts is the address of a list of strings, such as arguments.
func (p *Program) Texts(list []string) Arg {
	at := p.Bytes(make([]byte, 8*(len(list)+1)))
	for i, s := range list {
		p.Point(at, 8*i, p.Text(s))
	}
	return at
}

// Point puts the address of one block into another one.
func (p *Program) Point(into Arg, offset int, to Arg) {
	p.links = append(p.links, link{int(into.value), offset, int(to.value)})
}

// Call adds a call, and returns what stands for its result. What says for people what it
// does, as in "mounting /proc".
func (p *Program) Call(what string, number uintptr, args ...Arg) Arg {
	return p.add(makeCall, what, number, args)
}

// Try adds a call that may fail.
func (p *Program) Try(what string, number uintptr, args ...Arg) {
	p.add(tryCall, what, number, args)
}

// Put has a result, an int32, written into a block.
func (p *Program) Put(into Arg, offset int, what Arg) {
	p.add(putResult, "", uintptr(offset), []Arg{into, what})
}

// Expect ends the program with ESTALE unless a bit of a byte in a block is set, as an earlier call
// may have.
func (p *Program) Expect(what string, in Arg, offset, bit int) {
	p.add(expectBit, what, uintptr(offset), []Arg{in, Int(bit)})
}

// Refuse ends the program with ESTALE if one of some bits of a byte in a block is set.
func (p *Program) Refuse(what string, in Arg, offset, bits int) {
	p.add(refuseBits, what, uintptr(offset), []Arg{in, Int(bits)})
}

// Len is how many steps there are.
func (p *Program) Len() int { return len(p.steps) }

// Apart has the program go on in a child of the process that runs it, which is the first
// one of a PID namespace if the program has unshared that.
func (p *Program) Apart() { p.add(goApart, "forking", 0, nil) }

// CopyMemory has the program carried out in a copy of the memory of the process that starts it,
// which takes longer. Otherwise what it sets of its memory, such as whether others may look into
// it, is set for that process too.
func (p *Program) CopyMemory() { p.copied = true }

// Below has the program go on in a child of the process that it is in. That one closes its
// descriptors, takes the entries of dead children, and ends as the child does: with its
// status, or with 128 and the number of the signal that ended it.
func (p *Program) Below() { p.add(goBelow, "forking", 0, nil) }

func (p *Program) add(k kind, what string, number uintptr, args []Arg) Arg {
	s := step{kind: k, number: uint64(number)}
	copy(s.args[:], args)
	p.steps, p.what = append(p.steps, s), append(p.what, what)
	return Arg{result, uint64(len(p.steps) - 1)}
}

// What says what a step does; see [Fault.Step].
func (p *Program) What(step int) string {
	if step < 0 || step >= len(p.what) {
		return "a step that is not known"
	}
	return p.what[step]
}

// Clone is a copy that can be added to.
func (p *Program) Clone() *Program {
	c := *p
	c.blocks, c.links = append([][]byte(nil), p.blocks...), append([]link(nil), p.links...)
	c.steps, c.what = append([]step(nil), p.steps...), append([]string(nil), p.what...)
	c.Files = append([]*os.File(nil), p.Files...)
	return &c
}

// Fault is a step that failed.
type Fault struct {
	Step  int
	Errno syscall.Errno
}

func (f *Fault) Error() string { return fmt.Sprintf("step %d: %v", f.Step, f.Errno) }

// Unwrap is the system's error.
func (f *Fault) Unwrap() error { return f.Errno }

// Failure is a [Fault] with what its step does.
type Failure struct {
	What  string
	Errno syscall.Errno
}

func (f *Failure) Error() string { return f.What + ": " + f.Errno.Error() }

// Unwrap is the system's error.
func (f *Failure) Unwrap() error { return f.Errno }

// errEncoded is that of bytes that are no program.
var errEncoded = errors.New("a broken list of system calls")

// Encode is the program as bytes, without its files and what it says for people.
func (p *Program) Encode() []byte {
	var b []byte
	put := func(numbers ...uint64) {
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}
	}
	copied := uint64(0)
	if p.copied {
		copied = 1
	}
	put(copied, uint64(len(p.blocks)))
	for _, one := range p.blocks {
		put(uint64(len(one)))
		b = append(b, one...)
	}
	put(uint64(len(p.links)))
	for _, l := range p.links {
		put(uint64(l.block), uint64(l.offset), uint64(l.to))
	}
	put(uint64(len(p.steps)))
	for _, s := range p.steps {
		args := s.args[:]
		for len(args) > 0 && args[len(args)-1] == (Arg{}) {
			args = args[:len(args)-1]
		}
		put(uint64(s.kind), s.number, uint64(len(args)))
		for _, a := range args {
			put(uint64(a.from), a.value)
		}
	}
	return b
}

// Decode reads what [Program.Encode] wrote, of which the program keeps and changes parts.
func Decode(b []byte) (*Program, error) {
	d := decoder{b: b}
	p := &Program{copied: d.uint() != 0}
	p.blocks = make([][]byte, d.count())
	for i := range p.blocks {
		p.blocks[i] = d.bytes()
	}
	p.links = make([]link, d.count())
	for i := range p.links {
		p.links[i] = link{int(d.uint()), int(d.uint()), int(d.uint())}
	}
	p.steps = make([]step, d.count())
	for i := range p.steps {
		s := &p.steps[i]
		s.kind, s.number = kind(d.uint()), d.uint()
		for j := range min(d.uint(), uint64(len(s.args))) {
			s.args[j] = Arg{source(d.uint()), d.uint()}
		}
	}
	if d.bad || len(d.b) > 0 {
		return nil, errEncoded
	}
	return p, nil
}

// decoder reads numbers and bytes. After a fault all of them are zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count is the length of a list, each entry of which has a byte at least.
func (d *decoder) count() uint64 {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.bad = true
		return 0
	}
	return n
}

func (d *decoder) bytes() []byte {
	n := d.count()
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}
