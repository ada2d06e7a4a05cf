package process

import (
	"encoding/binary"
	"errors"
	"syscall"
	"time"
)

// A frame is its size in 4 bytes, its kind in one, and fields: numbers as varints,
// texts and lists with their length before them. Both ends are the same program, so
// there are no versions. Texts are bytes: no encoding changes them.
type kind byte

const (
	kindStart   kind = 1 + iota // host: startFrame, with its descriptors
	kindStop                    // host: number, grace
	kindGoOn                    // host: startFrame, for a process that waits
	kindStarted                 // supervisor: number, pid
	kindFailed                  // supervisor: number, errno, text, step; nothing was started
	kindDone                    // supervisor: number, code, signal, limit
	kindGone                    // supervisor: number, left, user, system
)

const (
	headSize = 5
	// maxFrame bounds a frame. The system takes no arguments that are as long.
	maxFrame = 16 << 20
	// maxFiles bounds a command's descriptors: far fewer than one message can carry.
	maxFiles = 40
	// maxOwn are those of them that are the command's, and not its [Command.Program]'s.
	maxOwn = 32
)

var errFrame = errors.New("a broken message between host and supervisor")

// startFrame asks a supervisor to start a command.
type startFrame struct {
	number    uint64
	path, dir string
	args, env []string
	files     uint64 // how many descriptors there are
	given     uint64 // a bit for each that comes along; the others are /dev/null
	limits    Limits
	// program is what is done instead of starting path, which it does itself.
	program []byte
}

// encoder writes one frame.
type encoder []byte

func newFrame(k kind, number uint64) encoder {
	return encoder{0, 0, 0, 0, byte(k)}.uint(number)
}

func (e encoder) uint(v uint64) encoder { return binary.AppendUvarint(e, v) }

func (e encoder) int(v int64) encoder { return binary.AppendVarint(e, v) }

func (e encoder) text(s string) encoder { return append(e.uint(uint64(len(s))), s...) }

func (e encoder) texts(list []string) encoder {
	e = e.uint(uint64(len(list)))
	for _, s := range list {
		e = e.text(s)
	}
	return e
}

// frame is the whole frame, its size filled in.
func (e encoder) frame() []byte {
	binary.LittleEndian.PutUint32(e, uint32(len(e)-headSize))
	return e
}

// decoder reads the fields of one frame. After a fault all of them are zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	return take(d, v, n)
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	return take(d, v, n)
}

func take[T int64 | uint64](d *decoder, v T, n int) T {
	if n <= 0 || d.bad {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) text() string {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.bad = true
	}
	if d.bad {
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) texts() []string {
	n := d.uint()
	if n > uint64(len(d.b)) { // each takes a byte at least
		d.bad = true
		return nil
	}
	list := make([]string, 0, n)
	for range n {
		list = append(list, d.text())
	}
	return list
}

// err says whether the fields were those of the frame, and no more.
func (d *decoder) err() error {
	if d.bad || len(d.b) > 0 {
		return errFrame
	}
	return nil
}

func (f *startFrame) encode(k kind) []byte {
	l := f.limits
	return newFrame(k, f.number).
		text(f.path).text(f.dir).texts(f.args).texts(f.env).
		uint(f.files).uint(f.given).
		int(int64(l.Processes)).int(l.Memory).int(int64(l.CPU)).uint(l.OpenFiles).uint(l.FileSize).
		text(string(f.program)).
		frame()
}

func (f *startFrame) decode(d *decoder) error {
	f.number = d.uint()
	f.path, f.dir, f.args, f.env = d.text(), d.text(), d.texts(), d.texts()
	f.files, f.given = d.uint(), d.uint()
	f.limits = Limits{int(d.int()), d.int(), time.Duration(d.int()), d.uint(), d.uint()}
	f.program = []byte(d.text())
	if f.files > maxFiles || f.given>>f.files != 0 {
		return errFrame
	}
	return d.err()
}

// doneFrame says how the first process ended.
func doneFrame(number uint64, s Status) []byte {
	return newFrame(kindDone, number).int(int64(s.Code)).uint(uint64(s.Signal)).text(s.Limit).frame()
}

func decodeDone(d *decoder) Status {
	return Status{Code: int(d.int()), Signal: syscall.Signal(d.uint()), Limit: d.text()}
}

// goneFrame says what became of the rest.
func goneFrame(number uint64, s Status) []byte {
	return newFrame(kindGone, number).uint(uint64(s.Left)).int(int64(s.User)).int(int64(s.System)).frame()
}

func decodeGone(d *decoder) Status {
	return Status{Left: int(d.uint()), User: time.Duration(d.int()), System: time.Duration(d.int())}
}

// cutAll gives the whole frames that were received to take, until it fails. What follows
// them is returned.
func cutAll(b []byte, take func(kind, *decoder) error) ([]byte, error) {
	for {
		what, fields, rest, err := cut(b)
		if err == nil && what != 0 {
			err = take(what, fields)
		}
		if err != nil || what == 0 {
			return rest, err
		}
		b = rest
	}
}

// cut takes the first whole frame off what was received; rest is what follows. A kind
// of 0 means that there is none yet.
func cut(b []byte) (k kind, fields *decoder, rest []byte, err error) {
	if len(b) < headSize {
		return 0, nil, b, nil
	}
	size := int(binary.LittleEndian.Uint32(b))
	if size > maxFrame {
		return 0, nil, nil, errFrame
	}
	if len(b) < headSize+size {
		return 0, nil, b, nil
	}
	end := headSize + size
	return kind(b[4]), &decoder{b: b[headSize:end]}, b[end:], nil
}
