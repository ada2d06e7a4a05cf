package gate

import (
	"context"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host/internal/judge"
)

// Consultation is what a judge was asked about one call. Each answer counts for the call
// and for those of its capability calls that have the same effects, so that the judge is
// asked once about each effect. It is safe for concurrent use.
type Consultation struct {
	judge Judge

	mu      sync.Mutex
	running context.Context //nolint:containedctx // the call's, which outlasts those of its capability calls
	list    []*judge.Pending
}

// NewConsultation begins one; nil for a nil judge.
func NewConsultation(j Judge) *Consultation {
	if j == nil {
		return nil
	}
	return &Consultation{judge: j}
}

// Runs says that the call runs now, under a context: questions of its capability calls
// end with that, because several of them may wait for one answer.
func (c *Consultation) Runs(ctx context.Context) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = ctx
}

// Cancel withdraws all questions: nobody needs the answers.
func (c *Consultation) Cancel() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel()
}

func (c *Consultation) cancel() {
	for _, p := range c.list {
		p.Cancel()
	}
	c.list = nil
}

// begin asks a question, unless the judge is or was asked it already. What it was asked
// about another input or other effects of the call is withdrawn.
func (c *Consultation) begin(ctx context.Context, s *Subject, q judge.Question) *judge.Pending { //nolint:contextcheck // the call's own outlasts it
	c.mu.Lock()
	defer c.mu.Unlock()
	answers := (*judge.Pending).Covers
	if s.Operation == "" {
		answers = (*judge.Pending).About
	} else if c.running != nil {
		ctx = c.running
	}
	if i := slices.IndexFunc(c.list, func(p *judge.Pending) bool { return answers(p, q) }); i >= 0 {
		return c.list[i]
	}
	if s.Operation == "" {
		c.cancel()
	}
	p := c.judge.Speculate(ctx, q)
	c.list = append(c.list, p)
	return p
}

// drop forgets a question that got no answer.
func (c *Consultation) drop(p *judge.Pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(q *judge.Pending) bool { return q == p })
}
