package storage

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// TaskOptions bound the background tasks of a session.
type TaskOptions struct {
	// Begin says that tasks may begin. Without it, those of earlier processes can still be
	// read.
	Begin bool
	// MaxRunning is how many run at once at most; 0 is the default.
	MaxRunning int
	// Notify, if not nil, is told of each task that begins or ends. It must return soon.
	Notify func(tasks.Info)
}

// openTasks opens the background tasks, with those that an earlier process left; nil where
// there can be none.
func openTasks(dir *sessiondir.Dir, o *Options) (*tasks.Registry, error) {
	if o.Tasks == nil || dir == nil && !o.Tasks.Begin {
		return nil, nil
	}
	options := tasks.Options{Dir: dir, MaxRunning: o.Tasks.MaxRunning, Notify: o.Tasks.Notify, Logger: o.Logger}
	if dir != nil {
		options.Outputs = outputsIn(dir)
	}
	return tasks.Open(options)
}

// EndTasks ends all background tasks. It fails where some have not ended in time.
func (s *Session) EndTasks(ctx context.Context) error {
	if s.tasks == nil {
		return nil
	}
	return s.tasks.Close(ctx)
}

// Notice tells a model, once, which background tasks have ended; empty where none has.
func (s *Session) Notice() string {
	if s.tasks == nil {
		return ""
	}
	return noticeOf(s.tasks.Notices())
}

// maxNotices is how many ended tasks one notice describes: a host that starts again may
// have lost a thousand.
const maxNotices = 10

// noticeOf describes ended tasks, one a line.
func noticeOf(ended []tasks.Info) string {
	var lines []string
	for _, t := range ended[:min(len(ended), maxNotices)] {
		lines = append(lines, tasks.Notice(t))
	}
	if more := len(ended) - maxNotices; more > 0 {
		lines = append(lines, fmt.Sprintf("And %d more background tasks have ended.", more))
	}
	return strings.Join(lines, "\n")
}
