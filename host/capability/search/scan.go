package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

const (
	windowSize = 256 << 10
	// maxWindow bounds how far the window grows for one line; what a longer
	// line has beyond it is passed over.
	maxWindow = 16 << 20
	// maxMultiline is the largest file that is searched across lines, which
	// needs all of it in memory.
	maxMultiline = 64 << 20
	// maxContext is how much text before a match is kept for context when the
	// window moves.
	maxContext = 1 << 20
	sniffSize  = 8 << 10
)

// errBinary says that a file is not text.
var errBinary = errors.New("binary")

var windows = sync.Pool{New: func() any { b := make([]byte, windowSize); return &b }}

// scan searches one file. It holds a window of the file, which always starts
// with a line.
type scan struct {
	ctx  context.Context // lives for one file
	plan *contentsPlan
	out  *found

	buf  []byte
	pos  int // what lies before was searched
	end  int // what lies before is whole lines, or the end of the file
	size int // what lies before was read

	line    int64 // the number of the line at counted
	counted int
	printed int // the end of what was output, negative if it left the window
	any     bool
	after   int // lines of context that still follow the last match
	matches int
	done    bool // nothing more of this file is wanted
}

// scanFile searches a file of size bytes for what the plan asks.
func scanFile(ctx context.Context, plan *contentsPlan, src io.Reader, size int64, out *found) error {
	window, _ := windows.Get().(*[]byte)
	s := &scan{ctx: ctx, plan: plan, out: out, buf: *window, line: 1}
	defer func() {
		if len(s.buf) <= 4*windowSize {
			windows.Put(&s.buf)
		}
	}()
	if plan.across && size > maxMultiline {
		return abi.Errorf(abi.CodeTooLarge, "a file of %d bytes is too large to match across lines", size)
	}
	err := s.run(src)
	if err == nil {
		err = interrupted(ctx)
	}
	return err
}

func (s *scan) run(src io.Reader) error {
	for first := true; ; first = false {
		eof, err := s.fill(src)
		if err != nil {
			return err
		}
		if first {
			if bytes.IndexByte(s.buf[:min(s.size, sniffSize)], 0) >= 0 {
				return errBinary
			}
			if bytes.HasPrefix(s.buf[:s.end], []byte("\xef\xbb\xbf")) {
				s.size = copy(s.buf, s.buf[3:s.size])
				s.end -= 3
			}
		}
		s.search()
		if eof || s.done {
			s.finish()
			return nil
		}
		s.move()
	}
}

// fill reads until the window has a whole line, or the start of the file at
// least; for matches across lines, until it has all of it.
func (s *scan) fill(src io.Reader) (eof bool, err error) {
	for {
		if s.size == len(s.buf) {
			if !s.plan.across && len(s.buf) >= maxWindow {
				return s.passOver(src)
			}
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		n, err := src.Read(s.buf[s.size:])
		fresh := s.size
		s.size += n
		switch {
		case errors.Is(err, io.EOF):
			s.end = s.size
			return true, nil
		case err != nil:
			return false, abi.Errorf(abi.CodeIO, "reading: %w", err)
		case s.ctx.Err() != nil:
			return false, interrupted(s.ctx)
		case s.plan.across:
			if s.size > maxMultiline {
				return false, abi.Errorf(abi.CodeTooLarge, "the file grew too large to match across lines")
			}
			continue
		}
		if i := bytes.LastIndexByte(s.buf[fresh:s.size], '\n'); i >= 0 && s.size >= sniffSize {
			s.end = fresh + i + 1
			return false, nil
		}
	}
}

// passOver ends a line that fills the window where the window ends, and reads
// over the rest of it.
func (s *scan) passOver(src io.Reader) (eof bool, err error) {
	s.end = s.size
	rest := make([]byte, windowSize)
	for s.ctx.Err() == nil {
		n, err := src.Read(rest)
		if i := bytes.IndexByte(rest[:n], '\n'); i >= 0 {
			s.buf[s.end-1] = '\n'
			s.buf = append(s.buf, rest[i+1:n]...)
			s.size = len(s.buf)
			return false, nil
		}
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, abi.Errorf(abi.CodeIO, "reading: %w", err)
		}
	}
	return true, nil
}

// search goes through the whole lines of the window.
func (s *scan) search() {
	for s.pos < s.end && !s.done {
		start, end := s.plan.matcher.find(s.ctx, s.buf[:s.end], s.pos)
		if start < 0 || s.ctx.Err() != nil {
			break
		}
		first := lineStart(s.buf[:s.end], start)
		last := lineEnd(s.buf[:s.end], max(start, end-1))
		s.hit(first, last)
		if !s.plan.across {
			s.pos = last
			continue
		}
		if s.pos = end; start == end {
			_, n := utf8.DecodeRune(s.buf[end:s.end])
			s.pos += max(n, 1)
		}
	}
	if !s.done {
		s.follow(s.end)
		s.pos = s.end
	}
}

// hit handles a match that lies in the lines from first to last.
func (s *scan) hit(first, last int) {
	switch s.plan.mode {
	case abi.ModeFiles:
		s.matches, s.done = 1, true
		return
	case abi.ModeCount:
		s.matches++
		return
	}
	s.follow(first)
	if first > s.printed {
		from := s.back(first, s.plan.args.Before, s.printed)
		if s.plan.context() && s.any && from > s.printed {
			s.out.text = append(s.out.text, gap...)
			s.out.end(0)
		}
		s.print(from, first, false)
	}
	s.print(max(first, s.printed), last, true)
	s.after = s.plan.args.After
}

// follow prints the context behind the last match, up to a line.
func (s *scan) follow(limit int) {
	for s.after > 0 && s.printed < limit && !s.done {
		s.print(s.printed, min(lineEnd(s.buf[:s.end], s.printed), limit), false)
		s.after--
	}
}

// back returns where the n-th line before a line starts, but not before limit.
func (s *scan) back(pos, n, limit int) int {
	limit = max(limit, 0)
	for ; n > 0 && pos > limit; n-- {
		pos = max(lineStart(s.buf, pos-1), limit)
	}
	return pos
}

// print outputs the lines between two offsets.
func (s *scan) print(from, to int, match bool) {
	for from < to && !s.done {
		next := lineEnd(s.buf[:s.end], from)
		s.count(from)
		s.out.line(s.plan.style, s.line, s.buf[from:next], match)
		from = next
		s.printed, s.any = next, true
		if len(s.out.entries) > s.plan.need || len(s.out.text) > maxText {
			s.done, s.out.more = true, true
		}
	}
}

// count brings the line number forward to the line at pos.
func (s *scan) count(pos int) {
	if s.plan.style.numbers && pos > s.counted {
		s.line += int64(bytes.Count(s.buf[s.counted:pos], []byte{'\n'}))
		s.counted = pos
	}
}

// move drops what was searched from the window, but for the lines that may
// become context.
func (s *scan) move() {
	keep := s.end
	if s.plan.mode == abi.ModeContent && s.plan.args.Before > 0 {
		keep = s.back(s.end, s.plan.args.Before, max(s.printed, s.end-maxContext))
		if keep > 0 && s.buf[keep-1] != '\n' {
			keep = min(lineEnd(s.buf[:s.end], keep), s.end) // not from within a line
		}
	}
	s.count(keep)
	copy(s.buf, s.buf[keep:s.size])
	s.size -= keep
	s.end -= keep
	s.pos -= keep
	s.counted = max(0, s.counted-keep)
	s.printed -= keep
}

// finish writes the entry of the modes that have one a file.
func (s *scan) finish() {
	if s.matches == 0 || s.plan.mode == abi.ModeContent {
		return
	}
	s.out.text = append(s.out.text, s.out.path...)
	count := 0
	if s.plan.mode == abi.ModeCount {
		s.out.text = append(s.out.text, ':')
		s.out.text = strconv.AppendInt(s.out.text, int64(s.matches), 10)
		count = s.matches
	}
	s.out.text = append(s.out.text, '\n')
	s.out.end(count)
}
