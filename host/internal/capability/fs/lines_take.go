package fs

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// take adds lines to the text until one of the limits, or the end.
func (r *lineReader) take() error {
	for {
		r.takePlain()
		line, cut, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			r.ok.Total = r.line - 1
			r.tell(r.pos)
			return nil
		case err != nil:
			r.tell(r.pos)
			return err
		case r.args.Limit > 0 && r.ok.Count == r.args.Limit:
			r.ok.More = true
			r.tell(r.pos)
			return nil
		case r.endless || !r.add(line, cut):
			r.ok.More, r.ok.Stopped = true, true
			r.tell(r.begin)
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

// add appends a line and reports whether it fitted.
func (r *lineReader) add(line []byte, cut bool) bool {
	line, n, shortened, exact := r.fit(line)
	cost := r.cost(n)
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
	if cut || shortened {
		r.ok.CutLines++
	}
	switch {
	case cut: // which discard has told of
	case !exact:
		r.hide(0)
	case shortened:
		r.hide(len(line))
	}
	return true
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

// cost is how many code points a line of n takes.
func (r *lineReader) cost(n int64) int64 {
	if r.ok.Count > 0 {
		n++
	}
	if r.args.Number {
		n += int64(len(r.label.text()))
	}
	return n
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
