package approvals

import (
	"context"
	"time"

	"github.com/toolquay/toolquay/host"
)

// Func is a function that asks.
type Func func(ctx context.Context, a host.Approval) (host.Reply, error)

// Ask calls the function.
func (f Func) Ask(ctx context.Context, a host.Approval) (host.Reply, error) { return f(ctx, a) }

// Deny is nobody to ask: it denies everything, with a message for the model. A
// session that is headless for good has no asker at all, which lets the host say
// which rule would help; Deny is for those who are away for a while.
func Deny(message string) host.Asker {
	return Func(func(context.Context, host.Approval) (host.Reply, error) {
		return host.Reply{Answer: host.AnswerDeny, Message: message}, nil
	})
}

// WithTimeout gives the person limit to answer, and then asks another way: one
// that keeps the question ([Durable]), or denies it ([Deny]). Which of an answer
// and the end of the time came first is decided by the asker, once: an answer it
// returns counts.
func WithTimeout(asker host.Asker, limit time.Duration, away host.Asker) host.Asker {
	return Func(func(ctx context.Context, a host.Approval) (host.Reply, error) {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		reply, err := asker.Ask(limited, a)
		if err == nil || limited.Err() == nil || ctx.Err() != nil {
			return reply, err
		}
		return away.Ask(ctx, a)
	})
}
