package main

import (
	"context"
	"errors"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message/stream"
)

// streamAsker asks whoever writes the stream. The question goes out among the other
// lines, in their order; here its answer is waited for.
type streamAsker struct {
	// later keeps a question for another process.
	later func() host.Asker

	mu        sync.Mutex
	questions map[string]*streamQuestion
	// over is closed when nothing more comes in.
	over chan struct{}
}

// streamQuestion stays known when it is over, so that a late answer is told apart
// from one to no question.
type streamQuestion struct {
	options []host.RememberOption
	over    bool
	reply   chan host.Reply
}

func newStreamAsker(later func() host.Asker) *streamAsker {
	return &streamAsker{later: later, questions: make(map[string]*streamQuestion), over: make(chan struct{})}
}

var errInputEnded = errors.New("the input has ended, so that no answer can come")

// expect makes a question known before it goes out.
func (s *streamAsker) expect(a host.Approval) *streamQuestion {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.questions[a.ID]
	if q == nil {
		q = &streamQuestion{options: a.Remember, reply: make(chan host.Reply, 1)}
		s.questions[a.ID] = q
	}
	return q
}

// Carries is true of approvals.
func (s *streamAsker) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

// Ask waits for the answer to a question.
func (s *streamAsker) Ask(ctx context.Context, question host.Question) (host.Reply, error) {
	if question.Approval == nil {
		return host.Reply{}, host.ErrNobody
	}
	q := s.expect(*question.Approval)
	defer s.end(question.ID)
	select {
	case reply := <-q.reply:
		if reply.Answer == host.AnswerLater {
			return s.later().Ask(ctx, question)
		}
		return reply, nil
	case <-s.over:
	case <-ctx.Done():
		return host.Reply{}, context.Cause(ctx)
	}
	select {
	case reply := <-q.reply: // it came just before the end
		return reply, nil
	default:
		return host.Reply{}, errInputEnded
	}
}

// end closes questions, all of them expected before, whose calls have ended: an answer
// that comes from now on is refused.
func (s *streamAsker) end(approvals ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range approvals {
		q := s.questions[id]
		q.over, q.options = true, nil
	}
}

// answer takes an answer that came in. One that is refused leaves the question
// open.
func (s *streamAsker) answer(a stream.Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.questions[a.Approval]
	switch {
	case q == nil:
		return abi.Errorf(abi.CodeNotFound, "no question has the approval %.100q", a.Approval)
	case q.over:
		return abi.Errorf(abi.CodeNotFound, "the question of the approval %.100q is over: it was answered, or its call has ended", a.Approval)
	}
	reply := host.Reply{Answer: a.Answer, Message: a.Message, EndTurn: a.EndTurn, Input: a.Input}
	if a.Remember != "" {
		if reply.Remember = q.option(a.Remember); reply.Remember == nil {
			return abi.Errorf(abi.CodeInvalidInput, "the approval %.100q has no offer for the scope %.100q", a.Approval, a.Remember)
		}
	}
	q.over = true
	q.reply <- reply
	return nil
}

// option is the one for a target, or nil.
func (q *streamQuestion) option(target host.RuleTarget) *host.RememberOption {
	for i := range q.options {
		if q.options[i].Target == target {
			return &q.options[i]
		}
	}
	return nil
}

// close says that no more answers come.
func (s *streamAsker) close() { close(s.over) }
