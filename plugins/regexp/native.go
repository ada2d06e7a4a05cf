package regexp

import (
	"context"
	"sync"

	"github.com/toolquay/toolquay/internal/pattern"
)

const (
	// maxFound is how many matches are looked for at once, as the guest does.
	maxFound = 256
	// windowSize is the first window's of a search, in bytes, and maxKept that of
	// the largest that the next search gets: one for the longest line that is searched.
	// Others are the garbage collector's, and two of those are more than one in use.
	windowSize = 256 << 10
	maxKept    = 18 << 20
	// muchText is how much makes a search one of those of which one goes on at a time.
	muchText = 1 << 20
	// maxStep is how much text is searched before the context is looked at, in
	// bytes: less than a millisecond's.
	maxStep = 256 << 10
	// The guest gets the line that has a byte which is not ASCII, and more where
	// such lines follow each other within denseGap bytes, up to maxStretch: a call
	// costs as much as a kilobyte of text.
	denseGap   = 2 << 10
	minStretch = 256
	maxStretch = 64 << 10
)

// windows are those of searches that are native.
var windows = sync.Pool{New: func() any { b := make([]byte, windowSize); return &b }}

// native is a search by an expression's table. The guest is asked about lines that
// are not ASCII alone; it has an instance from the first of them on.
type native struct {
	ctx     context.Context //nolint:containedctx // of one search
	x       *expression
	window  *[]byte
	guest   pattern.Search
	found   []pattern.Span
	lane    int // see table.find
	stretch int // how much the guest gets beyond a line
}

// Search returns a search that goes by the expression's table, if it has one.
func (x *expression) Search(ctx context.Context, size int) (pattern.Search, error) {
	if x.table != nil {
		return x.native(ctx), nil
	}
	return x.inGuest(ctx, size)
}

func (x *expression) native(ctx context.Context) *native {
	window, _ := windows.Get().(*[]byte)
	return &native{ctx: ctx, x: x, window: window, lane: maxLane}
}

// Window returns room for text. See [pattern.Search].
func (s *native) Window(size int) ([]byte, error) {
	if more := size - len(*s.window); more > 0 {
		*s.window = append(*s.window, make([]byte, more)...)
	}
	return *s.window, nil
}

// Find finds lines that match. See [pattern.Search].
func (s *native) Find(from, to, most int) ([]pattern.Span, error) {
	s.found = s.found[:0]
	most = min(most, maxFound)
	text := (*s.window)[:to]
	for from < to && len(s.found) < most {
		if err := s.ctx.Err(); err != nil {
			return nil, interrupted(err)
		}
		end := to
		if to-from > maxStep {
			end = lineEnd(text, from+maxStep)
		}
		at, state := s.x.table.find(text[from:end], s.lane)
		at += from
		if s.lane = maxLane; at-from < 4*maxLane {
			s.lane = max(minLane, (at-from)/4)
		}
		switch {
		case state < foreign:
			from = end
		case state == foreign:
			next, err := s.ask(text, from, at, most)
			if err != nil {
				return nil, err
			}
			from = next
		default:
			start := from + lineStart(text[from:], at-from)
			from = lineEnd(text, at)
			s.found = append(s.found, pattern.Span{Start: uint32(start), End: uint32(from)})
		}
	}
	return s.found, nil
}

// ask has the guest look at the line around at, and at some behind it. It returns
// where those end; it is of no use once there are the most matches.
func (s *native) ask(text []byte, from, at, most int) (int, error) {
	if s.stretch *= 2; at-from > denseGap {
		s.stretch = 0
	} else {
		s.stretch = min(max(s.stretch, minStretch), maxStretch)
	}
	start := from + lineStart(text[from:], at-from)
	end := lineEnd(text, min(at+s.stretch, len(text)-1))
	if s.guest == nil {
		guest, err := s.x.inGuest(s.ctx, 0)
		if err != nil {
			return 0, err
		}
		s.guest = guest
	}
	window, err := s.guest.Window(end - start)
	if err != nil {
		return 0, err
	}
	copy(window, text[start:end])
	found, err := s.guest.Find(0, end-start, most-len(s.found))
	for _, f := range found {
		s.found = append(s.found, pattern.Span{Start: f.Start + uint32(start), End: f.End + uint32(start)})
	}
	return end, err
}

// Close hands back what the search used.
func (s *native) Close() {
	if s.guest != nil {
		s.guest.Close()
	}
	if len(*s.window) <= maxKept {
		windows.Put(s.window)
	}
}
