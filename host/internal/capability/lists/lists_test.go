package lists_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/lists"
	kept "github.com/toolquay/toolquay/host/internal/lists"
	"github.com/toolquay/toolquay/internal/privatedir"
	"github.com/toolquay/toolquay/permissions"
)

// bench is a session with lists, and what is told of it.
type bench struct {
	*testing.T
	scope capability.Scope
	told  []capability.News
}

func newBench(t *testing.T, by kept.Caller) *bench {
	t.Helper()
	dir := t.TempDir() + "/work"
	place := kept.Place{Path: func() string { return dir }, Make: func() error { return privatedir.Make(dir) }}
	b := &bench{T: t}
	b.scope = capability.Scope{
		Lists: (&kept.Lists{Todos: kept.NewTodos(nil, nil), Tasks: kept.NewTasks(place, nil)}).For(by),
		Tell:  func(n capability.News) { b.told = append(b.told, n) },
	}
	return b
}

// ask does a request as the host does, and checks what it says that it uses.
func (b *bench) ask(name, args string, parts ...string) (head, body string, err error) {
	b.Helper()
	req := abi.Request{Name: name, Args: json.RawMessage(args)}
	for _, part := range parts {
		req.Parts = append(req.Parts, abi.Part{Type: abi.PartJSON, Data: []byte(part)})
	}
	plan, err := lists.New().Plan(b.Context(), b.scope, req)
	if err != nil {
		return "", "", err
	}
	defer plan.Close()
	target := map[string]string{abi.CapSessionTodo: "todos", abi.CapSessionTask: "work"}[name]
	if got := plan.Accesses(); !slices.Equal(got, []permissions.Access{{Kind: permissions.AccessSession, Target: target}}) {
		b.Errorf("%s: accesses %v", name, got)
	}
	answer, err := plan.Do(b.Context(), nil)
	if err != nil {
		return "", "", err
	}
	if answer.Body != nil {
		all, err := io.ReadAll(answer.Body)
		if err != nil || int64(len(all)) != answer.Size || answer.BodyType != abi.PartJSON {
			b.Errorf("a body of %d bytes, said to be %d: %v", len(all), answer.Size, err)
		}
		body = string(all)
	}
	text, err := json.Marshal(answer.OK)
	return string(text), body, err
}

// newsOf are the news that were told, in JSON, and forgets them.
func (b *bench) newsOf() string {
	b.Helper()
	var said []string
	for _, n := range b.told {
		switch {
		case n.Todos != nil:
			text, err := json.Marshal(n.Todos)
			if err != nil {
				b.Fatal(err)
			}
			said = append(said, string(text))
		case n.Work != nil:
			said = append(said, n.Work.Change+" "+n.Work.Item.ID+" "+n.Work.Item.Status+" "+n.Work.Item.Owner)
		}
	}
	b.told = nil
	return strings.Join(said, "; ")
}

func TestTodos(t *testing.T) {
	t.Parallel()
	b := newBench(t, kept.Caller{Agent: "main"})
	for _, step := range []struct{ args, part, head, body, news string }{
		{`{"read":true}`, "", `{"count":0}`, `{"todos":[],"before":[]}`, ""},
		{
			`{}`, `[{"content":"a","status":"in_progress","activeForm":"doing"}]`, `{"count":1}`,
			`{"todos":[{"content":"a","status":"in_progress","activeForm":"doing"}],"before":[]}`,
			`{"todos":[{"content":"a","status":"in_progress","activeForm":"doing"}]}`,
		},
		{
			`{}`, `[{"id":"1","content":"a","status":"completed"},{"content":"b","status":"completed"},{"content":"c","status":"completed"}]`,
			`{"count":0,"cleared":true,"unchecked":true}`, `{"todos":[],"before":[{"content":"a","status":"in_progress","activeForm":"doing"}]}`, `{"todos":[]}`,
		},
	} {
		var parts []string
		if step.part != "" {
			parts = append(parts, step.part)
		}
		head, body, err := b.ask(abi.CapSessionTodo, step.args, parts...)
		if news := b.newsOf(); err != nil || head != step.head || body != step.body || news != step.news {
			t.Errorf("%s\ngot  %s %s, %v, told %s\nwant %s %s, told %s", step.part, head, body, err, news, step.head, step.body, step.news)
		}
	}
}

func TestWork(t *testing.T) {
	t.Parallel()
	b := newBench(t, kept.Caller{Agent: "eve"})
	const first = `{"id":"1","subject":"a","description":"b","status":"pending","blocks":[],"blockedBy":[]}`
	for _, step := range []struct{ args, head, body, news string }{
		{`{"do":"list"}`, `{}`, `[]`, ""},
		{`{"do":"create","change":{"subject":"a","description":"b"}}`, `{"task":` + first + `}`, "", "created 1 pending "},
		{`{"do":"create","change":{"subject":"c","metadata":{"_internal":true}}}`, `{"task":{"id":"2","subject":"c","status":"pending","blocks":[],"blockedBy":[],"metadata":{"_internal":true}}}`, "", "created 2 pending "},
		{`{"do":"get","id":"1"}`, `{"task":` + first + `}`, "", ""},
		{`{"do":"get","id":"7"}`, `{"notes":["taskId: there is no task \"7\"; there are 1, 2"]}`, "", ""},
		{
			`{"do":"update","id":"1","change":{"status":"in_progress","addBlockedBy":["2"]}}`,
			`{"task":{"id":"1","subject":"a","description":"b","status":"in_progress","owner":"eve","blocks":[],"blockedBy":["2"]},"updated":["status","owner","blockedBy"],"from":"pending","to":"in_progress","notes":["task 1 waits for 2, not completed yet"]}`,
			"", "updated 1 in_progress eve",
		},
		{`{"do":"list"}`, `{"count":1,"hidden":1}`, `[{"id":"1","subject":"a","status":"in_progress","owner":"eve","blocks":[],"blockedBy":["2"]}]`, ""},
		{`{"do":"update","id":"1","change":{"subject":"a"}}`, `{"task":{"id":"1","subject":"a","description":"b","status":"in_progress","owner":"eve","blocks":[],"blockedBy":["2"]},"notes":["nothing changed: the task is so already"]}`, "", ""},
		{`{"do":"update","id":"1","change":{"status":"deleted"}}`, `{"updated":["deleted"],"from":"in_progress","to":"deleted"}`, "", "deleted 1 in_progress eve"},
	} {
		head, body, err := b.ask(abi.CapSessionTask, step.args)
		if news := b.newsOf(); err != nil || head != step.head || body != step.body || news != step.news {
			t.Errorf("%s\ngot  %s %s, %v, told %s\nwant %s %s, told %s", step.args, head, body, err, news, step.head, step.body, step.news)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, kept.Caller{Agent: "main"})
	for name, test := range map[string]struct {
		op, args string
		parts    []string
		code     abi.Code
		text     string
	}{
		"no list":          {abi.CapSessionTodo, `{}`, nil, abi.CodeInvalidInput, "one part"},
		"two lists":        {abi.CapSessionTodo, `{}`, []string{"[]", "[]"}, abi.CodeInvalidInput, "one part"},
		"read and written": {abi.CapSessionTodo, `{"read":true}`, []string{"[]"}, abi.CodeInvalidInput, "no part"},
		"no JSON":          {abi.CapSessionTodo, `{}`, []string{"["}, abi.CodeInvalidInput, "list of todos"},
		"another type":     {abi.CapSessionTodo, `{}`, []string{`{"todos":[]}`}, abi.CodeInvalidInput, "list of todos"},
		"a key twice":      {abi.CapSessionTodo, `{}`, []string{`[{"content":"a","content":"b","status":"pending"}]`}, abi.CodeInvalidInput, "content"},
		"a faulty list":    {abi.CapSessionTodo, `{}`, []string{`[{"content":"a","status":"done"}]`}, abi.CodeInvalidInput, "todos[0].status"},
		"too many":         {abi.CapSessionTodo, `{}`, []string{"[" + strings.Repeat("{},", 99_999) + "{}]"}, abi.CodeInvalidInput, "100000 items"},
		"arguments":        {abi.CapSessionTask, `{"do":7}`, nil, abi.CodeInvalidInput, abi.CapSessionTask},
		"no operation":     {abi.CapSessionTask, `{}`, nil, abi.CodeInvalidInput, "create, get, update and list"},
		"another":          {abi.CapSessionTask, `{"do":"drop"}`, nil, abi.CodeInvalidInput, `"drop"`},
		"no task":          {abi.CapSessionTask, `{"do":"create"}`, nil, abi.CodeInvalidInput, "needs a subject"},
		"no change":        {abi.CapSessionTask, `{"do":"update","id":"1"}`, nil, abi.CodeInvalidInput, "nothing to change"},
		"an empty change":  {abi.CapSessionTask, `{"do":"update","id":"1","change":{}}`, nil, abi.CodeInvalidInput, "nothing to change"},
		"unknown":          {abi.CapSessionTask, `{"do":"update","id":"1","change":{"subject":"a"}}`, nil, abi.CodeNotFound, "there is none yet"},
		"no such name":     {"session.other", `{}`, nil, abi.CodeUnsupported, "session.other"},
	} {
		if _, _, err := b.ask(test.op, test.args, test.parts...); abi.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: got %s: %v", name, abi.CodeOf(err), err)
		}
	}
	if news := b.newsOf(); news != "" {
		t.Errorf("told %s", news)
	}
	b.scope.Rehearse = true
	for _, args := range []string{`{"do":"list"}`, `{"do":"get","id":"1"}`} {
		if _, _, err := b.ask(abi.CapSessionTask, args); err != nil {
			t.Errorf("%s, rehearsed: %v", args, err)
		}
	}
	if _, _, err := b.ask(abi.CapSessionTodo, `{"read":true}`); err != nil {
		t.Errorf("reading todos, rehearsed: %v", err)
	}
	_, _, todo := b.ask(abi.CapSessionTodo, `{}`, `[]`)
	_, _, create := b.ask(abi.CapSessionTask, `{"do":"create","change":{"subject":"a"}}`)
	if abi.CodeOf(todo) != abi.CodeUnsupported || abi.CodeOf(create) != abi.CodeUnsupported {
		t.Errorf("rehearsed changes: %v, %v", todo, create)
	}
	b.scope.Lists = nil
	if _, _, err := b.ask(abi.CapSessionTask, `{"do":"list"}`); abi.CodeOf(err) != abi.CodeUnsupported {
		t.Errorf("without lists: %v", err)
	}
}

// What hooks refuse is told to nobody, as it did not happen.
func TestApprovals(t *testing.T) {
	t.Parallel()
	no := func(context.Context, abi.WorkItem) error { return abi.Errorf(abi.CodeDenied, "no") }
	b := newBench(t, kept.Caller{Agent: "main", Created: no})
	if _, _, err := b.ask(abi.CapSessionTask, `{"do":"create","change":{"subject":"a"}}`); abi.CodeOf(err) != abi.CodeDenied || b.newsOf() != "" {
		t.Errorf("got %v", err)
	}
	b = newBench(t, kept.Caller{Agent: "main", Completed: no})
	_, _, made := b.ask(abi.CapSessionTask, `{"do":"create","change":{"subject":"a"}}`)
	b.newsOf()
	_, _, err := b.ask(abi.CapSessionTask, `{"do":"update","id":"1","change":{"status":"completed"}}`)
	if errors.Join(made) != nil || abi.CodeOf(err) != abi.CodeDenied || b.newsOf() != "" {
		t.Errorf("got %v, %v", made, err)
	}
}

// FuzzPlan plans what guests may ask for: it is refused, or can be done.
func FuzzPlan(f *testing.F) {
	f.Add(true, `{}`, `[{"content":"a","status":"pending"}]`)
	f.Add(false, `{"do":"create","change":{"subject":"a","metadata":{"a":{"b":[null]}}}}`, "")
	f.Add(false, `{"do":"update","id":"1","change":{"addBlocks":["1","2"],"status":"deleted"}}`, "")
	f.Fuzz(func(t *testing.T, todo bool, args, part string) {
		b := newBench(t, kept.Caller{Agent: "main"})
		name, parts := abi.CapSessionTask, []string(nil)
		if todo {
			name, parts = abi.CapSessionTodo, []string{part}
		}
		for range 2 {
			_, _, err := b.ask(name, args, parts...)
			if code := abi.CodeOf(err); err != nil && code != abi.CodeInvalidInput && code != abi.CodeNotFound {
				t.Errorf("%s: %v", code, err)
			}
		}
	})
}
