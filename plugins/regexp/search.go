package regexp

import (
	"context"

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
