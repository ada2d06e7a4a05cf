package fs

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/toolquay/toolquay/abi"
)

// chunkSize is how much of a file is looked at in one go.
const chunkSize = 256 << 10

// lineReader reads a file's lines into a text.
type lineReader struct {
	fileWindow
	lineText
	line int64 // the number of the next line
	// endless says that the line is longer than all that may be returned.
	endless bool
}

// readLines reads as args say from src, which has size bytes, and fills in seen, if
// it is not nil.
func readLines(ctx context.Context, src io.Reader, size int64, args abi.LineArgs, seen *seen) (*lineReader, error) {
	r := &lineReader{
		fileWindow: fileWindow{ctx: ctx, src: src, buf: make([]byte, min(chunkSize, size+1)), watcher: watcher{seen: seen}},
		lineText:   lineText{args: args, ok: abi.LinesOK{First: args.Offset}},
		line:       1,
	}
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
