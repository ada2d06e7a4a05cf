package hosttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolquay/toolquay/host"
)

// Asker is a scripted person, for [host.SessionOptions.Asker], who answers questions of every
// kind. It records every question. It is safe for concurrent use.
type Asker struct {
	answer func(context.Context, host.Question) (host.Reply, error)

	mu        sync.Mutex
	replies   []host.Reply
	questions []host.Question
	errs      []error
}

// NewAsker returns a person who gives these answers, one after the other, in the order in
// which questions come. A question without an answer is an error, and so denied.
func NewAsker(replies ...host.Reply) *Asker { return &Asker{replies: replies} }

// NewAskerFunc returns a person who answers by a function, which may be called from several
// goroutines at once.
func NewAskerFunc(answer func(context.Context, host.Question) (host.Reply, error)) *Asker {
	return &Asker{answer: answer}
}

// Allow is an answer that allows what is asked about, once, or agrees to open a URL.
func Allow() host.Reply { return host.Reply{Answer: host.AnswerAllow} }

// Fill is an answer to a form: content is what its fields are, by their names. It panics where
// that cannot be written as JSON.
func Fill(content any) host.Reply {
	raw, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return host.Reply{Answer: host.AnswerAllow, Content: raw}
}

// Deny is an answer that denies or declines it, with a message for the model.
func Deny(message string) host.Reply { return host.Reply{Answer: host.AnswerDeny, Message: message} }

var _ host.Asker = (*Asker)(nil)

// Carries is true.
func (a *Asker) Carries(host.QuestionKind) bool { return true }

// Ask records the question and answers it.
func (a *Asker) Ask(ctx context.Context, q host.Question) (host.Reply, error) {
	a.mu.Lock()
	a.questions = append(a.questions, q)
	if a.answer != nil {
		a.mu.Unlock()
		return a.answer(ctx, q)
	}
	defer a.mu.Unlock()
	if len(a.replies) == 0 {
		err := fmt.Errorf("hosttest: question %d has no answer: %s %s", len(a.questions), q.Tool, q.Title)
		a.errs = append(a.errs, err)
		return host.Reply{}, err
	}
	reply := a.replies[0]
	a.replies = a.replies[1:]
	return reply, nil
}

// Questions returns the questions so far, in the order in which they came.
func (a *Asker) Questions() []host.Question {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.questions)
}

// Err returns an error for each question that had no answer, and for answers that were
// not needed.
func (a *Asker) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := errors.Join(a.errs...)
	if len(a.replies) > 0 {
		err = errors.Join(err, fmt.Errorf("hosttest: %d answers were not needed", len(a.replies)))
	}
	return err
}

// Choose is an answer to a choice: what was chosen of each question, by the question, as a label,
// the person's own words, or a list of both.
func Choose(answers map[string]any) host.Reply { return Fill(map[string]any{"answers": answers}) }

// Accept is an answer that accepts a plan, as a says.
func Accept(a host.Accepted) host.Reply { return Fill(a) }
