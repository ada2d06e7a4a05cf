package fs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

const (
	// chunkSize is how much of a file is looked at in one go.
	chunkSize = 256 << 10
	// sniffSize is how much of a file's start tells whether it is text, as in
	// git and ripgrep.
	sniffSize = 8 << 10
)

var errBinary = errors.New("a NUL byte near the start of the file")

// lineReader reads a file's lines into a text.
type lineReader struct {
	ctx  context.Context // lives for one call of readLines
	args abi.LineArgs
	src  io.Reader

	// buf[pos:end] is read and not yet used; eof says that nothing follows.
	buf      []byte
	pos, end int
	eof      bool
	// valid and ascii describe the text that was read, from the last fill on.
	valid, ascii bool

	line  int64 // the number of the next line
	label label
	out   []byte
	chars int64
	ok    abi.LinesOK
}

// readLines reads as args say from src, which has size bytes.
func readLines(ctx context.Context, src io.Reader, size int64, args abi.LineArgs) ([]byte, abi.LinesOK, error) {
	r := &lineReader{ctx: ctx, args: args, src: src, line: 1, ok: abi.LinesOK{First: args.Offset}}
	r.buf = make([]byte, min(chunkSize, size+1))
	err := r.start(size)
	if err == nil {
		err = r.skip()
	}
	if err == nil {
		if r.pos < r.end || !r.eof {
			r.out = make([]byte, 0, r.guess(size))
		}
		r.label.set(r.line)
		err = r.take()
	}
	return r.out, r.ok, err
}

// guess is how long the text will be, where that is known well enough.
func (r *lineReader) guess(size int64) int64 {
	n := size + size/4
	if r.args.Limit > 0 {
		n = min(n, min(r.args.Limit, 1<<20)*48)
	}
	return min(n, r.args.MaxChars+utf8.UTFMax, 16<<20)
}

// start reads the first chunk, tells text from binary and takes a BOM away.
func (r *lineReader) start(size int64) error {
	for int64(r.end) < min(size, sniffSize) && !r.eof {
		if err := r.fill(); err != nil {
			return err
		}
	}
	if bytes.IndexByte(r.buf[:min(r.end, sniffSize)], 0) >= 0 {
		return errBinary
	}
	if bytes.HasPrefix(r.buf[:r.end], []byte("\xef\xbb\xbf")) {
		r.pos = 3
	}
	return nil
}

// fill reads more behind what is there, making room first: by dropping what was
// used, then by growing.
func (r *lineReader) fill() error {
	if err := interrupted(r.ctx); err != nil {
		return err
	}
	if r.pos > 0 {
		r.end = copy(r.buf, r.buf[r.pos:r.end])
		r.pos = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, max(len(r.buf), chunkSize))...)
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	if errors.Is(err, io.EOF) {
		r.eof, err = true, nil
	}
	r.ascii, r.valid = isASCII(r.buf[:r.end]), true
	if !r.ascii {
		r.valid = utf8.Valid(r.buf[:r.end])
	}
	return err
}

// skip passes over the lines before the first one wanted, a chunk at a time.
func (r *lineReader) skip() error {
	begun := false // a line was begun that no newline has ended yet
	for r.line < r.args.Offset {
		chunk := r.buf[r.pos:r.end]
		n := int64(bytes.Count(chunk, newline))
		if r.line+n >= r.args.Offset {
			for ; r.line < r.args.Offset; r.line++ {
				r.pos += bytes.IndexByte(r.buf[r.pos:r.end], '\n') + 1
			}
			return nil
		}
		r.line += n
		r.pos = r.end
		if len(chunk) > 0 {
			begun = chunk[len(chunk)-1] != '\n'
		}
		if r.eof {
			if begun {
				r.line++
			}
			return nil
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
	return nil
}

var newline, carriage = []byte{'\n'}, []byte{'\r'}

// take adds lines to the text until one of the limits, or the end.
func (r *lineReader) take() error {
	for {
		r.takePlain()
		line, cut, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			r.ok.Total = r.line - 1
			return nil
		case err != nil:
			return err
		case r.args.Limit > 0 && r.ok.Count == r.args.Limit:
			r.ok.More = true
			return nil
		case !r.add(line, cut):
			r.ok.More, r.ok.Stopped = true, true
			return nil
		}
		r.line++
	}
}

// takePlain adds what whole lines are read, as long as they are ASCII and no
// limit is near. It does nothing that take would not, only at the speed of
// copying.
func (r *lineReader) takePlain() {
	if !r.ascii {
		return
	}
	args, chunk, out := &r.args, r.buf[r.pos:r.end], r.out
	for args.Limit == 0 || r.ok.Count < args.Limit {
		n := bytes.IndexByte(chunk, '\n')
		if n < 0 || args.MaxLine > 0 && int64(n) > args.MaxLine ||
			int64(len(out)+n+len(r.label.buf)) > args.MaxChars {
			break
		}
		line := chunk[:n]
		if chunk = chunk[n+1:]; n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if r.ok.Count > 0 {
			out = append(out, '\n')
		}
		if args.Number {
			out = append(out, r.label.text()...)
			r.label.increment()
		}
		out = append(out, line...)
		r.ok.Count++
		r.line++
	}
	r.chars += int64(len(out) - len(r.out))
	r.out, r.pos = out, r.end-len(chunk)
}

// next returns the next line without its end; cut says that it goes on beyond
// what any limit lets through. It returns io.EOF behind the last line.
func (r *lineReader) next() (line []byte, cut bool, err error) {
	if r.args.Limit > 0 && r.ok.Count == r.args.Limit {
		return r.peek()
	}
	for seen := 0; ; {
		chunk := r.buf[r.pos:r.end]
		if i := bytes.IndexByte(chunk[seen:], '\n'); i >= 0 {
			line = chunk[:seen+i]
			r.pos += len(line) + 1
			return bytes.TrimSuffix(line, carriage), false, nil
		}
		if r.eof {
			r.pos = r.end
			if len(chunk) == 0 {
				return nil, false, io.EOF
			}
			return chunk, false, nil
		}
		if int64(len(chunk)) > r.keep() {
			line, err = r.discard()
			return line, true, err
		}
		seen = len(chunk)
		if err := r.fill(); err != nil {
			return nil, false, err
		}
	}
}

// peek finds out whether a line follows, without reading it.
func (r *lineReader) peek() ([]byte, bool, error) {
	for r.pos == r.end {
		if r.eof {
			return nil, false, io.EOF
		}
		if err := r.fill(); err != nil {
			return nil, false, err
		}
	}
	return nil, false, nil
}

// keep is how many bytes of a line can matter: one code point more than its
// limit, which is what tells that it must be cut.
func (r *lineReader) keep() int64 {
	n := r.args.MaxChars
	if r.args.MaxLine > 0 {
		n = min(n, r.args.MaxLine)
	}
	return max((n+1)*utf8.UTFMax, chunkSize)
}

// discard returns the start of a line too long to hold and reads over its rest,
// unless that start alone ends the text.
func (r *lineReader) discard() ([]byte, error) {
	n := int(min(r.keep(), int64(r.end-r.pos)))
	line := bytes.Clone(r.buf[r.pos : r.pos+n])
	if r.args.MaxLine == 0 || r.args.MaxLine > r.args.MaxChars {
		return line, nil
	}
	for {
		if i := bytes.IndexByte(r.buf[r.pos:r.end], '\n'); i >= 0 {
			r.pos += i + 1
			break
		}
		if r.pos = r.end; r.eof {
			break
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
	r.ascii, r.valid = false, false // of this line nothing is known
	return line, nil
}

// add appends a line and reports whether it fitted.
func (r *lineReader) add(line []byte, cut bool) bool {
	if !r.valid && !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	n := int64(len(line))
	if !r.ascii {
		n = int64(utf8.RuneCount(line))
	}
	if limit := r.args.MaxLine; limit > 0 && n > limit {
		line, n, cut = prefix(line, limit, n == int64(len(line))), limit, true
	}
	cost := n
	if r.ok.Count > 0 {
		cost++
	}
	if r.args.Number {
		cost += int64(len(r.label.text()))
	}
	if r.chars+cost > r.args.MaxChars {
		return false
	}
	if r.ok.Count > 0 {
		r.out = append(r.out, '\n')
	}
	if r.args.Number {
		r.out = append(r.out, r.label.text()...)
		r.label.increment()
	}
	r.out = append(r.out, line...)
	r.chars += cost
	r.ok.Count++
	if cut {
		r.ok.CutLines++
	}
	return true
}

// prefix returns the first n code points of a line that has more.
func prefix(line []byte, n int64, ascii bool) []byte {
	if ascii {
		return line[:n]
	}
	pos := 0
	for range n {
		_, width := utf8.DecodeRune(line[pos:])
		pos += width
	}
	return line[:pos]
}
