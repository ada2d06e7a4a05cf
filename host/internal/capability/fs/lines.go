package fs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// chunkSize is how much of a file is looked at in one go.
const chunkSize = 256 << 10

// lineReader reads a file's lines into a text.
type lineReader struct {
	ctx  context.Context // lives for one call of readLines
	args abi.LineArgs
	src  io.Reader
	enc  encoding

	// buf[pos:end] is read and not yet used; eof says that nothing follows. begin is
	// where the line that was read last begins.
	buf             []byte
	pos, end, begin int
	eof             bool
	// endless says that the line is longer than all that may be returned.
	endless bool
	// valid and ascii describe the text that was read, from the last fill on.
	valid, ascii bool

	line  int64 // the number of the next line
	label label
	out   []byte
	chars int64
	ok    abi.LinesOK

	// seen is told of what is passed over, up to told in buf; nil where nobody wants
	// to know. hiding says that what comes is not shown.
	seen   *seen
	told   int
	hiding bool
}

// readLines reads as args say from src, which has size bytes, and fills in seen, if
// it is not nil.
func readLines(ctx context.Context, src io.Reader, size int64, args abi.LineArgs, seen *seen) (*lineReader, error) {
	r := &lineReader{ctx: ctx, args: args, src: src, line: 1, ok: abi.LinesOK{First: args.Offset}, seen: seen}
	r.buf = make([]byte, min(chunkSize, size+1))
	if err := r.start(size); err != nil {
		return nil, err
	}
	err := r.skip()
	if err == nil {
		if r.pos < r.end || !r.eof {
			r.out = make([]byte, 0, r.guess(size))
		}
		r.label.set(r.line)
		err = r.take()
	} else if r.timedOut(err) {
		r.ok.Passed = r.line - 1
	}
	if err != nil && !r.timedOut(err) {
		return nil, err
	}
	if seen != nil {
		seen.close()
	}
	return r, nil
}

// timedOut reports whether a read ended for want of time, and has the answer say so: it
// has what was read by then.
func (r *lineReader) timedOut(err error) bool {
	if abi.CodeOf(err) != abi.CodeTimeout {
		return false
	}
	r.ok.More, r.ok.TimedOut = true, true
	return true
}

// guess is how long the text will be, where that is known well enough.
func (r *lineReader) guess(size int64) int64 {
	n := size + size/4
	if r.args.Limit > 0 {
		n = min(n, min(r.args.Limit, 1<<20)*48)
	}
	return min(n, r.args.MaxChars+utf8.UTFMax, 16<<20)
}

// start reads the file's head, tells its encoding by it and takes a byte order mark
// away.
func (r *lineReader) start(size int64) error {
	for int64(r.end) < min(size, headSize) && !r.eof {
		if err := r.fill(); err != nil {
			return err
		}
	}
	head := r.buf[:min(r.end, headSize)]
	if r.valid && marked(head) == utf8Plain && bytes.IndexByte(head[:min(len(head), sniffSize)], 0) < 0 {
		return nil // sniff would find just that, a second time
	}
	enc, err := sniff(head, r.eof || size <= headSize)
	if err != nil {
		return err
	}
	if r.enc = enc; r.seen != nil {
		r.seen.enc = enc
	}
	if !enc.decoded() {
		r.pos = enc.bom()
		return nil
	}
	return r.decode()
}

// decode begins anew, with what the file says in UTF-8.
func (r *lineReader) decode() error {
	head := io.Reader(bytes.NewReader(r.buf[:r.end]))
	if !r.eof {
		head = io.MultiReader(head, r.src)
	}
	r.src, r.end, r.eof = newDecoder(r.enc, head), 0, false
	r.buf = make([]byte, chunkSize)
	for r.end < len(boms[utf8BOM]) && !r.eof {
		if err := r.fill(); err != nil {
			return err
		}
	}
	if r.enc.wide() {
		r.pos = len(boms[utf8BOM]) // which it was decoded to
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
		r.tell(r.pos)
		r.end = copy(r.buf, r.buf[r.pos:r.end])
		r.pos, r.told = 0, 0
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
	if r.args.Offset <= 1 {
		return nil
	}
	r.hiding = true
	defer func() { r.tell(r.pos); r.hiding = false }()
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

// next returns the next line without its end; cut says that it goes on beyond
// what any limit lets through. It returns io.EOF behind the last line.
func (r *lineReader) next() (line []byte, cut bool, err error) {
	if r.args.Limit > 0 && r.ok.Count == r.args.Limit {
		return r.peek()
	}
	for seen := 0; ; {
		chunk := r.buf[r.pos:r.end]
		r.begin = r.pos
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

// discard returns the start of a line too long to hold and reads over its rest, as far
// as there is time, unless that start alone ends the text.
func (r *lineReader) discard() ([]byte, error) {
	n := r.pos + int(min(r.keep(), int64(r.end-r.pos)))
	for i := 1; i < utf8.UTFMax && n < r.end && !utf8.RuneStart(r.buf[n]); i++ {
		n--
	}
	line := bytes.Clone(r.buf[r.pos:n])
	if r.args.MaxLine == 0 || r.args.MaxLine > r.args.MaxChars {
		r.endless = true
		return line, nil
	}
	shown := 0
	if text, n, _, exact := r.fit(line); exact && r.chars+r.cost(n) <= r.args.MaxChars {
		shown = len(text)
	}
	r.tell(r.pos + shown)
	r.hiding = true
	for {
		if i := bytes.IndexByte(r.buf[r.pos:r.end], '\n'); i >= 0 {
			r.pos += i + 1
			break
		}
		if r.pos = r.end; r.eof {
			break
		}
		if err := r.fill(); r.timedOut(err) {
			break // what comes next ends for it, too
		} else if err != nil {
			return nil, err
		}
	}
	r.hide(0)
	r.ascii, r.valid = false, false // of this line nothing is known
	return line, nil
}

// tell has what was passed up to a place in buf counted as seen, or not.
func (r *lineReader) tell(upto int) {
	if r.seen != nil {
		r.seen.pass(r.buf[r.told:upto], !r.hiding)
		r.told = upto
	}
}

// hide tells of the line that was read last, of which no more is shown as it is than its
// first bytes.
func (r *lineReader) hide(shown int) {
	if !r.hiding {
		r.tell(r.begin + shown)
		r.hiding = true
	}
	r.tell(r.pos)
	r.hiding, r.begin = false, r.pos
}
