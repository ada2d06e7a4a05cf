package host

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tasks"
	"github.com/toolquay/toolquay/plugins"
)

// openTasks opens what runs in the session's background, and what an earlier process
// left of it: that can be read also where nothing more runs in the background.
func (s *Session) openTasks() error {
	if !s.backgrounds() && (s.host.options.Shell == nil || s.stored.folder == nil) {
		return nil
	}
	options := tasks.Options{
		Folder: s.stored.folder, MaxRunning: s.host.options.Shell.MaxBackground,
		Notify: s.tellTask, Logger: s.host.options.Logger,
	}
	if f := s.stored.folder; f != nil {
		options.Outputs = filepath.Join(f.Path(), outputsDir)
	}
	var err error
	s.stored.tasks, err = tasks.Open(options)
	return err
}

// backgrounds reports whether background tasks may begin in the session: none do where
// its writes are staged, since no command runs there, nor where its model has no tools to
// read and to end them.
func (s *Session) backgrounds() bool {
	o := &s.host.options
	if o.Shell == nil || o.Shell.MaxBackground < 0 || s.options.Stage {
		return false
	}
	return len(o.Offer.Only) == 0 || s.offersTo(abi.CapTaskOutput) && s.offersTo(abi.CapTaskStop)
}

// offersTo reports whether the list of offered tools has a plugin's that may ask for a
// capability.
func (s *Session) offersTo(capability string) bool {
	return slices.ContainsFunc(s.host.Plugins().Tools(), func(t *plugins.Tool) bool {
		_, may := t.Plugin.Declares(t.Tool, capability)
		return may && s.host.options.Offer.Has(t.Tool)
	})
}

// closeTasks ends what runs in the background.
func (s *Session) closeTasks(ctx context.Context) error {
	if s.stored.tasks == nil {
		return nil
	}
	return s.stored.tasks.Close(ctx)
}

// tellTask tells of a background task that began or ended.
func (s *Session) tellTask(t tasks.Info) {
	s.tell(Event{Kind: EventTask, CallID: t.Call, Tool: t.Tool, Title: t.Title, Task: &t})
}

// tell tells the embedder of something that is of no turn, after what was told so
// before. It does not wait for the observer: who brings such news has more to do than
// some call, such as to let go of a process that ended.
func (s *Session) tell(e Event) {
	if s.news == nil {
		return
	}
	e.Session, e.Time = s.id, time.Now()
	s.news.PutLater(e)
}

// Tasks lists what runs in the session's background, and what has, in the order in
// which it began.
func (s *Session) Tasks() []capability.TaskInfo {
	if s.stored.tasks == nil {
		return nil
	}
	return s.stored.tasks.List()
}

// StopTask ends a background task, and waits until nothing of it is left, for a few
// seconds at most.
func (s *Session) StopTask(ctx context.Context, id string) (capability.TaskInfo, error) {
	if s.stored.tasks == nil {
		return capability.TaskInfo{}, abi.Errorf(abi.CodeNotFound, "there is no task %q", id)
	}
	return s.stored.tasks.Stop(ctx, id)
}

// MoveToBackground moves the command that a running call waits for to the background,
// as a person wishes: the call then has its result, which names the task. It reports
// false where there is no such command, or there are no background tasks. Where the
// session may have no more of them the call waits on.
func (s *Session) MoveToBackground(callID string) bool {
	return s.backgrounds() && s.host.commands.MoveToBackground(s.tasks(), callID)
}

// tasks is what capabilities know of the session's tasks; nil where there are none.
func (s *Session) tasks() capability.Tasks {
	if s.stored.tasks == nil {
		return nil // not a nil pointer in an interface
	}
	return s.stored.tasks
}

// maxNotices is how many tasks that have ended one result tells of by themselves: a host
// that begins anew may have lost a thousand.
const maxNotices = 10

// endedTasks is what the model is told, once, of tasks that have ended; empty is
// nothing.
func (s *Session) endedTasks() string {
	if s.stored.tasks == nil {
		return ""
	}
	ended := s.stored.tasks.Notices()
	var lines []string
	for _, t := range ended[:min(len(ended), maxNotices)] {
		lines = append(lines, tasks.Notice(t))
	}
	if more := len(ended) - maxNotices; more > 0 {
		lines = append(lines, fmt.Sprintf("And %d more background tasks have ended.", more))
	}
	return strings.Join(lines, "\n")
}
