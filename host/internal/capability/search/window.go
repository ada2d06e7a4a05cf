package search

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// needed is the size of the window for a text of size bytes, as far as that tells it. One
// that is matched across lines is in it as a whole, with a byte to see that this was all:
// it is never moved to a larger one, which would have it in memory twice.
func needed(plan *contentsPlan, size int64) int {
	if !plan.across {
		return windowSize
	}
	return max(int(min(size, maxMultiline))+1, windowSize)
}

// decoded is the most bytes that a file of UTF-16 becomes: three for two, and three for
// half a character at its end.
func decoded(size int64) int64 { return size + size/2 + utf8.UTFMax }

// grow makes the window at least size bytes long, and finds it anew: it may have
// moved since the engine was last called.
func (s *scan) grow(size int) error {
	buf, err := s.find.Window(size)
	switch e := interrupted(s.ctx); {
	case err != nil && e != nil:
		return e
	case err != nil && s.plan.across && size > windowSize:
		return abi.Errorf(abi.CodeTooLarge, "a file of that size cannot be matched across lines: %w", err)
	case err != nil:
		return fatal{err}
	}
	s.buf = buf
	return nil
}

// larger is the size of the next window for a line. There are no more than three, so that
// those before the largest are little beside it.
func (s *scan) larger() int {
	if len(s.buf) < middleSize {
		return middleSize
	}
	return maxWindow
}

// read reads more of the file into the window.
func (s *scan) read(src io.Reader) (eof bool, err error) {
	n, err := src.Read(s.buf[s.size:min(s.size+maxRead, len(s.buf))])
	s.size += n
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, abi.Errorf(abi.CodeIO, "reading: %w", err)
	}
	return false, interrupted(s.ctx)
}

// begin reads the start of a file and tells by it how to go on: a file that is not
// text ends there, however large it is. Byte order marks are no part of the text.
// It returns what to read, and the most that this may be, in bytes.
func (s *scan) begin(src io.Reader, size int64) (io.Reader, int64, error) {
	if err := s.head(src); err != nil {
		return nil, 0, err
	}
	if order := byMark(s.buf[:s.size]); order != nil {
		read := bytes.Clone(s.buf[2:s.size])
		s.size, s.base = 0, -1
		src = newUTF16Reader(order, io.MultiReader(bytes.NewReader(read), src))
		size = decoded(size)
		if err := s.head(src); err != nil {
			return nil, 0, err
		}
	} else if bytes.HasPrefix(s.buf[:s.size], []byte("\xef\xbb\xbf")) {
		s.size, s.base = copy(s.buf, s.buf[3:s.size]), 3
	}
	if bytes.IndexByte(s.buf[:min(s.size, sniffSize)], 0) >= 0 {
		return nil, 0, errBinary
	}
	return src, size, nil
}

// head reads what tells the kind of a file, or all of a shorter one.
func (s *scan) head(src io.Reader) error {
	for s.size < sniffSize {
		eof, err := s.read(src)
		if eof || err != nil {
			return err // the end comes again
		}
	}
	return nil
}

// fill reads until the window has a whole line; for matches across lines, until it
// has all of the file.
func (s *scan) fill(src io.Reader) (eof bool, err error) {
	for {
		if !s.plan.across {
			if i := bytes.LastIndexByte(s.buf[s.old:s.size], '\n'); i >= 0 {
				s.end = s.old + i + 1
				return false, nil
			}
		}
		if s.old = s.size; s.size == len(s.buf) {
			switch {
			case s.plan.across:
				return false, abi.Errorf(abi.CodeTooLarge, "the file is too large to match across lines")
			case len(s.buf) >= maxWindow:
				return s.passOver(src)
			}
			if err := s.grow(s.larger()); err != nil {
				return false, err
			}
		}
		eof, err := s.read(src)
		if eof {
			s.end = s.size
		}
		if eof || err != nil {
			return eof, err
		}
	}
}

// passOver ends a line that fills the window where the most of a line ends, and reads
// over the rest of it, into the room behind.
func (s *scan) passOver(src io.Reader) (eof bool, err error) {
	s.end, s.base = min(s.end+maxLong, len(s.buf)-windowSize), -1
	for {
		s.size = s.end
		if eof, err = s.read(src); err != nil {
			return false, err
		}
		if i := bytes.IndexByte(s.buf[s.end:s.size], '\n'); i >= 0 {
			s.buf[s.end-1] = '\n'
			s.size = s.end + copy(s.buf[s.end:], s.buf[s.end+i+1:s.size])
			return false, nil // the end comes again
		}
		if eof {
			s.size = s.end
			return true, nil
		}
	}
}
