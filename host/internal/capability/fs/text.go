package fs

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// isASCII reports whether no byte has its high bit set.
func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for len(b) >= 32 {
		x := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
		if x&high != 0 {
			return false
		}
		b = b[32:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// label is a line number as it is printed, counted up in place: formatting each
// would cost more than copying the line.
type label struct {
	buf   [24]byte
	start int
}

func (l *label) set(n int64) {
	text := fmt.Sprintf("%6d\t", n)
	l.start = len(l.buf) - len(text)
	copy(l.buf[l.start:], text)
}

func (l *label) text() []byte { return l.buf[l.start:] }

func (l *label) increment() {
	for i := len(l.buf) - 2; ; i-- {
		switch c := l.buf[i]; {
		case i < l.start:
			l.start = i
			l.buf[i] = '1'
			return
		case c == ' ':
			l.buf[i] = '1'
			return
		case c != '9':
			l.buf[i]++
			return
		}
		l.buf[i] = '0'
	}
}

// lineText is the text that a read by lines answers with, and what the answer says of it.
type lineText struct {
	args  abi.LineArgs
	label label
	out   []byte
	chars int64
	ok    abi.LinesOK
}

// timedOut reports whether a read ended for want of time, and has the answer say so: it
// has what was read by then.
func (t *lineText) timedOut(err error) bool {
	if abi.CodeOf(err) != abi.CodeTimeout {
		return false
	}
	t.ok.More, t.ok.TimedOut = true, true
	return true
}

// guess is how long the text will be, where that is known well enough.
func (t *lineText) guess(size int64) int64 {
	n := size + size/4
	if t.args.Limit > 0 {
		n = min(n, min(t.args.Limit, 1<<20)*48)
	}
	return min(n, t.args.MaxChars+utf8.UTFMax, 16<<20)
}

// cost is how many code points a line of n takes.
func (t *lineText) cost(n int64) int64 {
	if t.ok.Count > 0 {
		n++
	}
	if t.args.Number {
		n += int64(len(t.label.text()))
	}
	return n
}
