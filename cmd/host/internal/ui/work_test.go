package ui

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

func item(id, status, subject string, blockedBy ...string) abi.WorkItem {
	return abi.WorkItem{ID: id, Subject: subject, Status: status, BlockedBy: blockedBy}
}

func (u *use) works(change string, i abi.WorkItem) *use {
	return u.with(host.EventWork, func(e *host.Event) { e.Work = &capability.WorkNews{Change: change, Item: i} })
}

func (u *use) todos(list ...abi.Todo) *use {
	return u.with(host.EventTodos, func(e *host.Event) { e.Todos = &capability.TodosNews{Todos: list} })
}

// shown is the live region in plain text, without the lines of calls.
func (s *stage) shown(height int) string {
	var lines []string
	for _, line := range s.b.frame(s.start, s.now, 40, height) {
		var text strings.Builder
		for _, span := range layout(line, 40) {
			text.WriteString(span.Text)
		}
		lines = append(lines, text.String())
	}
	if len(lines) > height {
		lines = append(lines, fmt.Sprintf("%d lines of %d", len(lines), height))
	}
	return strings.Join(lines, "\n")
}

// The lists live below the calls: each change is shown at once, and how much there is left.
func TestWorkLives(t *testing.T) {
	t.Parallel()
	s := newStage(&Printer{Terminal: true, Live: true}, false)
	call := s.queue("TaskUpdate", "1").starts()
	s.wait(time.Second)
	check := func(what, want string) {
		t.Helper()
		if got := s.shown(24); !strings.HasSuffix(got, "Ctrl-C interrupts\n"+want) {
			t.Errorf("%s:\n%s\nwant below the calls\n%s", what, got, want)
		}
	}
	call.works(capability.WorkCreated, item("2", abi.WorkPending, "Second\x1b[2J", "1"))
	call.works(capability.WorkCreated, item("1", abi.WorkPending, "First"))
	check("new", "☐ #1 First\n☐ #2 Second\\x1b[2J  waits for 1 task")
	begun := item("1", abi.WorkInProgress, "First")
	begun.Owner, begun.ActiveForm = "main", "Doing the first"
	call.works(capability.WorkUpdated, begun)
	call.works(capability.WorkCreated, item("10", abi.WorkPending, "Tenth"))
	check("begun", "▸ #1 Doing the first  main\n☐ #2 Second\\x1b[2J  waits for 1 task\n☐ #10 Tenth")
	call.works(capability.WorkCreated, item("11", abi.WorkPending, "Eleventh", "10"))
	call.works(capability.WorkDeleted, item("10", abi.WorkPending, "Tenth"))
	check("deleted", "▸ #1 Doing the first  main\n☐ #2 Second\\x1b[2J  waits for 1 task\n☐ #11 Eleventh")
	begun.Status = abi.WorkCompleted
	call.works(capability.WorkUpdated, begun)
	call.works(capability.WorkDeleted, item("11", abi.WorkPending, "Eleventh"))
	check("completed", "☐ #2 Second\\x1b[2J\n  1 done")
	call.todos(abi.Todo{Content: "a", Status: abi.WorkInProgress, ActiveForm: "doing a"}, abi.Todo{Content: "b", Status: abi.WorkPending})
	check("todos too", "▸ doing a\n☐ b\n☐ #2 Second\\x1b[2J\n  1 done")
	call.todos()
	call.works(capability.WorkDeleted, item("2", abi.WorkPending, ""))
	if got := s.shown(24); strings.Contains(got, "done") {
		t.Errorf("nothing is left to do:\n%s", got)
	}
}

// Long lists take a part of the screen, and never more than there is.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	s := newStage(&Printer{Terminal: true, Live: true}, false)
	call := s.queue("TaskCreate", "x").starts()
	for n := range 1000 {
		call.works(capability.WorkCreated, item(strconv.Itoa(n+1), abi.WorkPending, strings.Repeat("long ", 200)))
	}
	call.works(capability.WorkUpdated, item("1", abi.WorkCompleted, "x"))
	got := s.shown(30)
	if n := strings.Count(got, "☐"); n != maxWork-1 || !strings.HasSuffix(got, "  992 more, 1 done") {
		t.Errorf("%d of them:\n%s", n, got)
	}
	for height := range 12 {
		if got := s.shown(height + 1); strings.Contains(got, " lines of ") {
			t.Errorf("in %d lines:\n%s", height+1, got)
		}
	}
}

// Where nothing is drawn anew, each change has a line.
func TestWorkInAFile(t *testing.T) {
	t.Parallel()
	s := newStage(&Printer{}, false)
	call := s.queue("TaskUpdate", "1").starts()
	begun := item("1", abi.WorkInProgress, "First\n\x1b")
	begun.Owner = "main"
	call.works(capability.WorkCreated, item("1", abi.WorkPending, "First")).works(capability.WorkUpdated, begun)
	call.works(capability.WorkDeleted, begun)
	call.todos(abi.Todo{Content: "a", Status: abi.WorkInProgress}, abi.Todo{Content: "b", Status: abi.WorkCompleted})
	text := s.b.above.take(0, false)
	for _, want := range []string{
		"task #1 created: First\n", `task #1 in_progress: First\n\x1b (main)`, `task #1 deleted: First\n\x1b (main)`,
		"todos: 1 done, 1 in progress, 0 to do: a\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// Each file of a message has one line, whatever its name.
func TestAttachmentsHaveOneLineEach(t *testing.T) {
	t.Parallel()
	s := newStage(&Printer{}, false)
	s.queue("SendUserMessage", "done").starts().with(host.EventMessage, func(e *host.Event) {
		e.Reason = "done"
		e.Said = &capability.Said{Plugin: "p\n", Attachments: []capability.SaidAttachment{{Path: "/a\n[/b, 2B]\x1b", Size: 1}, {Path: "/c", Size: 3}}}
	})
	if got, want := s.b.above.take(0, false), "message of p\\n  done\n"; !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 3 || !strings.Contains(got, `[/a\n[/b, 2B]\x1b, 1B]`) {
		t.Errorf("got\n%s", got)
	}
}
