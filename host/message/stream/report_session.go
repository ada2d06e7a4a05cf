package stream

import (
	"encoding/json"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// Todos is an agent's whole list of todos as it now is. Like [Work], [Output] and a [Message]
// of the model's, its Turn is 0 where the call that did it already had its result.
type Todos struct {
	Head
	About
	*capability.TodosNews
	From
}

// Work is one change of the work items that agents share.
type Work struct {
	Head
	About
	*capability.WorkNews
	From
}

// Output is the structured output that the session was begun for. The latest one counts.
type Output struct {
	Head
	About

	Output json.RawMessage `json:"output"`

	From
}

// Worktree says that the session has entered a worktree of git, or left it.
type Worktree struct {
	Head
	About
	*capability.WorktreeNews
	From
}

// Mode says that the session's permission mode has changed. It is of no turn.
type Mode struct {
	Type string    `json:"type"` // mode
	Time time.Time `json:"time"`
	*capability.ModeNews
	From
}

// Cron is a scheduled prompt that came due, to be given to the model as a message. It is of no turn.
type Cron struct {
	Type string    `json:"type"` // cron
	Time time.Time `json:"time"`
	*capability.DuePrompt
	From
}

// Beside is the line for an event of no turn, or nil where it has none.
func Beside(e host.Event) any {
	switch e.Kind {
	case host.EventTools:
		return newTools(e)
	case host.EventPlugin:
		return NewPlugin(e)
	case host.EventTask:
		return Task{string(e.Kind), now(e.Time), aboutOf(e), e.Task, fromOf(e)}
	case host.EventGit:
		return gitEventOf(besideHead(e), e)
	case host.EventCron:
		return Cron{string(e.Kind), now(e.Time), e.Cron, fromOf(e)}
	case host.EventMode:
		return Mode{string(e.Kind), now(e.Time), e.Mode, fromOf(e)}
	}
	return ofSession(besideHead(e), e)
}

// besideHead is the head of a line of no turn.
func besideHead(e host.Event) Head { return Head{Type: string(e.Kind), Time: now(e.Time)} }

// ofSession is the line for what a call did to its session, or nil.
func ofSession(head Head, e host.Event) any {
	about, from := aboutOf(e), fromOf(e)
	switch e.Kind {
	case host.EventTodos:
		return Todos{head, about, e.Todos, from}
	case host.EventWork:
		return Work{head, about, e.Work, from}
	case host.EventWorktree:
		return Worktree{head, about, e.Worktree, from}
	case host.EventOutput:
		return Output{head, about, e.Output, from}
	case host.EventMessage:
		line := Message{Head: head, About: about, Message: e.Reason, From: from}
		if e.Said != nil {
			line.Status, line.Attachments, line.SentAt = e.Said.Status, e.Said.Attachments, now(e.Said.Sent)
			line.Plugin = e.Said.Plugin
		}
		return line
	}
	return nil
}
