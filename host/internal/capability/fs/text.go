package fs

import (
	"encoding/binary"
	"fmt"
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
