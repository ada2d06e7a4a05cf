package approvals

import (
	"context"
	"fmt"
	"time"

	"github.com/toolquay/toolquay/host"
)

// Func is a function that asks for approvals. Other questions are not asked.
type Func func(ctx context.Context, a host.Approval) (host.Reply, error)

// Carries is true of approvals.
func (f Func) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

// Ask calls the function.
func (f Func) Ask(ctx context.Context, q host.Question) (host.Reply, error) {
	if q.Approval == nil {
		return host.Reply{}, host.ErrNobody
	}
	return f(ctx, *q.Approval)
}

// AnyFunc is a function that asks questions of every kind.
type AnyFunc func(ctx context.Context, q host.Question) (host.Reply, error)

// Carries is true.
func (f AnyFunc) Carries(host.QuestionKind) bool { return true }

// Ask calls the function.
func (f AnyFunc) Ask(ctx context.Context, q host.Question) (host.Reply, error) { return f(ctx, q) }

// Deny is nobody to ask: it denies every approval, with a message for the model. A
// session that is headless for good has no asker at all, which lets the host say
// which rule would help; Deny is for those who are away for a while.
func Deny(message string) host.Asker {
	return Func(func(context.Context, host.Approval) (host.Reply, error) {
		return host.Reply{Answer: host.AnswerDeny, Message: message}, nil
	})
}

// asker asks by functions.
type asker struct {
	AnyFunc

	carries func(host.QuestionKind) bool
}

// Carries calls the function.
func (a asker) Carries(kind host.QuestionKind) bool { return a.carries(kind) }

// WithTimeout gives the person limit to answer, and then asks another way: one
// that keeps the question ([Durable]), or denies it ([Deny]). Which of an answer
// and the end of the time came first is decided by the asker, once: an answer it
// returns counts. A question that the other way does not carry has no answer then; one that
// the person's own does not carry is asked the other way at once.
func WithTimeout(person host.Asker, limit time.Duration, away host.Asker) host.Asker {
	ask := func(ctx context.Context, q host.Question) (host.Reply, error) {
		if !person.Carries(q.Kind) {
			return away.Ask(ctx, q)
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		reply, err := person.Ask(limited, q)
		switch {
		case err == nil || limited.Err() == nil || ctx.Err() != nil:
			return reply, err
		case !away.Carries(q.Kind):
			return host.Reply{}, fmt.Errorf("nobody answered within %s", limit)
		}
		return away.Ask(ctx, q)
	}
	return asker{ask, func(kind host.QuestionKind) bool { return person.Carries(kind) || away.Carries(kind) }}
}
