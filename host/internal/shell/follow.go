package shell

import (
	"context"
	"time"

	"github.com/toolquay/toolquay/abi"
)

const (
	// grace is how long a command may take to end when it is told to, and hurry the same for
	// a cancelled call.
	grace = time.Second
	hurry = 200 * time.Millisecond
	// patience is how long a call waits for the end of a command at its limit, and lastly
	// the same for a cancelled call.
	patience = 1700 * time.Millisecond
	lastly   = 4500 * time.Millisecond
)

// follow waits for the command's end, or for its move to the background.
func (r *run) follow(ctx context.Context) (abi.Answer, error) {
	limit := time.After(r.timeout())
	var budget <-chan time.Time // never
	if d := r.times.Budget; d > 0 && r.movable() {
		budget = time.After(d)
	}
	progress := progress{out: r.out.all, tell: r.scope.Report, next: time.After(reportAfter)}
	var why cause
	for {
		select {
		case <-r.over:
			return r.answer(why)
		case <-ctx.Done():
			return r.giveUp(ctx)
		case <-limit:
			if r.times.AtLimit == LimitBackground && r.movable() {
				answer, err := r.move(abi.BackgroundTimeout)
				if err == nil {
					return answer, nil
				}
				why.note = "It could not go on in the background: " + err.Error() + "."
			}
			why.timedOut = true
			return r.endNow(ctx, why)
		case <-budget:
			if answer, err := r.move(abi.BackgroundBudget); err == nil {
				return answer, nil
			}
		case <-r.moved:
			if answer, err := r.move(abi.BackgroundPerson); err == nil {
				return answer, nil
			}
		case <-r.out.full:
			return r.endNow(ctx, why)
		case <-progress.next:
			progress.send()
		}
	}
}

// endNow ends the command and answers.
func (r *run) endNow(ctx context.Context, why cause) (abi.Answer, error) {
	r.Stop(grace)
	select {
	case <-r.over:
	case <-ctx.Done():
		return r.giveUp(ctx)
	case <-time.After(patience):
		return r.leave(why)
	}
	return r.answer(why)
}

// leave answers for a command that does not end because it waits in the system. The answer
// has the output so far.
func (r *run) leave(why cause) (abi.Answer, error) {
	ok := abi.ShellOK{
		Sandboxed: r.held.sandboxed, Duration: time.Since(r.began).Milliseconds(),
		Exit: exitKilled, TimedOut: why.timedOut, Timeout: r.timeout().Milliseconds(),
		Note: joined(why.note, "It did not end when it was killed, and is still being ended."),
	}
	body, _, err := r.out.tell(&ok, maxBody)
	go func() {
		<-r.over
		r.forget()
	}()
	if err != nil {
		return abi.Answer{}, err
	}
	return answerOf(ok, body), nil
}

// giveUp ends the command of a cancelled call. It returns when nothing of it is left, or when
// waiting does not help.
func (r *run) giveUp(ctx context.Context) (abi.Answer, error) {
	r.Stop(hurry)
	select {
	case <-r.over:
		r.forget()
	case <-time.After(lastly):
		go func() {
			<-r.over
			r.forget()
		}()
	}
	return abi.Answer{}, givenUp(ctx)
}
