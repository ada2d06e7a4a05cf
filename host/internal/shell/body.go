package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	// maxBody is the longest output that an answer holds as a whole, in bytes. What is
	// longer lies in a file of its own, which the answer names.
	maxBody = 1 << 20
	// maxMoved is the same of a command that goes on in the background: what of it is not
	// shown at once is there to be read on.
	maxMoved = 16 << 10
	// bodyEnds is how much of an output's beginning, and of its end, an answer holds
	// where it does not hold all, in bytes. It is so little that no tool's result is too
	// long for it: a result that is goes to another file, which would be said to have
	// everything and have this.
	bodyEnds = 4 << 10
)

// piece is a part of an answer's body that is valid UTF-8.
type piece struct {
	io.Reader
	size int64
	// memory is the whole of it where it is held; nil where it is read from a file.
	memory []byte
}

// pieces are what a body is made of.
type pieces []piece

func (ps pieces) size() (n int64) {
	for _, p := range ps {
		n += p.size
	}
	return n
}

// text is a piece that is held.
func text(p []byte) piece {
	return piece{Reader: bytes.NewReader(p), size: int64(len(p)), memory: p}
}

// notWhole is that of a body that has not everything.
const notWhole = -1

// show makes pieces of what a store keeps now: all of it where that is at most so many
// bytes, or else its ends. Shown is how much they hold, but for the beginning of a code
// point at the end, or notWhole.
func (s *store) show(most int64) (ps pieces, shown int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failed != nil || s.size > most:
		ps, err = s.abridged()
		return ps, notWhole, err
	case s.file == nil:
		return pieces{text(appendValid(make([]byte, 0, len(s.mem)), s.mem))}, s.size - int64(len(s.meter.cut)), nil
	}
	invalid := s.meter.invalidSoFar()
	r := io.Reader(io.NewSectionReader(s.file, 0, s.size))
	if invalid > 0 {
		r = &validReader{from: r}
	}
	size := s.size + invalid*int64(len("\uFFFD")-1)
	return pieces{{Reader: r, size: size}}, s.size - int64(len(s.meter.cut)), nil
}

// abridged are the beginning and the end, with a line between that says what is left
// out.
func (s *store) abridged() (pieces, error) {
	head := s.slice(0, min(s.size, bodyEnds))
	tail := last(s.tail, bodyEnds)
	if s.failed == nil {
		from := max(int64(len(head)), s.size-bodyEnds)
		tail = s.slice(from, s.size)
		if int64(len(head)+len(tail)) < min(s.size, 2*bodyEnds) {
			return nil, io.ErrUnexpectedEOF // somebody cut the file
		}
	}
	head = head[:len(head)-cutAtEnd(head)]
	tail = tail[beginOf(tail):]
	bytes, lines := s.meter.bytes, s.meter.lines
	for _, end := range [][]byte{head, tail} {
		bytes, lines = bytes-int64(len(end)), lines-linesIn(end)
	}
	return pieces{text(appendValid(nil, head)), text([]byte(leftOut(bytes, lines, s.failed))), text(appendValid(nil, tail))}, nil
}

// beginOf is where an end of a text begins that may be cut anywhere: with a line, where
// lines are short, or else with a code point.
func beginOf(tail []byte) int {
	if at := bytes.IndexByte(tail, '\n') + 1; at > 0 && at < len(tail) {
		return at
	}
	at := 0
	for at < min(len(tail), utf8.UTFMax-1) && !utf8.RuneStart(tail[at]) {
		at++
	}
	return at
}

func linesIn(text []byte) int64 { return int64(bytes.Count(text, []byte{'\n'})) }

// leftOut says that something is missing.
func leftOut(bytes, lines int64, failed error) string {
	what := sized(bytes)
	if lines > 1 {
		what = fmt.Sprintf("%d lines (%s)", lines, what)
	}
	if failed != nil && !errors.Is(failed, errTooMuch) {
		return fmt.Sprintf("\n... %s left out here, for the output could not be kept: %v ...\n", what, failed)
	}
	return fmt.Sprintf("\n... %s left out here ...\n", what)
}

// sized is a size as people write it, to a tenth of its unit.
func sized(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.bytes {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.bytes)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// body makes an answer's body of pieces; closed is called when it is done with.
func (ps pieces) body(closed func() error) io.ReadCloser {
	if len(ps) == 1 && ps[0].memory != nil {
		return heldBody{bytes.NewReader(ps[0].memory), closed}
	}
	readers := make([]io.Reader, len(ps))
	for i := range ps {
		readers[i] = ps[i].Reader
	}
	return streamedBody{io.MultiReader(readers...), closed}
}

// heldBody is a body that is in memory: see [abi.Bytes] on Len.
type heldBody struct {
	*bytes.Reader
	closer
}

// streamedBody is read from files.
type streamedBody struct {
	io.Reader
	closer
}

type closer func() error

// Close implements [io.Closer].
func (c closer) Close() error { return c() }

// validReader reads what another reads, with U+FFFD for each byte that is no UTF-8.
type validReader struct {
	from  io.Reader
	raw   []byte // read, and not yet valid
	ready []byte // valid, and not yet read
	out   []byte // the memory of ready
	err   error
}

func (r *validReader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}

// fill makes the next bytes ready.
func (r *validReader) fill() {
	const size = 64 << 10
	if r.raw == nil {
		r.raw = make([]byte, 0, size)
	}
	n, err := r.from.Read(r.raw[len(r.raw):size])
	r.raw, r.err = r.raw[:len(r.raw)+n], err
	cut := cutAtEnd(r.raw)
	if err != nil {
		cut = 0 // nothing more comes
	}
	whole := len(r.raw) - cut
	r.out = appendValid(r.out[:0], r.raw[:whole])
	r.ready = r.out
	r.raw = append(r.raw[:0], r.raw[whole:]...)
}
