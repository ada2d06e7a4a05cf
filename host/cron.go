package host

import (
	"context"
	"iter"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/cron"
)

// cron makes the scheduled prompts of a host.
func (o *Options) cron() *cron.Cron {
	options := cron.Options{Now: o.Plugins.Clock, Logger: o.Observe.Logger}
	if o.Storage.Cron != "" && o.Paths.Project != "" {
		options.Store = cron.NewStore(o.Storage.Cron, o.Paths.Project, o.Observe.Logger)
	}
	return cron.New(options)
}

// Prompts are the prompts that models scheduled, as they come due: those of the session and, for
// the main agent, the durable ones of the project, which one process tells of all that run. It goes
// on until ctx or the session ends, and needs [SessionOptions].Prompts. One comes when no turn of
// the session runs, and observers were told ([EventCron]); the body may run one. Give the prompt to
// the model as a message:
//
//	for p := range session.Prompts(ctx) {
//		converse(session, p.Prompt)
//	}
//
// A prompt is told when the body has ended. Where the loop ends in it, or the process, the next loop
// gets the prompt again: a durable one that of any process. One loop at a time gets prompts.
func (s *Session) Prompts(ctx context.Context) iter.Seq[capability.DuePrompt] {
	return func(yield func(capability.DuePrompt) bool) { s.core.Prompts(ctx, s.telling(yield)) }
}

// DuePrompts are those of [Session.Prompts] that are due by now, whether or not a turn runs, for who
// can give them to the model at times only. They are told in the same way; while a loop over the others
// goes on there are none.
func (s *Session) DuePrompts(ctx context.Context) iter.Seq[capability.DuePrompt] {
	return func(yield func(capability.DuePrompt) bool) { s.core.DuePrompts(ctx, s.telling(yield)) }
}

// telling has observers told of a prompt before it is taken.
func (s *Session) telling(take func(capability.DuePrompt) bool) func(capability.DuePrompt) bool {
	return func(p capability.DuePrompt) bool {
		s.news.cron(p)
		s.news.flush()
		return take(p)
	}
}

// ScheduledPrompts are the durable scheduled prompts of a project, in the order in which they come
// due.
type ScheduledPrompts struct {
	Jobs []abi.CronJob
	// Notes say what could not be read, for people.
	Notes []string
}

// ReadScheduled reads the durable prompts of a project from the directory of all, see
// [StorageOptions].Cron. It changes nothing.
func ReadScheduled(dir, project string) (ScheduledPrompts, error) {
	jobs, notes, err := cron.Read(dir, project)
	return ScheduledPrompts{jobs, notes}, err
}

// DeleteScheduled deletes a durable prompt of a project. The error is of [abi.CodeNotFound] where
// there is none of the id.
func DeleteScheduled(ctx context.Context, dir, project, id string) (abi.CronJob, error) {
	return cron.Delete(ctx, dir, project, id)
}
