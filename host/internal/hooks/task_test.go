package hooks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/permissions"
)

// Whatever is no plain agreement is something against a task: it is denied, and so it is where
// a hook fails.
func TestTasks(t *testing.T) {
	t.Parallel()
	answers := func(o hooks.Output, err error) hooks.Func {
		return func(context.Context, hooks.Input) (hooks.Output, error) { return o, err }
	}
	for name, test := range map[string]struct {
		say  hooks.Func
		want string // in the feedback; empty agrees
	}{
		"nothing":  {answers(hooks.Output{}, nil), ""},
		"allow":    {answers(hooks.Output{Verdict: permissions.Allow}, nil), ""},
		"context":  {answers(hooks.Output{Context: "mind the gap"}, nil), ""},
		"stop":     {answers(hooks.Output{Stop: true}, nil), ""},
		"deny":     {answers(hooks.Output{Verdict: permissions.Deny, Reason: "not that"}, nil), `hook "h": not that`},
		"no word":  {answers(hooks.Output{Verdict: permissions.Deny}, nil), `hook "h": it said no, and not why`},
		"ask":      {answers(hooks.Output{Verdict: permissions.Ask}, nil), "nothing can be asked at TaskCreated"},
		"an error": {answers(hooks.Output{}, errors.New("broken")), "broken"},
		"a panic":  {func(context.Context, hooks.Input) (hooks.Output, error) { panic("oh") }, "it panicked: oh"},
		"late": {func(ctx context.Context, _ hooks.Input) (hooks.Output, error) {
			<-ctx.Done()
			return hooks.Output{}, nil
		}, "it ran longer than its limit of 1ms"},
		"rewritten input":  {answers(hooks.Output{UpdatedInput: []byte("{}")}, nil), "updatedInput has no meaning at TaskCreated"},
		"rewritten output": {answers(hooks.Output{UpdatedOutput: []abi.Block{abi.TextBlock("x")}}, nil), "updatedOutput has no meaning at TaskCreated"},
		"a worktree":       {answers(hooks.Output{Worktree: "/x"}, nil), "worktreePath has no meaning at TaskCreated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook := hooks.Hook{Event: hooks.TaskCreated, Matcher: "Task*", Name: "h", Func: test.say}
			if name == "late" {
				hook.Timeout = time.Millisecond
			}
			set, err := hooks.Compile([]hooks.Hook{hook}, hooks.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !set.For(hooks.TaskCreated, "TaskCreate", nil) || set.For(hooks.TaskCompleted, "TaskCreate", nil) || set.For(hooks.TaskCreated, "Bash", nil) {
				t.Error("it is for other events or tools")
			}
			in := hooks.Input{Tool: "TaskCreate", Task: &abi.WorkItem{ID: "1", Subject: "a"}}
			o := set.During(t.Context(), hooks.TaskCreated, in)
			if got := strings.Join(o.Feedback, "; "); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, not %q", got, test.want)
			}
			if len(o.Records) != 1 || o.Records[0].Event != hooks.TaskCreated || o.Verdict != permissions.None {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	want := []hooks.Event{"PreToolUse", "PostToolUse", "PostToolUseFailure", "TaskCreated", "TaskCompleted", "WorktreeCreated", "WorktreeRemoved"}
	if got := hooks.Events(); !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
}
