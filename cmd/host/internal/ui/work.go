package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// maxWork is how many lines the lists of work have at most.
const maxWork = 8

// workList are the lists of work that a session's calls have changed, as they now are.
type workList struct {
	todos []abi.Todo
	items map[string]abi.WorkItem
	told  bool // something has changed since they were last printed for good
}

// take takes in an event, and reports whether it is about the lists.
func (w *workList) take(e *host.Event) bool {
	switch {
	case e.Kind == host.EventTodos && e.Todos != nil:
		w.todos, w.told = e.Todos.Todos, true
	case e.Kind == host.EventWork && e.Work != nil:
		w.put(e.Work)
	default:
		return false
	}
	return true
}

func (w *workList) put(n *capability.WorkNews) {
	if w.items == nil {
		w.items = make(map[string]abi.WorkItem)
	}
	w.told = true
	if n.Change == capability.WorkDeleted {
		delete(w.items, n.Item.ID)
		return
	}
	w.items[n.Item.ID] = n.Item
}

// thing is one piece of work as a line shows it.
type thing struct {
	status, text string
	rest         string // who works on it, and what it waits for
}

// things are all pieces of work: what goes on first, then what is to come.
func (w *workList) things() []thing {
	var list []thing
	for i := range w.todos {
		t := &w.todos[i]
		text := t.Content
		if t.Status == abi.WorkInProgress {
			text = cmp.Or(t.ActiveForm, t.Content)
		}
		list = append(list, thing{status: t.Status, text: text})
	}
	items := make([]abi.WorkItem, 0, len(w.items))
	for _, i := range w.items {
		items = append(items, i)
	}
	slices.SortFunc(items, func(a, b abi.WorkItem) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	for i := range items {
		list = append(list, w.thing(&items[i]))
	}
	order := []string{abi.WorkInProgress, abi.WorkPending, abi.WorkCompleted}
	slices.SortStableFunc(list, func(a, b thing) int {
		return cmp.Compare(slices.Index(order, a.status), slices.Index(order, b.status))
	})
	return list
}

func number(id string) int {
	n, _ := strconv.Atoi(id) // ids are numbers
	return n
}

func (w *workList) thing(i *abi.WorkItem) thing {
	t := thing{status: i.Status, text: i.Subject}
	if i.Status == abi.WorkInProgress {
		t.text = cmp.Or(i.ActiveForm, i.Subject)
	}
	t.text = "#" + i.ID + " " + t.text
	if i.Status != abi.WorkCompleted && i.Owner != "" {
		t.rest = "  " + i.Owner
	}
	open := 0
	for _, id := range i.BlockedBy { // as it was told last: what is not known may be deleted since
		if first, known := w.items[id]; known && first.Status != abi.WorkCompleted {
			open++
		}
	}
	if i.Status == abi.WorkPending && open > 0 {
		t.rest += "  waits for " + count(open, "task")
	}
	return t
}

// lines are the lists in so many lines at most; none where there is nothing left to do.
func (w *workList) lines(most int) [][]piece {
	list := w.things()
	done := slices.IndexFunc(list, func(t thing) bool { return t.status == abi.WorkCompleted })
	if done == 0 || len(list) == 0 || most <= 0 {
		return nil
	}
	left := list
	if done > 0 {
		left = list[:done]
	}
	shown := left[:min(len(left), most)]
	if more := len(left) > len(shown) || done > 0; more && len(shown) == most {
		shown = shown[:most-1]
	}
	out := make([][]piece, 0, len(shown)+1)
	for _, t := range shown {
		out = append(out, t.line())
	}
	rest := ""
	if n := len(left) - len(shown); n > 0 {
		rest = fmt.Sprintf("%d more", n)
	}
	if n := len(list) - len(left); n > 0 {
		if rest != "" {
			rest += ", "
		}
		rest += fmt.Sprintf("%d done", n)
	}
	if rest != "" {
		out = append(out, []piece{keeps(Dim, "  "+rest)})
	}
	return out
}

func (t *thing) line() []piece {
	mark, style := keeps(Dim, "☐ "), Plain
	switch t.status {
	case abi.WorkInProgress:
		mark, style = keeps(Cyan, "▸ "), Bold
	case abi.WorkCompleted:
		mark, style = keeps(Green, "✓ "), Dim
	}
	return []piece{mark, gives(style, safe(t.text)), keeps(Dim, safe(t.rest))}
}

// workText is a change of the lists in one line, for output that is not drawn anew.
func workText(e *host.Event) string {
	if e.Kind == host.EventTodos {
		counts := make(map[string]int)
		now := ""
		for i := range e.Todos.Todos {
			t := &e.Todos.Todos[i]
			if counts[t.Status]++; t.Status == abi.WorkInProgress {
				now = ": " + cmp.Or(t.ActiveForm, t.Content)
			}
		}
		return safe(fmt.Sprintf("todos: %d done, %d in progress, %d to do%s", counts[abi.WorkCompleted], counts[abi.WorkInProgress], counts[abi.WorkPending], now))
	}
	i, how := &e.Work.Item, e.Work.Item.Status
	if e.Work.Change != capability.WorkUpdated {
		how = e.Work.Change
	}
	text := fmt.Sprintf("task #%s %s: %s", i.ID, how, i.Subject)
	if i.Owner != "" {
		text += " (" + i.Owner + ")"
	}
	return safe(text)
}

// work takes in what became of lists of work: a terminal that is drawn anew shows them below
// the calls, and every other output has a line of each change.
func (b *board) work(e *host.Event) {
	if !b.lists.take(e) || b.live {
		return
	}
	b.flush()
	b.print(keeps(Dim, b.blank()+indent(e.Depth)), gives(Plain, workText(e)))
}

// printWork prints the lists for good where they were shown live.
func (b *board) printWork() {
	if !b.lists.told {
		return
	}
	b.lists.told = false
	for _, line := range b.lists.lines(maxWork) {
		b.print(line...)
	}
}
