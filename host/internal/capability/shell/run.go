package shell

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gitevents"
	"github.com/toolquay/toolquay/host/internal/process"
)

const (
	// grace is how long a command may take to end by itself when it is told to, and
	// hurry the same where a call was given up.
	grace = time.Second
	hurry = 200 * time.Millisecond
	// patience is how long a call waits for the end of a command at its limit, and
	// lastly how long where it was given up.
	patience = 1700 * time.Millisecond
	lastly   = 4500 * time.Millisecond
	// stuck is how long what a command left behind may take to go.
	stuck = 10 * time.Second
)

// run is a command that runs.
type run struct {
	p      *plan
	scope  capability.Scope
	launch *launch
	out    *output
	child  child
	began  time.Time
	git    *gitevents.Watch
	// moved gets a value when a person wants it in the background.
	moved chan struct{}
	// over is closed when it ended and all of its output is read. What follows is set
	// by then.
	over   chan struct{}
	status process.Status
	cwd    string
	took   time.Duration
	// made tells of protected names that are new.
	made string
}

// start starts the command.
func (p *plan) start(ctx context.Context) (*run, error) {
	if ctx.Err() != nil {
		return nil, givenUp(ctx)
	}
	policy, err := p.scope.Shell.SandboxPolicy(ctx, p.confined(), !p.readOnly())
	if err != nil {
		return nil, err
	}
	if err := p.stays(policy.Working); err != nil {
		return nil, err
	}
	out := newOutput(p.args.Separate && !p.args.Background, p.c.opts.MaxOutput, p.spool)
	l := &launch{p: p, policy: policy, out: out, report: newReport(policy.Temp, p.scope.Cwd)}
	r := &run{
		p: p, scope: p.scope, launch: l, out: out, began: time.Now(), git: gitevents.Begin(p.command, p.scope.Cwd),
		moved: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if r.child, err = l.start(ctx); err != nil {
		l.undo(r.discard)
		return nil, err
	}
	go r.attend()
	return r, nil
}

// discard lets go of all that was made for a command that did not run.
func (r *run) discard() {
	r.out.finish()
	r.launch.report.read()
	r.launch.close()
	r.forget()
}

// spool makes a file for output.
func (p *plan) spool() (*os.File, error) { return p.scope.Shell.Spool(p.scope.Call) }

// attend waits for the command's end, reads what is left of its output, and lets go of
// everything but that.
func (r *run) attend() {
	defer close(r.over)
	<-r.child.Done()
	select {
	case <-r.child.Gone():
	case <-time.After(stuck): // whatever it waits for in the system
	}
	r.out.finish()
	r.took = time.Since(r.began)
	r.status = r.child.Status()
	r.cwd = cmp.Or(r.launch.dir, r.launch.report.read())
	r.launch.close()
	if r.launch.policy.Made != nil {
		r.made = r.launch.policy.Made()
	}
}

// givenUp is the error of a call that is over.
func givenUp(ctx context.Context) error {
	return abi.Errorf(abi.CodeOfEnd(ctx), "the command was given up: %w", context.Cause(ctx))
}

// forget lets go of the output.
func (r *run) forget() {
	if err := r.out.release(); err != nil {
		r.p.c.opts.Logger.Warn("the output of a command was left behind", "call", r.scope.Call.ID, "error", err)
	}
}

// ended is what a call knows of why its command ended, beside its status.
type ended struct {
	timedOut bool
	note     string
}

// follow waits with the call for the command's end, or for its move to the background.
func (r *run) follow(ctx context.Context) (abi.Answer, error) {
	limit := time.NewTimer(r.p.timeout())
	defer limit.Stop()
	budget := r.budget()
	defer budget.Stop()
	reports := newReports(r)
	defer reports.stop()
	var end ended
	for {
		select {
		case <-r.over:
			return r.answer(end)
		case <-ctx.Done():
			return r.giveUp(ctx)
		case <-limit.C:
			if r.p.c.opts.Time.AtLimit == LimitBackground && r.movable() {
				answer, err := r.move(abi.BackgroundTimeout)
				if err == nil {
					return answer, nil
				}
				end.note = "It could not go on in the background: " + err.Error() + "."
			}
			end.timedOut = true
			return r.end(ctx, end)
		case <-budget.C:
			if answer, err := r.move(abi.BackgroundBudget); err == nil {
				return answer, nil
			}
		case <-r.moved:
			if answer, err := r.move(abi.BackgroundPerson); err == nil {
				return answer, nil
			}
		case <-r.out.full:
			return r.end(ctx, end)
		case <-reports.due():
			reports.send()
		}
	}
}

// movable reports whether the command may go on in the background unasked.
func (r *run) movable() bool { return r.scope.Tasks != nil && !r.p.onlySleeps() }

// budget is the time after which the command moves to the background.
func (r *run) budget() *time.Timer {
	if d := r.p.c.opts.Time.Budget; d > 0 && r.movable() {
		return time.NewTimer(d)
	}
	never := time.NewTimer(time.Hour)
	never.Stop()
	return never
}

// end ends the command, and answers with what there is then.
func (r *run) end(ctx context.Context, why ended) (abi.Answer, error) {
	r.child.Stop(grace)
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-r.over:
	case <-ctx.Done():
		return r.giveUp(ctx)
	case <-wait.C:
		return r.leave(why)
	}
	return r.answer(why)
}

// leave answers though the command has not ended: it sits in the system, where nothing
// can end it. What there is of its output is told; the rest goes with it.
func (r *run) leave(why ended) (abi.Answer, error) {
	ok := r.head()
	ok.Exit, ok.TimedOut, ok.Timeout = exitKilled, why.timedOut, r.p.timeout().Milliseconds()
	ok.Duration = time.Since(r.began).Milliseconds()
	ok.Note = joined(why.note, "It did not end when it was killed, and is still being ended.")
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

// giveUp ends the command of a call that is over. It returns when nothing of it is
// left, or when waiting does not help.
func (r *run) giveUp(ctx context.Context) (abi.Answer, error) {
	r.child.Stop(hurry)
	wait := time.NewTimer(lastly)
	defer wait.Stop()
	select {
	case <-r.over:
		r.forget()
	case <-wait.C:
		go func() {
			<-r.over
			r.forget()
		}()
	}
	return abi.Answer{}, givenUp(ctx)
}
