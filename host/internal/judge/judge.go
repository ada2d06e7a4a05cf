package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/permissions"
)

// What [Options] are where they are zero.
const (
	DefaultTimeout       = 15 * time.Second
	DefaultMaxConcurrent = 4
	DefaultMaxQuestions  = 500
	DefaultMaxTokens     = 2048 // room for models that think before they answer
)

// Options configure a [Judge].
type Options struct {
	Model Model
	// Timeout is how long an answer is awaited, from the time of the question.
	Timeout time.Duration
	// MaxConcurrent is how many questions are with the model at once; others wait.
	MaxConcurrent int
	// MaxQuestions is how many questions the model is asked in all; then the user
	// is. Those that were cancelled count, once they were with the model.
	MaxQuestions int
	// MaxTokens is the longest answer of the model, its thinking included.
	MaxTokens int
}

// Judge asks a model. It is safe for concurrent use. One session has one, as the
// number of its questions is bounded. A nil one has no model, and asks the user.
type Judge struct {
	options Options
	slots   chan struct{}
	asked   atomic.Int64
}

// New makes a judge. It fails without a model or with limits below 0.
func New(o Options) (*Judge, error) {
	if o.Model == nil {
		return nil, errors.New("a judge needs a model")
	}
	if o.Timeout < 0 || o.MaxConcurrent < 0 || o.MaxQuestions < 0 || o.MaxTokens < 0 {
		return nil, errors.New("a judge's limits must not be below 0")
	}
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.MaxConcurrent = cmp.Or(o.MaxConcurrent, DefaultMaxConcurrent)
	o.MaxQuestions = cmp.Or(o.MaxQuestions, DefaultMaxQuestions)
	o.MaxTokens = cmp.Or(o.MaxTokens, DefaultMaxTokens)
	return &Judge{options: o, slots: make(chan struct{}, o.MaxConcurrent)}, nil
}

// Asked is how many questions the model was asked.
func (j *Judge) Asked() int {
	if j == nil {
		return 0
	}
	return int(min(j.asked.Load(), int64(j.options.MaxQuestions)))
}

// Pending is an answer under way.
type Pending struct {
	question Question
	digest   digest
	asked    time.Time
	cancel   context.CancelCauseFunc
	once     sync.Once
	done     chan struct{} // closed when answer is there
	answer   Answer
}

var (
	errNoJudge   = errors.New("no model judge is configured")
	errCancelled = errors.New("the question was withdrawn")
	errTimeout   = errors.New("the model did not answer in time")
)

// Speculate starts to find an answer, which may turn out not to be needed: cancel
// it then. One that is neither awaited nor cancelled ends with its time-out, or
// with ctx.
func (j *Judge) Speculate(ctx context.Context, q Question) *Pending {
	p := &Pending{question: q, asked: time.Now(), done: make(chan struct{})}
	block, err := q.block()
	if err == nil {
		p.digest = digestOf(&q, block)
	}
	if j == nil {
		err = errNoJudge
	}
	if err != nil {
		p.cancel = func(error) {}
		p.settle(permissions.Ask, "", err)
		return p
	}
	ctx, stop := context.WithTimeoutCause(ctx, j.options.Timeout, errTimeout)
	ctx, p.cancel = context.WithCancelCause(ctx)
	context.AfterFunc(ctx, func() { p.settle(permissions.Ask, "", context.Cause(ctx)) })
	go func() {
		defer stop()
		p.settle(j.ask(ctx, block))
	}()
	return p
}

// ask asks the model, when there is room.
func (j *Judge) ask(ctx context.Context, block string) (v permissions.Verdict, reason string, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, reason, err = permissions.None, "", fmt.Errorf("the model's client panicked: %v", r)
		}
	}()
	select {
	case j.slots <- struct{}{}:
		defer func() { <-j.slots }()
	case <-ctx.Done():
		return permissions.None, "", context.Cause(ctx)
	}
	if err := context.Cause(ctx); err != nil {
		return permissions.None, "", err
	}
	if n := j.asked.Add(1); n > int64(j.options.MaxQuestions) {
		return permissions.None, "", fmt.Errorf("the session's %d questions to the model are used up", j.options.MaxQuestions)
	}
	text, err := j.options.Model.Complete(ctx, prompt(newMark(), block, j.options.MaxTokens))
	if cause := context.Cause(ctx); cause != nil {
		err = cause // too late, or why the model has none
	}
	if err != nil {
		return permissions.None, "", err
	}
	v, reason, err = parseAnswer(text)
	if err != nil {
		return permissions.None, "", fmt.Errorf("the model's answer is none: %w", err)
	}
	return v, reason, nil
}

// settle gives the question its answer. The first one stands: the model's, or that
// there is none because the question's context is over.
func (p *Pending) settle(v permissions.Verdict, reason string, err error) {
	p.once.Do(func() {
		p.answer = p.form(v, reason, err)
		close(p.done)
	})
	p.cancel(nil)
}

// form is the one place where an answer allows.
func (p *Pending) form(v permissions.Verdict, reason string, err error) Answer {
	a := Answer{InputHash: p.question.InputHash, Verdict: permissions.Ask, Err: err, Took: time.Since(p.asked)}
	switch {
	case err != nil:
		a.Reason = "the model judge has no answer: " + clean(err.Error())
	default:
		a.Verdict, a.Reason = v, "the model judge says: "+reason
	}
	return a
}

// About reports whether the answer will be about exactly this question: the same
// input, with the same known effects, directories and rules.
func (p *Pending) About(q Question) bool {
	block, err := q.block()
	return err == nil && p.digest != digest{} && digestOf(&q, block) == p.digest
}

// Covers reports whether the answer also answers another question: one on the same
// input, directories and rules, about effects that are all, and exactly, among those
// that the model is asked about.
func (p *Pending) Covers(q Question) bool {
	for _, a := range q.Accesses {
		if !slices.Contains(p.question.Accesses, a) {
			return false
		}
	}
	if len(q.Accesses) == 0 {
		return false
	}
	q.Capability, q.Accesses, q.Unknown = p.question.Capability, p.question.Accesses, p.question.Unknown
	return p.About(q)
}

// Answer waits for the answer. It returns soon after ctx is done, the question's
// time is over or it was cancelled, and says Ask then. An answer that is there is
// given in any case.
func (p *Pending) Answer(ctx context.Context) Answer {
	select {
	case <-p.done:
		return p.answer
	default:
	}
	select {
	case <-p.done:
		return p.answer
	case <-ctx.Done():
		return p.form(permissions.Ask, "", context.Cause(ctx))
	}
}

// Cancel says that the answer is not needed. It may be called more than once, and
// after the answer.
func (p *Pending) Cancel() { p.cancel(errCancelled) }
