package storage

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

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
