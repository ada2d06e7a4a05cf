package lists

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

const (
	// MaxTasks is how many tasks a list may have, completed ones included.
	MaxTasks = 1000
	// maxSubject and maxDescription bound the texts of a task, in code points.
	maxSubject     = 500
	maxDescription = 20_000
	// maxKeys and maxMetadata bound the metadata of a task: how many keys, and how many
	// bytes of JSON.
	maxKeys     = 64
	maxMetadata = 16 << 10
	// maxName bounds the name of an owner, in code points.
	maxName = 256
	// internalKey marks tasks that the model is not shown in a list.
	internalKey = "_internal"
)

// item is a task as its file has it.
type item struct {
	Version     int    `json:"version"`
	ID          int    `json:"id"`
	Subject     string `json:"subject"`
	Description string `json:"description,omitempty"`
	ActiveForm  string `json:"active_form,omitempty"`
	Status      string `json:"status"`
	Owner       string `json:"owner,omitempty"`
	// Blocks and BlockedBy are the edges that were added to this task, sorted. Those added
	// to the other end are in the file of that one.
	Blocks    []int                      `json:"blocks,omitempty"`
	BlockedBy []int                      `json:"blocked_by,omitempty"`
	Metadata  map[string]json.RawMessage `json:"metadata,omitempty"`
}

func (i *item) written() int { return i.Version }

// check returns what is wrong with the texts, the status and the metadata of a task.
func (i *item) check() error {
	var f faults
	f.add(text{name: "subject", most: maxSubject}.check(i.Subject))
	f.add(text{name: "description", most: maxDescription, lines: true, empty: true}.check(i.Description))
	f.add(text{name: "activeForm", most: maxSubject, empty: true}.check(i.ActiveForm))
	f.add(text{name: "owner", most: maxName, empty: true}.check(i.Owner))
	if !slices.Contains([]string{abi.WorkPending, abi.WorkInProgress, abi.WorkCompleted}, i.Status) {
		f.addf("status is %.40q; there are pending, in_progress, completed and deleted", i.Status)
	}
	f.add(checkMetadata(i.Metadata))
	return f.err()
}

func checkMetadata(m map[string]json.RawMessage) error {
	if len(m) > maxKeys {
		return fmt.Errorf("metadata has %d keys; at most %d are kept", len(m), maxKeys)
	}
	size := 0
	for key, value := range m {
		if err := (text{name: "a key of metadata", most: 100}).check(key); err != nil {
			return err
		}
		size += len(key) + len(value)
	}
	if size > maxMetadata {
		return fmt.Errorf("metadata has %d bytes; at most %d are kept", size, maxMetadata)
	}
	return nil
}

// internal reports whether the task is left out of lists.
func (i *item) internal() bool {
	switch string(i.Metadata[internalKey]) {
	case "", "null", "false", "0", `""`:
		return false
	}
	return true
}

// graph are the tasks of a list by number, and the edges between them.
type graph struct {
	items map[int]*item
	// order are the numbers, sorted.
	order []int
	// after are the tasks that wait for each, and before those that each waits for; both
	// sorted, without edges to tasks that are not there.
	after, before map[int][]int
}

func newGraph(items map[int]*item) *graph {
	g := &graph{items: items, after: make(map[int][]int), before: make(map[int][]int)}
	for id, i := range items {
		g.order = append(g.order, id)
		for _, waits := range i.Blocks {
			g.connect(id, waits)
		}
		for _, first := range i.BlockedBy {
			g.connect(first, id)
		}
	}
	slices.Sort(g.order)
	for _, edges := range []map[int][]int{g.after, g.before} {
		for id, list := range edges {
			slices.Sort(list)
			edges[id] = slices.Compact(list)
		}
	}
	return g
}

// connect has one task wait for another.
func (g *graph) connect(first, waits int) {
	if g.items[first] == nil || g.items[waits] == nil {
		return // its other end was deleted
	}
	g.after[first] = append(g.after[first], waits)
	g.before[waits] = append(g.before[waits], first)
}

// cycle returns a way from a task back to it along the edges, or nil.
func (g *graph) cycle(from int) []int {
	came := map[int]int{}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g.after[queue[0]] {
			if _, been := came[next]; been {
				continue
			}
			came[next] = queue[0]
			if next == from {
				way := []int{from}
				for at := queue[0]; at != from; at = came[at] {
					way = append(way, at)
				}
				way = append(way, from)
				slices.Reverse(way)
				return way
			}
			queue = append(queue, next)
		}
	}
	return nil
}

// open are the tasks that one waits for and that are not completed.
func (g *graph) open(id int) []int {
	return slices.DeleteFunc(slices.Clone(g.before[id]), func(first int) bool {
		return g.items[first].Status == abi.WorkCompleted
	})
}

// completed are the subjects of the tasks that are.
func (g *graph) completed() []string {
	var subjects []string
	for _, i := range g.items {
		if i.Status == abi.WorkCompleted && !i.internal() {
			subjects = append(subjects, i.Subject)
		}
	}
	return subjects
}

// task is a task as others see it; nil where there is none of the number.
func (g *graph) task(id int) *abi.WorkItem {
	i := g.items[id]
	if i == nil {
		return nil
	}
	return &abi.WorkItem{
		ID: strconv.Itoa(i.ID), Subject: i.Subject, Description: i.Description, ActiveForm: i.ActiveForm,
		Status: i.Status, Owner: i.Owner, Blocks: names(g.after[id]), BlockedBy: names(g.before[id]),
		Metadata: i.Metadata,
	}
}

// names writes numbers as ids.
func names(ids []int) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = strconv.Itoa(id)
	}
	return list
}

// maxNamed bounds how many ids one message names.
const maxNamed = 20

// named lists ids in a message.
func named(ids []int) string {
	list := names(ids[:min(len(ids), maxNamed)])
	if more := len(ids) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// parseID reads an id; 0 is none.
func parseID(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil || n < 1 || n > maxID || strconv.Itoa(n) != id {
		return 0
	}
	return n
}

// maxID is the highest number that a task can have.
const maxID = 999_999_999

// unknown is the error of an id that no task has.
func (g *graph) unknown(field, id string) *abi.Error {
	if len(g.order) == 0 {
		return abi.Errorf(abi.CodeNotFound, "%s: there is no task %.40q; there is none yet", field, id)
	}
	return abi.Errorf(abi.CodeNotFound, "%s: there is no task %.40q; there are %s", field, id, named(g.order))
}
