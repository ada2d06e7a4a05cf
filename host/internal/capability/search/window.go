package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
)

// window holds some of a file, and always starts with a line.
type window struct {
	ctx    context.Context // lives for one file
	find   pattern.Search
	across bool // matches can span lines

	buf  []byte // the window of find
	end  int    // what lies before is whole lines, or the end of the file
	size int    // what lies before was read
	old  int    // what lies before has no newline behind end
	base int64  // where the window begins in the file, negative where that is not known
}

// needed is the size of the window for a text of size bytes, as far as that tells it. One
// that is matched across lines is in it as a whole, with a byte to see that this was all:
// it is never moved to a larger one, which would have it in memory twice.
func needed(across bool, size int64) int {
	if !across {
		return windowSize
	}
	return max(int(min(size, maxMultiline))+1, windowSize)
}

// decoded is the most bytes that a file of UTF-16 becomes: three for two, and three for
// half a character at its end.
func decoded(size int64) int64 { return size + size/2 + utf8.UTFMax }

// grow makes the window at least size bytes long, and finds it anew: it may have
// moved since the engine was last called.
func (w *window) grow(size int) error {
	buf, err := w.find.Window(size)
	switch e := interrupted(w.ctx); {
	case err != nil && e != nil:
		return e
	case err != nil && w.across && size > windowSize:
		return abi.Errorf(abi.CodeTooLarge, "a file of that size cannot be matched across lines: %w", err)
	case err != nil:
		return fatal{err}
	}
	w.buf = buf
	return nil
}

// larger is the size of the next window for a line. There are no more than three, so that
// those before the largest are little beside it.
func (w *window) larger() int {
	if len(w.buf) < middleSize {
		return middleSize
	}
	return maxWindow
}

// read reads more of the file into the window.
func (w *window) read(src io.Reader) (eof bool, err error) {
	n, err := src.Read(w.buf[w.size:min(w.size+maxRead, len(w.buf))])
	w.size += n
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, abi.Errorf(abi.CodeIO, "reading: %w", err)
	}
	return false, interrupted(w.ctx)
}

// begin reads the start of a file and tells by it how to go on: a file that is not
// text ends there, however large it is. Byte order marks are no part of the text.
// It returns what to read, and the most that this may be, in bytes.
func (w *window) begin(src io.Reader, size int64) (io.Reader, int64, error) {
	if err := w.head(src); err != nil {
		return nil, 0, err
	}
	if order := byMark(w.buf[:w.size]); order != nil {
		read := bytes.Clone(w.buf[2:w.size])
		w.size, w.base = 0, -1
		src = newUTF16Reader(order, io.MultiReader(bytes.NewReader(read), src))
		size = decoded(size)
		if err := w.head(src); err != nil {
			return nil, 0, err
		}
	} else if bytes.HasPrefix(w.buf[:w.size], []byte("\xef\xbb\xbf")) {
		w.size, w.base = copy(w.buf, w.buf[3:w.size]), 3
	}
	if bytes.IndexByte(w.buf[:min(w.size, sniffSize)], 0) >= 0 {
		return nil, 0, errBinary
	}
	return src, size, nil
}

// head reads what tells the kind of a file, or all of a shorter one.
func (w *window) head(src io.Reader) error {
	for w.size < sniffSize {
		eof, err := w.read(src)
		if eof || err != nil {
			return err // the end comes again
		}
	}
	return nil
}

// fill reads until the window has a whole line; for matches across lines, until it
// has all of the file.
func (w *window) fill(src io.Reader) (eof bool, err error) {
	for {
		if !w.across {
			if i := bytes.LastIndexByte(w.buf[w.old:w.size], '\n'); i >= 0 {
				w.end = w.old + i + 1
				return false, nil
			}
		}
		if w.old = w.size; w.size == len(w.buf) {
			switch {
			case w.across:
				return false, abi.Errorf(abi.CodeTooLarge, "the file is too large to match across lines")
			case len(w.buf) >= maxWindow:
				return w.passOver(src)
			}
			if err := w.grow(w.larger()); err != nil {
				return false, err
			}
		}
		eof, err := w.read(src)
		if eof {
			w.end = w.size
		}
		if eof || err != nil {
			return eof, err
		}
	}
}

// shift drops the first n bytes.
func (w *window) shift(n int) {
	copy(w.buf, w.buf[n:w.size])
	if w.base >= 0 {
		w.base += int64(n)
	}
	w.size, w.end = w.size-n, w.end-n
	w.old = w.size
}

// passOver ends a line that fills the window where the most of a line ends, and reads
// over the rest of it, into the room behind.
func (w *window) passOver(src io.Reader) (eof bool, err error) {
	w.end, w.base = min(w.end+maxLong, len(w.buf)-windowSize), -1
	for {
		w.size = w.end
		if eof, err = w.read(src); err != nil {
			return false, err
		}
		if i := bytes.IndexByte(w.buf[w.end:w.size], '\n'); i >= 0 {
			w.buf[w.end-1] = '\n'
			w.size = w.end + copy(w.buf[w.end:], w.buf[w.end+i+1:w.size])
			return false, nil // the end comes again
		}
		if eof {
			w.size = w.end
			return true, nil
		}
	}
}
