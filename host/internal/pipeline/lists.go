package pipeline

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/lists"
)

// lists are the session's lists of work as the call has them.
func (g *judging) lists() capability.Lists {
	return g.core.session().Storage.Lists().For(lists.Caller{
		Agent: g.core.turn.Caller().Agent, Created: g.taskHooks(hooks.TaskCreated), Completed: g.taskHooks(hooks.TaskCompleted),
	})
}

// cron are the prompts that come by the clock as the call has them.
func (g *judging) cron() capability.Cron {
	if jobs := g.core.session().Cron; jobs != nil {
		return jobs.For(g.core.turn.Caller())
	}
	return nil
}

// taskHooks asks the hooks of an event about a task; nil where there are none.
func (g *judging) taskHooks(e hooks.Event) lists.Approve {
	set, contract := g.view.Settings.Hooks, g.tool.Contract()
	if !set.For(e, contract.Name, contract.Aliases) {
		return nil
	}
	return func(ctx context.Context, task abi.WorkItem) error {
		in := g.hookInput()
		in.Task = &task
		o := set.During(ctx, e, in)
		if ctx.Err() != nil {
			return gate.Cancelled(ctx)
		}
		g.core.toldBy(&o)
		return againstTask(e, &task, &o)
	}
}

// againstTask is what hooks have against a task, or nil.
func againstTask(e hooks.Event, task *abi.WorkItem, o *hooks.Outcome) error {
	if len(o.Feedback) == 0 {
		return nil
	}
	why := strings.Join(o.Feedback, "; ")
	if e == hooks.TaskCreated {
		return abi.Errorf(abi.CodeDenied, "the task was not made, as a %s hook refused it: %s", e, why)
	}
	return abi.Errorf(abi.CodeDenied, "task %s was not completed, and is as it was, as a %s hook refused that: %s", task.ID, e, why)
}

// toldBy passes on what hooks say that were asked while the call runs.
func (c *core) toldBy(o *hooks.Outcome) {
	c.tell.Hooks(o)
	for _, text := range o.Contexts {
		if said, err := json.Marshal(text); err == nil {
			c.remarks.put("A hook says: " + string(said))
		}
	}
}
