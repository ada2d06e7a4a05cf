package ui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// Aside is a line for what goes on beside calls: a commit that a command made, a background task
// that ended, a scheduled prompt that came due. It is empty for all else.
func Aside(e *host.Event) string {
	switch {
	case e.Kind == host.EventGit && e.Git != nil:
		return safe(gitText(e.Git))
	case e.Kind == host.EventTask && e.Task != nil && e.Task.Over():
		return safe(taskText(e.Task))
	case e.Kind == host.EventCron && e.Cron != nil:
		first, _, _ := strings.Cut(e.Cron.Prompt, "\n")
		return safe(fmt.Sprintf("scheduled prompt %s: %s", e.Cron.ID, excerpt(first)))
	}
	return ""
}

// gitText says what was done in the order in which people say it: what, which, where.
func gitText(d *capability.GitEvent) string {
	parts := []string{d.Program, strings.ReplaceAll(string(d.Kind), "_", " ")}
	if d.Forced {
		parts = append(parts, "(forced)")
	}
	if d.Number > 0 {
		parts = append(parts, fmt.Sprintf("#%d", d.Number))
	}
	if d.Commit != "" {
		parts = append(parts, d.Commit)
	}
	if d.Branch != "" || d.Remote != "" {
		parts = append(parts, "on", strings.Trim(d.Remote+"/"+d.Branch, "/"))
	}
	text := strings.Join(parts, " ")
	if about := cmp.Or(d.Subject, d.URL); about != "" {
		text += ": " + about
	}
	return text
}

// taskText says how a task ended.
func taskText(t *capability.TaskInfo) string {
	text := fmt.Sprintf("background task %s %s", t.ID, t.State)
	if t.Exit != nil && *t.Exit != 0 {
		text += fmt.Sprintf(" with exit status %d", *t.Exit)
	}
	if d := t.Elapsed(); d > 0 {
		text += " after " + Elapsed(d)
	}
	if about := cmp.Or(t.Title, t.Command); about != "" {
		text += ": " + about
	}
	return text
}
