package lists

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

const (
	// maxTodos is how many items a list of todos may have, and maxTodo how many code points
	// each text of one.
	maxTodos = 200
	maxTodo  = 2000
	// TodosDir is their directory in the session's.
	TodosDir = "todos"
	// maxTodosFile is more than any file of todos has, in bytes.
	maxTodosFile = 16 << 20
)

// Todos are the lists of todos of a session's agents. It is safe for concurrent use.
type Todos struct {
	dir *sessiondir.Dir // nil keeps nothing beyond the process
	log *slog.Logger

	mu sync.Mutex
	// lists are those that were read or set, by agents.
	lists map[string][]abi.Todo
}

// NewTodos returns the lists in a session's directory; nil is none. They are read when
// they are first asked for.
func NewTodos(dir *sessiondir.Dir, log *slog.Logger) *Todos {
	return &Todos{dir: dir, log: log, lists: make(map[string][]abi.Todo)}
}

// Get returns an agent's list. It has no items where the file is damaged: then it was put
// aside, and a note says so.
func (t *Todos) Get(agent string) (capability.TodosChange, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, notes, err := t.list(agent)
	if err != nil {
		return capability.TodosChange{}, err
	}
	return changed(slices.Clone(list), slices.Clone(list), notes), nil
}

func changed(now, before []abi.Todo, notes []string) capability.TodosChange {
	none := []abi.Todo{} // which JSON has as a list
	return capability.TodosChange{
		TodosOK:   abi.TodosOK{Count: len(now), Notes: notes},
		TodoLists: abi.TodoLists{Todos: append(none, now...), Before: append(none, before...)},
	}
}

// Set replaces an agent's list. A list of which all items are completed is cleared.
func (t *Todos) Set(agent string, list []abi.Todo) (capability.TodosChange, error) {
	if err := CheckTodos(list); err != nil {
		return capability.TodosChange{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before, notes, err := t.list(agent)
	if err != nil {
		return capability.TodosChange{}, err
	}
	completed := withStatus(list, abi.WorkCompleted)
	cleared := len(list) > 0 && len(completed) == len(list)
	if cleared {
		list = nil
	}
	if err := t.save(agent, list); err != nil {
		return capability.TodosChange{}, abi.Errorf(abi.CodeIO, "the list could not be saved, and is as it was: %w", err)
	}
	t.lists[agent] = slices.Clone(list)
	c := changed(list, before, notes)
	c.Cleared, c.Unchecked = cleared, unchecked(completed)
	return c, nil
}

// withStatus are the contents of the items with a status.
func withStatus(list []abi.Todo, status string) []string {
	var found []string
	for i := range list {
		if list[i].Status == status {
			found = append(found, list[i].Content)
		}
	}
	return found
}

// CheckTodos returns what is wrong with a list, or nil: an error of abi.CodeInvalidInput
// that names each faulty item.
func CheckTodos(list []abi.Todo) error {
	if len(list) > maxTodos {
		return abi.Errorf(abi.CodeInvalidInput, "%d items; a list has at most %d: join some", len(list), maxTodos)
	}
	var f faults
	first := make(map[string]int)
	for i := range list {
		t := &list[i]
		at := fmt.Sprintf("todos[%d]", i)
		checkTodo(&f, at, t)
		if t.ID == "" {
			continue
		}
		if j, taken := first[t.ID]; taken {
			f.addf("%s has the id %q of todos[%d]; give each its own, or none", at, t.ID, j)
			continue
		}
		first[t.ID] = i
	}
	if running := withStatus(list, abi.WorkInProgress); len(running) > 1 {
		f.addf("%d items are in_progress; only one may be", len(running))
	}
	if err := f.err(); err != nil {
		return abi.Errorf(abi.CodeInvalidInput, "%w", err)
	}
	return nil
}

func checkTodo(f *faults, at string, t *abi.Todo) {
	f.add(text{name: at + ".content", most: maxTodo, lines: true}.check(t.Content))
	f.add(text{name: at + ".activeForm", most: maxTodo, empty: true}.check(t.ActiveForm))
	f.add(text{name: at + ".id", most: 100, empty: true}.check(t.ID))
	if !slices.Contains([]string{abi.WorkPending, abi.WorkInProgress, abi.WorkCompleted}, t.Status) {
		f.addf("%s.status is %.40q; there are pending, in_progress and completed", at, t.Status)
	}
	if !slices.Contains([]string{"", "high", "medium", "low"}, t.Priority) {
		f.addf("%s.priority is %.40q; there are high, medium and low", at, t.Priority)
	}
}

// list is an agent's list, read from its file where this is the first time.
func (t *Todos) list(agent string) ([]abi.Todo, []string, error) {
	if list, known := t.lists[agent]; known || t.dir == nil {
		return list, nil, nil
	}
	path := todosFile(t.dir.Path(), agent)
	var r todosRecord
	var notes []string
	switch err := readRecord(path, maxTodosFile, &r); {
	case errors.Is(err, errDamaged):
		aside, err := putAside(path)
		if err != nil {
			return nil, nil, abi.Errorf(abi.CodeIO, "the list of todos is damaged and could not be put aside: %w", err)
		}
		r.Todos = nil
		t.log.Warn("a damaged list of todos was put aside", "file", aside, "agent", agent)
		notes = []string{fmt.Sprintf("the list of before was damaged; it was put aside as %s", aside)}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, nil, abi.Errorf(abi.CodeIO, "the list of todos cannot be read: %w", err)
	}
	t.lists[agent] = r.Todos
	return r.Todos, notes, nil
}

func (t *Todos) save(agent string, list []abi.Todo) error {
	if t.dir == nil {
		return nil
	}
	text, err := json.Marshal(todosRecord{Version: version, Agent: agent, Todos: list})
	if err != nil {
		return err
	}
	_, err = t.dir.Write(TodosDir, filepath.Base(todosFile("", agent)), func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	return err
}

// todosRecord is a file of todos.
type todosRecord struct {
	Version int        `json:"version"`
	Agent   string     `json:"agent"`
	Todos   []abi.Todo `json:"todos"`
}

// todosFile is the file of an agent's list in a session's directory.
func todosFile(dir, agent string) string {
	return Locate(filepath.Join(dir, TodosDir), agent) + keptSuffix
}

// Locate is the path for what belongs to an agent or a team, below a directory. No two of
// them share one, also where the file system does not tell upper from lower case.
func Locate(dir, id string) string {
	if id != strings.ToLower(id) {
		id = "\x00" + id // which has it named with a hash
	}
	return sessiondir.Locate(dir, id)
}

func (r *todosRecord) written() int { return r.Version }

func (r *todosRecord) check() error { return CheckTodos(r.Todos) }

// ReadTodos returns the lists of todos in a session's directory by agents, whether or not the
// session is in use. Empty ones are left out, and so is what cannot be read, with a note. It
// changes nothing.
func ReadTodos(dir string) (lists map[string][]abi.Todo, notes []string, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, TodosDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	lists = make(map[string][]abi.Todo)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), keptSuffix) {
			continue
		}
		var r todosRecord
		switch err := readRecord(filepath.Join(dir, TodosDir, e.Name()), maxTodosFile, &r); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			notes = append(notes, "a list of todos is left out: "+err.Error())
		case len(r.Todos) > 0:
			lists[r.Agent] = r.Todos
		}
	}
	return lists, notes, nil
}
