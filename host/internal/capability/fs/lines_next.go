package fs

import (
	"bytes"
	"io"
	"unicode/utf8"
)

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

// fit makes of a line what is shown of it, of n code points. Exact says that this is as
// it is in the file.
func (r *lineReader) fit(line []byte) (shown []byte, n int64, shortened, exact bool) {
	if exact = r.valid || utf8.Valid(line); !exact {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	n = int64(len(line))
	if !r.ascii {
		n = int64(utf8.RuneCount(line))
	}
	if limit := r.args.MaxLine; limit > 0 && n > limit {
		return prefix(line, limit, n == int64(len(line))), limit, true, exact
	}
	return line, n, false, exact
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
