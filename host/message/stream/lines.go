package stream

import (
	"bufio"
	"errors"
	"io"

	"github.com/toolquay/toolquay/abi"
)

// maxLine is the longest line in bytes, and the most that the data of one event
// may have in all its lines. A line holds one JSON document at most.
const maxLine = abi.MaxJSON

// errLong is that of a line over maxLine, of which nothing was kept.
var errLong = abi.Errorf(abi.CodeTooLarge, "it is over the limit of %s", abi.Size(maxLine))

// lines reads lines that end with LF or CRLF, and with CR alone too where cr is
// set. A CR at the end is not part of a line either way.
type lines struct {
	r  *bufio.Reader
	cr bool
	// number is the last line's, counted from 1.
	number int
	buf    []byte
	// half says that the line before ended with a CR, whose LF may follow.
	half bool
}

func newLines(r io.Reader, cr bool) *lines { return &lines{r: bufio.NewReader(r), cr: cr} }

// next returns the next line without its end. It is good until the next call.
// With io.EOF comes what there is of a line without an end.
func (l *lines) next() ([]byte, error) {
	l.number++
	l.buf = l.buf[:0]
	long := false
	for {
		b, err := l.r.ReadByte()
		follows := l.half && b == '\n' && err == nil
		l.half = false
		switch {
		case err != nil:
			return l.line(long, err)
		case follows:
		case b == '\n':
			return l.line(long, nil)
		case b == '\r' && l.cr:
			l.half = true
			return l.line(long, nil)
		case len(l.buf) == maxLine:
			long, l.buf = true, l.buf[:0]
		default:
			l.buf = append(l.buf, b)
		}
	}
}

// line is what was read up to a line's end, or to err.
func (l *lines) line(long bool, err error) ([]byte, error) {
	if long {
		l.buf = l.buf[:0]
		if err == nil {
			err = errLong
		} else if errors.Is(err, io.EOF) {
			err = errors.Join(errLong, err)
		}
	}
	if n := len(l.buf); err == nil && n > 0 && l.buf[n-1] == '\r' {
		l.buf = l.buf[:n-1]
	}
	return l.buf, err
}
