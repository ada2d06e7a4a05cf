package lists_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/lists"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
)

// openTodos opens the lists of a session below a directory, as a process that starts does.
func openTodos(t *testing.T, parent string, log *bytes.Buffer) *lists.Todos {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, nil))
	dir, err := sessiondir.Open(parent, "s", logger)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	return lists.NewTodos(dir, logger)
}

func todo(content, status string) abi.Todo { return abi.Todo{Content: content, Status: status} }

func TestTodosAreReplaced(t *testing.T) {
	t.Parallel()
	todos := lists.NewTodos(nil, slog.New(slog.DiscardHandler))
	first := []abi.Todo{
		{ID: "a", Content: "one\nof two lines", Status: "in_progress", ActiveForm: "doing one", Priority: "high"}, todo("two", "pending"),
	}
	second := []abi.Todo{todo("three", "pending")}
	done := []abi.Todo{todo("three", "completed"), todo("four", "completed")}
	none := []abi.Todo{}
	for i, step := range []struct {
		set, before, now []abi.Todo
		cleared          bool
	}{
		{first, none, first, false},
		{second, first, second, false},
		{done, second, none, true},
		{first, none, first, false},
		{nil, first, none, false},
		{none, none, none, false},
	} {
		got, err := todos.Set("main", step.set)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Before, step.before) || !slices.Equal(got.Todos, step.now) || got.Count != len(step.now) || got.Cleared != step.cleared {
			t.Errorf("step %d: %+v", i, got)
		}
		if got.Todos == nil || got.Before == nil {
			t.Errorf("step %d: JSON would have null for a list: %+v", i, got)
		}
		if is, err := todos.Get("main"); err != nil || !slices.Equal(is.Todos, step.now) {
			t.Errorf("step %d: the list is %v, %v", i, is, err)
		}
	}
	if _, err := todos.Set("main", first); err != nil {
		t.Fatal(err)
	}
	if of, err := todos.Get("other"); err != nil || len(of.Todos) > 0 {
		t.Errorf("another agent has %v, %v", of.Todos, err)
	}
}

func TestTodosRefused(t *testing.T) {
	t.Parallel()
	many := func(n int) []abi.Todo { return slices.Repeat([]abi.Todo{todo("x", "pending")}, n) }
	with := func(change func(*abi.Todo)) []abi.Todo {
		list := many(2)
		change(&list[1])
		return list
	}
	for name, test := range map[string]struct {
		list []abi.Todo
		want string
	}{
		"too many":        {many(201), "201 items; a list has at most 200"},
		"far too many":    {many(100_000), "100000 items"},
		"no content":      {with(func(t *abi.Todo) { t.Content = "" }), "todos[1].content is empty"},
		"blank content":   {with(func(t *abi.Todo) { t.Content = " \n\t" }), "todos[1].content is empty"},
		"long content":    {with(func(t *abi.Todo) { t.Content = strings.Repeat("é", 2001) }), "todos[1].content has 2001 characters; at most 2000"},
		"a long form":     {with(func(t *abi.Todo) { t.ActiveForm = strings.Repeat("x", 2001) }), "todos[1].activeForm has 2001"},
		"a form of lines": {with(func(t *abi.Todo) { t.ActiveForm = "a\nb" }), "todos[1].activeForm has the control character U+000A"},
		"an escape":       {with(func(t *abi.Todo) { t.Content = "a\x1b[31m" }), "todos[1].content has the control character U+001B"},
		"a NUL":           {with(func(t *abi.Todo) { t.ID = "\x00" }), "todos[1].id"},
		"a C1 control":    {with(func(t *abi.Todo) { t.Content = "a\u009b31m" }), "U+009B"},
		"no UTF-8":        {with(func(t *abi.Todo) { t.Content = "a\xff" }), "todos[1].content is not valid UTF-8"},
		"no status":       {with(func(t *abi.Todo) { t.Status = "" }), `todos[1].status is ""`},
		"another status":  {with(func(t *abi.Todo) { t.Status = "done" }), `todos[1].status is "done"; there are pending, in_progress and completed`},
		"deleted":         {with(func(t *abi.Todo) { t.Status = "deleted" }), `todos[1].status is "deleted"`},
		"priority":        {with(func(t *abi.Todo) { t.Priority = "urgent" }), `todos[1].priority is "urgent"`},
		"two at once":     {[]abi.Todo{todo("a", "in_progress"), todo("b", "in_progress")}, "2 items are in_progress; only one may be"},
		"the same id":     {[]abi.Todo{{ID: "1", Content: "a", Status: "pending"}, {ID: "1", Content: "b", Status: "pending"}}, `todos[1] has the id "1" of todos[0]`},
		"many faults":     {slices.Repeat([]abi.Todo{{}}, 20), "and 35 more faults"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			todos := lists.NewTodos(nil, slog.New(slog.DiscardHandler))
			before := []abi.Todo{todo("before", "pending")}
			if _, err := todos.Set("main", before); err != nil {
				t.Fatal(err)
			}
			_, err := todos.Set("main", test.list)
			if abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, not %q", err, test.want)
			}
			if len(err.Error()) > 2000 {
				t.Errorf("a message of %d bytes", len(err.Error()))
			}
			if is, err := todos.Get("main"); err != nil || !slices.Equal(is.Todos, before) {
				t.Errorf("the list is %v, %v", is.Todos, err)
			}
		})
	}
	if _, err := lists.NewTodos(nil, nil).Set("main", slices.Repeat([]abi.Todo{todo(strings.Repeat("é", 2000), "pending")}, 200)); err != nil {
		t.Errorf("the longest list: %v", err)
	}
}

// Odd names of agents do not lead anywhere else, and no two share a file.
func TestTodosSurvive(t *testing.T) {
	t.Parallel()
	parent, log := filepath.Join(t.TempDir(), "sessions"), new(bytes.Buffer)
	agents := []string{"main", "MAIN", "../../x", "a/b", "a:b", "con", "", strings.Repeat("x", 256), "é\x1b"}
	t.Run("first process", func(t *testing.T) {
		todos := openTodos(t, parent, log)
		for i, agent := range agents {
			for range 2 { // the second takes the place of the first
				if _, err := todos.Set(agent, []abi.Todo{todo(fmt.Sprint(i, "\u2028 <&>"), "pending")}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	read, notes, err := lists.ReadTodos(filepath.Join(parent, "s"))
	if err != nil || len(read) != len(agents) || len(notes) > 0 {
		t.Errorf("read %v, %q, %v", read, notes, err)
	}
	t.Run("second process", func(t *testing.T) {
		todos := openTodos(t, parent, log)
		for i, agent := range agents {
			is, err := todos.Get(agent)
			want := []abi.Todo{todo(fmt.Sprint(i, "\u2028 <&>"), "pending")}
			if err != nil || !slices.Equal(is.Todos, want) || !slices.Equal(read[agent], want) {
				t.Errorf("%q has %v, %v; read %v", agent, is.Todos, err, read[agent])
			}
		}
	})
	if log.Len() > 0 {
		t.Errorf("it was told: %s", log)
	}
}

func TestTodosDamaged(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "half": `{"version":1,"agent":"main","todos":[{"con`, "no JSON": "\x00\x00",
		"what no model may say": `{"version":1,"agent":"main","todos":[{"content":"a","status":"no"}]}`,
		"huge":                  strings.Repeat(" ", 17<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent, log := filepath.Join(t.TempDir(), "sessions"), new(bytes.Buffer)
			todos := openTodos(t, parent, log)
			if _, err := todos.Set("other", []abi.Todo{todo("a", "pending")}); err != nil { // which makes the directory
				t.Fatal(err)
			}
			path := filepath.Join(parent, "s", "todos", "main.json")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			read, notes, err := lists.ReadTodos(filepath.Join(parent, "s"))
			if err != nil || len(read) != 1 || len(notes) != 1 || !strings.Contains(notes[0], "main.json") {
				t.Errorf("read %v, %q, %v", read, notes, err)
			}
			got, err := todos.Set("main", []abi.Todo{todo("new", "pending")})
			if err != nil || len(got.Before) > 0 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "main.damaged") {
				t.Errorf("got %+v, %v", got, err)
			}
			aside, err := os.ReadFile(filepath.Join(parent, "s", "todos", "main.damaged"))
			if err != nil || string(aside) != content || !strings.Contains(log.String(), "main.damaged") {
				t.Errorf("put aside: %d bytes, %v; told %s", len(aside), err, log)
			}
			if is, err := todos.Get("main"); err != nil || len(is.Todos) != 1 || len(is.Notes) > 0 {
				t.Errorf("it is %+v, %v", is, err)
			}
		})
	}
}

func TestTodosOfALaterVersion(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(t.TempDir(), "sessions")
	todos := openTodos(t, parent, new(bytes.Buffer))
	if _, err := todos.Set("other", nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(parent, "s", "todos", "main.json")
	if err := os.WriteFile(path, []byte(`{"version":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := todos.Set("main", nil)
	if abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != `{"version":2}` {
		t.Errorf("it is %q, %v", text, err)
	}
}

func TestUnchecked(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		completed []string
		want      bool
	}{
		{nil, false},
		{[]string{"a", "b"}, false},
		{[]string{"a", "b", "c"}, true},
		{[]string{"a", "b", "run the Tests"}, false},
		{[]string{"a", "Verify the build", "c", "d"}, false},
		{[]string{"a", "b", "re-check it"}, false},
		{[]string{"a", "b", "review the diff"}, false},
		// Words that only look like it.
		{[]string{"fix the latest protest", "add a checkout page", "the contest"}, true},
	} {
		if got := lists.Unchecked(test.completed...); got != test.want {
			t.Errorf("%q: %t", test.completed, got)
		}
	}
	todos := lists.NewTodos(nil, nil)
	list := []abi.Todo{todo("a", "completed"), todo("b", "completed"), todo("test it", "pending"), todo("c", "completed")}
	if got, err := todos.Set("main", list); err != nil || !got.Unchecked {
		t.Errorf("what is yet to be checked: %+v, %v", got, err)
	}
	list[2].Status = "completed"
	if got, err := todos.Set("main", list); err != nil || got.Unchecked || !got.Cleared {
		t.Errorf("checked: %+v, %v", got, err)
	}
}
