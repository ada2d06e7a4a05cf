package regexp

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/toolquay/toolquay/internal/pattern"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// search is one search under way.
type search struct {
	expression *expression
	in         *engine.Instance[*instance]
	run        engine.Run
	under      context.Context //nolint:containedctx // the run, for one search
	broken     bool
	large      bool // it has much text
}

// Window returns room for text. See [pattern.Search].
func (s *search) Window(size int) ([]byte, error) {
	b, err := s.in.Host.room(s.under, size)
	return b, s.failed(err)
}

// Find finds matches. See [pattern.Search].
func (s *search) Find(from, to, most int) ([]pattern.Span, error) {
	found, err := s.in.Host.matches(s.under, from, to, most)
	return found, s.failed(err)
}

func (s *search) failed(err error) error {
	if err == nil {
		return nil
	}
	s.broken = true
	return s.in.Host.explain(&s.run, err)
}

// Close hands the instance back, unless it is broken.
func (s *search) Close() {
	s.run.End()
	s.expression.leave(s)
}

var errWindow = errors.New("there is no memory for the text")

// errSpan is a guest that breaks its word: what it found is not in the text.
var errSpan = errors.New("the engine found something outside of the text")

// room returns the window, which it makes larger where it has to.
func (in *instance) room(ctx context.Context, size int) ([]byte, error) {
	if uint32(size) > in.size {
		at, err := in.call(ctx, in.window, uint32(size))
		if err == nil && at == 0 {
			err = errWindow
		}
		if err != nil {
			return nil, err
		}
		in.at, in.size = uint32(at), uint32(size)
	}
	// The memory may have grown, and moved, since it was last looked at.
	b, ok := in.memory.Read(in.at, in.size)
	if !ok {
		return nil, errWindow
	}
	return b, nil
}

// matches has the guest find matches, and reads them.
func (in *instance) matches(ctx context.Context, from, to, most int) ([]pattern.Span, error) {
	n, err := in.call(ctx, in.find, uint32(from), uint32(to), uint32(most))
	if err != nil || n == 0 {
		return nil, err
	}
	const size = 8
	b, ok := in.memory.Read(in.spans, uint32(n)*size)
	if !ok {
		return nil, errWindow
	}
	in.found = in.found[:0]
	for last := uint32(from); len(b) > 0; b = b[size:] {
		span := pattern.Span{Start: binary.LittleEndian.Uint32(b), End: binary.LittleEndian.Uint32(b[4:])}
		if span.Start < last || span.End < span.Start || span.End > uint32(to) {
			return nil, errSpan
		}
		last = span.End
		in.found = append(in.found, span)
	}
	return in.found, nil
}
