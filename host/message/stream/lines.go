package stream

import (
	"bufio"
	"bytes"
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
	r *bufio.Reader
	// ends are the bytes that end a line.
	ends string
	// number is the last line's, counted from 1.
	number int
	buf    []byte
	long   bool
	// half says that the line before ended with a CR, whose LF may follow.
	half bool
}

func newLines(r io.Reader, cr bool) *lines {
	l := &lines{r: bufio.NewReader(r), ends: "\n"}
	if cr {
		l.ends = "\n\r"
	}
	return l
}

// next returns the next line without its end. It is good until the next call.
// With io.EOF comes what there is of a line without an end.
func (l *lines) next() ([]byte, error) {
	l.number++
	l.buf, l.long = l.buf[:0], false
	for {
		if _, err := l.r.Peek(1); err != nil { // waits for one byte, and no more
			return l.line(err)
		}
		chunk, _ := l.r.Peek(l.r.Buffered())
		if l.half {
			l.half = false
			if chunk[0] == '\n' {
				l.skip(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, l.ends)
		if end < 0 {
			l.keep(chunk)
			l.skip(len(chunk))
			continue
		}
		l.keep(chunk[:end])
		l.half = chunk[end] == '\r'
		l.skip(end + 1)
		return l.line(nil)
	}
}

// skip passes over bytes that are buffered, which cannot fail.
func (l *lines) skip(n int) { _, _ = l.r.Discard(n) }

// keep adds to the line, unless it gets too long.
func (l *lines) keep(piece []byte) {
	if l.long = l.long || len(l.buf)+len(piece) > maxLine; l.long {
		l.buf = nil
		return
	}
	l.buf = append(l.buf, piece...)
}

// line is what was read up to a line's end, or to err. A byte order mark in front of
// the first is not part of it.
func (l *lines) line(err error) ([]byte, error) {
	if l.long {
		if err == nil {
			err = errLong
		} else if errors.Is(err, io.EOF) {
			err = errors.Join(errLong, err)
		}
	}
	if l.number == 1 {
		l.buf = bytes.TrimPrefix(l.buf, []byte("\ufeff"))
	}
	if n := len(l.buf); err == nil && n > 0 && l.buf[n-1] == '\r' {
		l.buf = l.buf[:n-1]
	}
	return l.buf, err
}
