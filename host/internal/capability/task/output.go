package task

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

const (
	// DefaultTimeout is for how long a task's end is waited for.
	DefaultTimeout = 30 * time.Second
	// MaxTimeout is the longest that may be asked for.
	MaxTimeout = 10 * time.Minute
	// maxFilter bounds a filter, in bytes: how long matching takes depends on it.
	maxFilter = 4 << 10
	// tellOutput is how often it is told what is waited for.
	tellOutput = time.Second
)

// outputPlan is one task.output.
type outputPlan struct {
	capability.OfSession
	scope   capability.Scope
	id      string
	wait    time.Duration // 0 is not at all
	reading capability.TaskRead
}

func planOutput(scope capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.TaskOutputArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	p := &outputPlan{OfSession: targetTasks, scope: scope, id: args.ID}
	if args.ID == "" {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the id of the task is missing")
	}
	if args.Timeout < 0 || args.Timeout > MaxTimeout.Milliseconds() {
		return nil, abi.Errorf(abi.CodeInvalidInput, "a time-out of %d ms; it is 0 to %d", args.Timeout, MaxTimeout.Milliseconds())
	}
	if args.Block && !scope.Rehearse { // what it would wait for cannot be known
		p.wait = DefaultTimeout
		if args.Timeout > 0 {
			p.wait = time.Duration(args.Timeout) * time.Millisecond
		}
	}
	p.reading.Peek = scope.Rehearse
	var err error
	if p.reading.Filter, err = filterOf(args.Filter); err != nil {
		return nil, err
	}
	return p, nil
}

func filterOf(text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxFilter {
		return nil, abi.Errorf(abi.CodeInvalidInput, "a filter of %d bytes is over the limit of %d", len(text), maxFilter)
	}
	filter, err := regexp.Compile(text)
	if err != nil {
		return nil, abi.Errorf(abi.CodeInvalidInput, "the filter is no regular expression (RE2): %w", err)
	}
	return filter, nil
}

// Do waits, where that is wanted, and reads.
func (p *outputPlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	if err := may(ctx, &p.scope, p.id); err != nil {
		return abi.Answer{}, err
	}
	if err := p.await(ctx); err != nil {
		return abi.Answer{}, err
	}
	read, err := p.scope.Tasks.Read(ctx, p.id, p.reading)
	if err != nil {
		return abi.Answer{}, err
	}
	ok := answerOf(&read.Task)
	ok.From, ok.To, ok.Skipped = read.From, read.To, read.Skipped
	ok.TimedOut = p.wait > 0 && !ok.Ended
	text := bytes.ToValidUTF8(read.Text, []byte("\uFFFD"))
	return abi.Answer{OK: ok, Body: abi.Bytes(text), BodyType: abi.PartText, Size: int64(len(text))}, nil
}

// await waits for the task's end, and tells how it goes on.
func (p *outputPlan) await(ctx context.Context) error {
	if p.wait <= 0 {
		return nil
	}
	var told int64 = -1
	for end := time.Now().Add(p.wait); ; {
		left := time.Until(end)
		t, err := p.scope.Tasks.Wait(ctx, p.id, min(left, tellOutput))
		if err != nil || t.Over() || left <= tellOutput {
			return err
		}
		if told < 0 {
			told = t.Shown
		}
		p.scope.Report(abi.Progress{Message: waiting(&t, told)})
		told = t.Bytes
	}
}

// waiting says how far a task is that is waited for.
func waiting(t *capability.TaskInfo, told int64) string {
	text := fmt.Sprintf("%s has run for %v", t.ID, t.Elapsed().Round(time.Second))
	if n := t.Bytes - told; n > 0 {
		text += fmt.Sprintf("; %d new bytes of output", n)
	}
	return text
}
