package task

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
)

// What of the session is used.
const (
	targetTasks = "tasks"
	targetSleep = "sleep"
)

// may fails where a call has no say over a task. A plugin has over those that its own
// tools began; tools in the box and the embedder's act for the model, and have over all.
// To a plugin others' tasks are not there: it does not learn which there are.
func may(ctx context.Context, scope *capability.Scope, id string) error {
	plugin := scope.Call.Plugin
	if plugin == "" {
		return nil
	}
	t, err := scope.Tasks.Wait(ctx, id, 0)
	if ctx.Err() != nil {
		return err
	}
	if err != nil || t.Plugin != plugin {
		return abi.Errorf(abi.CodeNotFound, "there is no task %q that a tool of %s began; those of others are not for it to read or end", id, plugin)
	}
	return nil
}

// answerOf is what an answer says of a task.
func answerOf(t *capability.TaskInfo) abi.TaskOK {
	return abi.TaskOK{
		ID: t.ID, Kind: t.Kind, State: t.State, Ended: t.Over(), Title: t.Title,
		Exit: t.Exit, Reason: t.Reason, Left: t.Left, OutputFile: t.Output,
		From: t.Shown, To: t.Shown, Bytes: t.Bytes, Elapsed: t.Elapsed().Milliseconds(),
	}
}
