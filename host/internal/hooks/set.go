package hooks

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// maxHooks bounds a set, and maxParallel how many hooks of one event run at once.
const (
	maxHooks    = 1000
	maxParallel = 16
)

// Set is a host's hooks. It does not change and is safe for concurrent use; a nil
// one is empty.
type Set struct {
	byEvent map[Event][]*hook
}

// Compile makes a set, in which hooks keep their order. All faults are reported
// together, each with the hook's source; there is no set then, as a guard left
// out would go unnoticed.
func Compile(list []Hook, o Options) (*Set, error) {
	if len(list) > maxHooks {
		return nil, fmt.Errorf("%d hooks; there can be %d", len(list), maxHooks)
	}
	s := &Set{byEvent: map[Event][]*hook{}}
	var errs []error
	for _, one := range list {
		h, err := compile(one, &o)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", h, err))
			continue
		}
		s.byEvent[h.Event] = append(s.byEvent[h.Event], h)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

// For reports whether any hook of an event is for a tool. It allocates nothing, so
// that an Input need be made only where it is true.
func (s *Set) For(e Event, tool string, aliases []string) bool {
	if s == nil {
		return false
	}
	for _, h := range s.byEvent[e] {
		if h.matcher.matches(tool, aliases) {
			return true
		}
	}
	return false
}

func (s *Set) matching(in *Input) []*hook {
	if s == nil {
		return nil
	}
	var found []*hook
	for _, h := range s.byEvent[in.Event] {
		if h.matcher.matches(in.Tool, in.Aliases) {
			found = append(found, h)
		}
	}
	return found
}

// PreToolUse runs the hooks before a call. Cancelling ctx ends them, and what they
// have not said by then asks.
//
// An Outcome with UpdatedInput is about that input: its schema, traits, deny rules
// and the tool's validation are to be gone through again, and its hooks are not.
func (s *Set) PreToolUse(ctx context.Context, in Input) Outcome {
	in.Event = PreToolUse
	found := s.matching(&in)
	answers := askAll(ctx, found, &in)
	updated, others := settleRewriting(answers)
	if updated == nil || refused(answers) {
		return join(answers)
	}
	in.ToolInput = updated
	again := askAll(ctx, others, &in)
	for i := range again {
		if again[i].out.UpdatedInput != nil {
			again[i].conflict()
		}
	}
	o := join(append(answers, again...))
	o.UpdatedInput = updated
	return o
}

// PostToolUse runs the hooks after a call that ran to its end. Its result is
// in.Result.
func (s *Set) PostToolUse(ctx context.Context, in Input) Outcome {
	in.Event = PostToolUse
	return join(askAll(ctx, s.matching(&in), &in))
}

// PostToolUseFailure runs the hooks after a call that could not run to its end. Why
// is in.Err.
func (s *Set) PostToolUseFailure(ctx context.Context, in Input) Outcome {
	in.Event = PostToolUseFailure
	return join(askAll(ctx, s.matching(&in), &in))
}

// During runs the hooks of an event that comes while a call runs, of the task in.Task or the
// worktree in.Worktree. Feedback says what they have against it, failures included; without any
// it may go on.
func (s *Set) During(ctx context.Context, e Event, in Input) Outcome {
	in.Event = e
	return join(askAll(ctx, s.matching(&in), &in))
}

// askAll runs hooks side by side. The answers come in the order of the hooks.
func askAll(ctx context.Context, list []*hook, in *Input) []answer {
	if len(list) == 0 {
		return nil
	}
	// Written once for all commands. Where it fails, each says so.
	doc, err := in.document()
	answers := make([]answer, len(list))
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(len(list), maxParallel) {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				answers[i] = list[i].ask(ctx, in, doc, err)
			}
		})
	}
	done.Wait()
	return answers
}
