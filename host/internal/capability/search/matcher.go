package search

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/pattern"
)

// maxPattern is the length of a pattern in bytes: its time grows with that, and it
// is a model that writes it.
const maxPattern = 4096

// matcher is the engine behind a search for contents.
type matcher interface {
	// across reports whether matches may span lines; else each is one line.
	across() bool
	// search returns what searches a file, of which the window will hold size
	// bytes, for one goroutine at a time.
	search(ctx context.Context, size int) (pattern.Search, error)
	close()
}

// compile chooses the engine: patterns that are nothing but texts need none for
// regular expressions, which takes its time to start.
func compile(ctx context.Context, engine pattern.Engine, text string, o pattern.Options) (matcher, error) {
	if len(text) > maxPattern {
		return nil, invalid("the pattern of %d bytes is over the limit of %d", len(text), maxPattern)
	}
	if set := parsePlain(text, o.IgnoreCase); set != nil && (engine == nil || !set.slow()) {
		return plain{set: set.finder()}, nil
	}
	if engine == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "the pattern is a regular expression, and this host has no engine for them; search for plain text")
	}
	x, err := engine.Compile(ctx, text, o)
	if err != nil {
		return nil, err
	}
	literals := x.Facts().Literals
	if o.IgnoreCase && strings.Contains(text, "&&") {
		literals = nil // classes fold before they intersect, and the literals are found without case
	}
	return expression{Expression: x, set: literalSet(literals, o.IgnoreCase).finder()}, nil
}

// plain is a search for texts.
type plain struct{ set *finder }

func (p plain) across() bool { return false }

func (p plain) close() {}

func (p plain) search(ctx context.Context, _ int) (pattern.Search, error) {
	s, _ := plains.Get().(*plainSearch)
	s.ctx, s.set = ctx, p.set
	return s, nil
}

// plains are used again, with their windows: there is one for each file.
var plains = sync.Pool{New: func() any { return &plainSearch{window: make([]byte, windowSize)} }}

// plainSearch implements [pattern.Search].
type plainSearch struct {
	ctx    context.Context //nolint:containedctx // of one file
	set    *finder
	window []byte
	found  []pattern.Span
}

// Window returns room for text.
func (s *plainSearch) Window(size int) ([]byte, error) {
	if more := size - len(s.window); more > 0 {
		s.window = append(s.window, make([]byte, more)...)
	}
	return s.window, nil
}

// Find returns the lines that hold one of the texts.
func (s *plainSearch) Find(from, to, most int) ([]pattern.Span, error) {
	s.found = s.found[:0]
	text := s.window[:to]
	for len(s.found) < min(most, maxFound) {
		i, err := s.set.next(s.ctx, text, from)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			break
		}
		start, end := from+lineStart(text[from:], i-from), lineEnd(text, i)
		s.found = append(s.found, pattern.Span{Start: uint32(start), End: uint32(end)})
		from = end
	}
	return s.found, nil
}

// maxFound is how many matches are looked for at once.
const maxFound = 256

// Close hands the window back.
func (s *plainSearch) Close() {
	s.ctx, s.set = nil, nil
	if len(s.window) <= maxWindow {
		plains.Put(s)
	}
}

// expression is a regular expression. Where every match holds one of a few texts,
// those are looked for first.
type expression struct {
	pattern.Expression
	set *finder // nil is none
}

func (x expression) across() bool { return x.Facts().Across }

func (x expression) close() { x.Close() }

func (x expression) search(ctx context.Context, size int) (pattern.Search, error) {
	s, err := x.Search(ctx, size)
	if err != nil || x.set == nil {
		return s, err
	}
	return &sifted{Search: s, ctx: ctx, set: x.set, across: x.across()}, nil
}

// sifted has the engine look only at what holds what it must.
type sifted struct {
	pattern.Search
	ctx     context.Context //nolint:containedctx // of one file
	set     *finder
	across  bool
	stretch int // how much the engine gets beyond the line that was found
}

// The engine gets more lines at once where one candidate follows the other within
// denseGap bytes, up to maxStretch bytes: a call costs as much as a kilobyte of text.
const (
	denseGap   = 2 << 10
	maxStretch = 64 << 10
)

// Find finds matches. See [pattern.Search].
func (s *sifted) Find(from, to, most int) ([]pattern.Span, error) {
	text, err := s.Window(0)
	if err != nil {
		return nil, err
	}
	for text = text[:to]; ; {
		i, err := s.set.next(s.ctx, text, from)
		if err != nil || i < 0 {
			return nil, err
		}
		if s.across {
			return s.Search.Find(from, to, most)
		}
		if s.stretch *= 2; i-from > denseGap {
			s.stretch = 0
		} else if s.stretch = max(s.stretch, 256); s.stretch > maxStretch {
			s.stretch = maxStretch
		}
		start := from + lineStart(text[from:], i-from)
		end := lineEnd(text, min(i+s.stretch, to-1))
		found, err := s.Search.Find(start, end, most)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return found, nil
		}
		from = end
		if text, err = s.Window(0); err != nil {
			return nil, err
		}
		text = text[:to]
	}
}

// lineStart and lineEnd are where the line around i starts and where the next one
// does.
func lineStart(text []byte, i int) int { return bytes.LastIndexByte(text[:i], '\n') + 1 }

func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}
