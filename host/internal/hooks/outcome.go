package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// Outcome is what the hooks of an event came to together.
type Outcome struct {
	// Verdict is the strictest one, before the call; None is no opinion.
	Verdict permissions.Verdict
	// Reason says for each hook with that verdict which it is and why.
	Reason string
	// UpdatedInput, if it is not nil, replaces the call's input: canonical, and
	// not yet validated. The verdict is about it.
	UpdatedInput json.RawMessage
	// UpdatedOutput, if it is not nil, replaces what the model is shown of the
	// call; see [Outcome.Rewrite].
	UpdatedOutput []abi.Block
	// Contexts are to be added to what the model is told, and Feedback, after the
	// call, is what hooks have against it, for the model too.
	Contexts []string
	Feedback []string
	// Worktree is the directory that a hook made at WorktreeCreated; empty is none.
	Worktree string
	// Stop says that the loop ends after this call.
	Stop       bool
	StopReason string
	// Messages are for the user.
	Messages []string
	// Records tell of each run of a hook, for events and logs.
	Records []Record
}

// Record tells of one run of a hook.
type Record struct {
	Hook    string
	Source  permissions.Source
	Event   Event
	Started time.Time
	Took    time.Duration
	// Exit is a command's exit status; -1 where there was none.
	Exit int
	// Verdict is what it came to: Ask where it failed before a call.
	Verdict permissions.Verdict
	// Err is why the hook failed, or nil.
	Err error
}

// Answer is the outcome as evidence for a decision, or nil where the hooks have no
// opinion.
func (o *Outcome) Answer() *permissions.HookAnswer {
	if o.Verdict == permissions.None {
		return nil
	}
	return &permissions.HookAnswer{Verdict: o.Verdict, Reason: o.Reason}
}

// Rewrite returns a result as the hooks want it shown. Where they replaced the
// output, what else the result says of it goes too: it would let through what was
// taken out. Whether it is an error stays.
func (o *Outcome) Rewrite(r abi.ToolResult) abi.ToolResult {
	if o.UpdatedOutput == nil {
		return r
	}
	r.Content, r.Structured, r.Meta, r.Messages = o.UpdatedOutput, nil, nil, nil
	if r.Error != nil {
		r.Error = &abi.Error{Code: r.Error.Code, Message: "a hook replaced the message"}
	}
	return r
}

// settleRewriting finds the input that the hooks wrote, if any did, and those of
// them that have not judged it: they wrote none, or another, which conflicts. An
// allow of theirs was said of the former input and is taken back.
func settleRewriting(answers []answer) (updated json.RawMessage, others []*hook) {
	first := slices.IndexFunc(answers, func(a answer) bool { return a.out.UpdatedInput != nil })
	if first < 0 {
		return nil, nil
	}
	updated = answers[first].out.UpdatedInput
	for i := range answers {
		a := &answers[i]
		if bytes.Equal(a.out.UpdatedInput, updated) {
			continue
		}
		others = append(others, a.hook)
		if a.out.UpdatedInput != nil {
			a.conflict()
		}
		if a.out.Verdict == permissions.Allow {
			a.out.Verdict = permissions.None
		}
	}
	return updated, others
}

// conflict makes an answer ask that rewrites the input otherwise than another.
func (a *answer) conflict() {
	if !permissions.Ask.Worse(a.out.Verdict) {
		return
	}
	a.out.Verdict, a.out.Reason = permissions.Ask, "it rewrites the input otherwise than another hook"
	a.record.Verdict = permissions.Ask
}

func refused(answers []answer) bool {
	return slices.ContainsFunc(answers, func(a answer) bool { return a.out.Verdict == permissions.Deny })
}

// join joins answers that are about the same input.
func join(answers []answer) Outcome {
	var o Outcome
	for i := range answers {
		o.add(&answers[i])
	}
	if len(answers) > 0 && answers[0].record.Event == PreToolUse {
		o.judge(answers)
	}
	return o
}

// add takes over what needs no joining.
func (o *Outcome) add(a *answer) {
	out := &a.out
	o.Records = append(o.Records, a.record)
	if out.Context != "" && !slices.Contains(o.Contexts, out.Context) {
		o.Contexts = append(o.Contexts, out.Context)
	}
	if out.Message != "" {
		message := fmt.Sprintf("%s: %s", a.hook, out.Message)
		if !slices.Contains(o.Messages, message) {
			o.Messages = append(o.Messages, message)
		}
	}
	if out.Stop {
		o.StopReason = cmp.Or(o.StopReason, out.StopReason)
		o.Stop = true
	}
	if out.UpdatedOutput != nil {
		if o.UpdatedOutput != nil {
			o.Messages = append(o.Messages, fmt.Sprintf("%s: it replaced the output of another hook", a.hook))
		}
		o.UpdatedOutput = out.UpdatedOutput
	}
	if out.Worktree != "" {
		if o.Worktree != "" && o.Worktree != out.Worktree {
			o.Feedback = append(o.Feedback, fmt.Sprintf("%s: it made %s, and another hook made %s", a.hook, out.Worktree, o.Worktree))
		}
		o.Worktree = out.Worktree
	}
	if out.Verdict == permissions.Deny && a.record.Event != PreToolUse {
		o.Feedback = append(o.Feedback, fmt.Sprintf("%s: %s", a.hook, cmp.Or(out.Reason, noReason)))
	}
}

// judge joins the verdicts.
func (o *Outcome) judge(answers []answer) {
	for i := range answers {
		o.Verdict = o.Verdict.Join(answers[i].out.Verdict)
	}
	if o.Verdict == permissions.None {
		return
	}
	var reasons []string
	for i := range answers {
		a := &answers[i]
		if a.out.Verdict != o.Verdict {
			continue
		}
		reason := fmt.Sprintf("the %s says %s", a.hook, o.Verdict)
		if a.out.Reason != "" {
			reason += ": " + a.out.Reason
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	o.Reason = strings.Join(reasons, "; ")
}
