package search

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
)

const (
	windowSize = 256 << 10
	middleSize = 2 << 20
	// maxRead is how much of a file is read before the context is looked at.
	maxRead = 1 << 20
	// maxLong is how much of a line is searched at least; the rest is passed over.
	// The largest window for lines has room before that for context, and behind it to
	// read the rest into.
	maxLong   = 16 << 20
	maxWindow = maxContext + maxLong + windowSize
	// maxMultiline is the largest file that is searched across lines, which
	// needs all of it in memory.
	maxMultiline = 64 << 20
	// maxContext is how much text before a match is kept for context when the
	// window moves.
	maxContext = 1 << 20
	sniffSize  = 8 << 10
	// firstBatch is how many matches are looked for at once to begin with. Where that
	// takes longer than slowBatch each is asked for alone, as a search that is ended
	// within a batch has none of it.
	firstBatch = 4
	slowBatch  = 10 * time.Millisecond
)

// errBinary says that a file is not text.
var errBinary = errors.New("binary")

// scans are used again: there is one for each file.
var scans = sync.Pool{New: func() any { return new(scan) }}

// scan searches one file.
type scan struct {
	printer
	pos     int // what lies before was searched
	matches int
	last    int // where the last match ends, of those across lines
	block   int // and where the lines do that it is in
	batch   int // how many matches to look for at once
}

// scanFile searches a file of size bytes for what the plan asks. Nothing is read behind
// those, also not to see that the file ends there.
func scanFile(ctx context.Context, plan *contentsPlan, src io.Reader, size int64, out *found) error {
	if plan.across && size > maxMultiline {
		return abi.Errorf(abi.CodeTooLarge, "a file of %d bytes is too large to match across lines", size)
	}
	find, err := plan.matcher.search(ctx, needed(plan.across, decoded(size)))
	if err != nil {
		if e := interrupted(ctx); e != nil {
			return e
		}
		return fatal{err}
	}
	defer find.Close()
	s, _ := scans.Get().(*scan)
	defer scans.Put(s)
	*s = scan{printer: printer{plan: plan, out: out, line: 1}, batch: firstBatch}
	s.window = window{ctx: ctx, find: find, across: plan.across}
	defer func() { *s = scan{} }()
	if err := s.grow(windowSize); err != nil {
		return err
	}
	if err = s.run(io.LimitReader(src, size), size); err == nil {
		return interrupted(ctx)
	}
	if abi.CodeOf(err) == abi.CodeTimeout {
		s.finish() // with what was counted by then
	}
	return err
}

// fatal is an error that is the pattern's and no file's: it ends the whole search.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

func (s *scan) run(src io.Reader, size int64) error {
	src, size, err := s.begin(src, size)
	if err != nil {
		return err
	}
	if err := s.grow(needed(s.across, size)); err != nil {
		return err
	}
	for {
		eof, err := s.fill(src)
		if err != nil {
			return err
		}
		if err := s.search(); err != nil {
			return err
		}
		if eof || s.done {
			s.finish()
			return nil
		}
		s.pos -= s.drop()
	}
}

// search goes through the whole lines of the window.
func (s *scan) search() error {
	for s.pos < s.end && !s.done {
		if err := interrupted(s.ctx); err != nil {
			return err
		}
		began := time.Now()
		found, err := s.find.Find(s.pos, s.end, min(s.most(), s.batch))
		if s.batch = min(2*s.batch, maxFound); time.Since(began) > slowBatch {
			s.batch = 1
		}
		if err != nil {
			if e := interrupted(s.ctx); e != nil {
				return e
			}
			return fatal{err}
		}
		// The window may have moved, also where nothing was found.
		if err := s.grow(0); err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		for _, match := range found {
			if s.match(int(match.Start), int(match.End)); s.done {
				break
			}
		}
	}
	if !s.done {
		s.follow(s.end)
		s.pos = s.end
	}
	return nil
}

// most is how many matches to ask for. A count has no end but the file's.
func (s *scan) most() int {
	switch s.plan.mode {
	case abi.ModeFiles:
		return 1
	case abi.ModeCount:
		return maxFound
	}
	return min(s.plan.need+1, maxFound)
}

// match handles one match.
func (s *scan) match(start, end int) {
	if s.pos = end; !s.across {
		s.hit(start, end)
		return
	}
	if start == end {
		s.pos++
	}
	// No part of a line is looked at twice, however many matches are in it.
	text := s.buf[:s.end]
	first, last := s.block, s.block
	if start >= s.block {
		first += lineStart(text[s.block:], start-s.block)
	}
	if at := max(start, end-1); at >= s.block {
		last = lineEnd(text, at)
	}
	if s.plan.mode != abi.ModeCount || s.counts(start, end, first) {
		s.hit(first, last)
	}
	s.last, s.block = end, last
}

// counts reports whether a match across lines, which starts in the line at first, is
// counted as ripgrep does: not where it is empty and lies at the end of the match before,
// or at the end of the text with another match in its line or the one before.
func (s *scan) counts(start, end, first int) bool {
	switch {
	case start < end || s.matches == 0:
		return true
	case start == s.end:
		return first > s.block
	}
	return start != s.last
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
	s.show(first, last)
}

// finish writes the entry of the modes that have one a file.
func (s *scan) finish() {
	if s.matches == 0 || s.plan.mode == abi.ModeContent {
		return
	}
	s.out.text = append(s.out.text, s.out.name()...)
	count := 0
	if s.plan.mode == abi.ModeCount {
		s.out.text = append(s.out.text, ':')
		s.out.text = strconv.AppendInt(s.out.text, int64(s.matches), 10)
		count = s.matches
	}
	s.out.text = append(s.out.text, '\n')
	s.out.end(count)
}
