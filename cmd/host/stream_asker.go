package main

import (
	"context"
	"errors"
	"slices"
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
	host.Question

	over  bool
	reply chan host.Reply
}

func newStreamAsker(later func() host.Asker) *streamAsker {
	return &streamAsker{later: later, questions: make(map[string]*streamQuestion), over: make(chan struct{})}
}

var errInputEnded = errors.New("the input has ended, so that no answer can come")

// expect makes a question known before it goes out.
func (s *streamAsker) expect(question host.Question) *streamQuestion {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.questions[question.ID]
	if q == nil {
		q = &streamQuestion{Question: question, reply: make(chan host.Reply, 1)}
		s.questions[question.ID] = q
	}
	return q
}

// Carries is true of every kind.
func (s *streamAsker) Carries(kind host.QuestionKind) bool {
	return slices.Contains(host.Kinds(), kind)
}

// Ask waits for the answer to a question.
func (s *streamAsker) Ask(ctx context.Context, question host.Question) (host.Reply, error) {
	if !s.Carries(question.Kind) {
		return host.Reply{}, host.ErrNobody
	}
	q := s.expect(question)
	defer s.end(question.ID)
	var reply host.Reply
	select {
	case reply = <-q.reply:
	case <-s.over:
		select {
		case reply = <-q.reply: // it came just before the end
		default:
			return host.Reply{}, errInputEnded
		}
	case <-ctx.Done():
		return host.Reply{}, context.Cause(ctx)
	}
	if reply.Answer == host.AnswerLater {
		return s.keep(ctx, question)
	}
	return reply, nil
}

// keep keeps a question for another process.
func (s *streamAsker) keep(ctx context.Context, question host.Question) (host.Reply, error) {
	later := s.later()
	if later == nil {
		return host.Reply{}, errors.New("there is no place to keep a question for later")
	}
	return later.Ask(ctx, question)
}

// end closes questions, all of them expected before, whose calls have ended: an answer
// that comes from now on is refused.
func (s *streamAsker) end(questions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range questions {
		s.questions[id] = &streamQuestion{over: true} // what it asked is not needed any more
	}
}

// answer takes an answer that came in. One that is refused leaves the question
// open.
func (s *streamAsker) answer(a stream.Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.questions[a.Question]
	switch {
	case q == nil:
		return abi.Errorf(abi.CodeNotFound, "there is no question %.100q", a.Question)
	case q.over:
		return abi.Errorf(abi.CodeNotFound, "the question %.100q is over: it was answered, or its call has ended", a.Question)
	}
	reply, err := q.reading(a)
	if err != nil {
		return err
	}
	q.over = true
	q.reply <- reply
	return nil
}

// reading is what an answer says to the question.
func (q *streamQuestion) reading(a stream.Answer) (reply host.Reply, err error) {
	reply = host.Reply{Answer: a.Answer, Message: a.Message, EndTurn: a.EndTurn, Input: a.Input, Content: a.Content}
	switch {
	case q.Approval == nil && (a.EndTurn || a.Remember != "" || a.Input != nil):
		return reply, abi.Errorf(abi.CodeInvalidInput, "the question %.100q is no permission, so its answer has no end_turn, remember or input", a.Question)
	case q.Approval == nil && a.Answer == host.AnswerAllow:
		reply.Content, err = q.Accept(a.Content)
	case a.Content != nil:
		return reply, abi.Errorf(abi.CodeInvalidInput, "an answer to %.100q has content only where it accepts what a tool asked", a.Question)
	case a.Remember != "":
		if reply.Remember = q.option(a.Remember); reply.Remember == nil {
			err = abi.Errorf(abi.CodeInvalidInput, "the question %.100q has no offer for the scope %.100q", a.Question, a.Remember)
		}
	}
	return reply, err
}

// option is the one for a target, or nil.
func (q *streamQuestion) option(target host.RuleTarget) *host.RememberOption {
	for i := range q.Approval.Remember {
		if q.Approval.Remember[i].Target == target {
			return &q.Approval.Remember[i]
		}
	}
	return nil
}

// close says that no more answers come.
func (s *streamAsker) close() { close(s.over) }
