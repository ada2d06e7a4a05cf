package gate

import (
	"context"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/permissions"
)

// Judge is a model that is asked about what rules leave open, such as a [judge.Judge].
type Judge interface {
	// Speculate starts to find an answer, which may turn out not to be needed.
	Speculate(ctx context.Context, q judge.Question) *judge.Pending
}

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

// Speculate has the judge begin to think about a subject where a decision on it needs
// its answer, so that the answer is there sooner.
func (g *Gate) Speculate(ctx context.Context, s *Subject, d permissions.Decision) {
	if g.Judge != nil && d.Need&permissions.NeedJudge != 0 {
		g.Judge.begin(ctx, s, g.question(s))
	}
}

// consult asks the judge where its answer would change the decision, and decides again,
// by the rules as they are by then. It returns who decided, where that was not the rules.
func (g *Gate) consult(ctx context.Context, s *Subject, d permissions.Decision) (permissions.Decision, string, error) {
	if d.Need&permissions.NeedJudge == 0 || g.Judge == nil {
		if s.Operation == "" {
			g.Judge.Cancel()
		}
		return d, "", nil
	}
	p := g.Judge.begin(ctx, s, g.question(s))
	answer := p.Answer(ctx)
	if ctx.Err() != nil {
		return d, "", Cancelled(ctx)
	}
	if answer.Err != nil {
		g.Judge.drop(p)
		g.Log.Warn(answer.Reason)
	}
	s.judged = &permissions.JudgeAnswer{InputHash: answer.InputHash, Verdict: answer.Verdict, Reason: answer.Reason}
	g.Policies.Renew()
	if d = g.Decide(s); d.Verdict == permissions.Allow || d.Layer == permissions.LayerJudge {
		return d, byJudge, nil
	}
	return d, "", nil
}

// question is what the judge is told about a subject.
func (g *Gate) question(s *Subject) judge.Question {
	policy := g.Policies.Now().Policy
	q := judge.Question{
		InputHash:  s.Call.Binding(),
		Tool:       s.Call.Tool,
		Plugin:     s.Call.Origin.Plugin,
		Capability: s.Operation,
		Title:      s.Call.Title,
		Text:       string(s.Call.Input),
		Accesses:   s.Accesses,
		Unknown:    s.Call.Effects != permissions.EffectsListed && s.Operation == "",
		Cwd:        policy.Cwd().Path,
		Dirs:       policy.WorkingDirs(),
	}
	for _, r := range policy.Rules() {
		q.Rules = append(q.Rules, r.Verdict.String()+" "+r.String())
	}
	return q
}
