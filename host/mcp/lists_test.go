package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
)

// TestListsOfWork has clients work through tasks, and through todos where these are kept instead.
func TestListsOfWork(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			tasks := w.connect(serve(t), nil)
			gives(t, tasks, "TaskCreate", `{"subject":"Mend it","description":"All of it"}`, `"task":{"id":"1","subject":"Mend it"}`)
			gives(t, tasks, "TaskUpdate", `{"taskId":"1","status":"in_progress"}`, `"statusChange":{"from":"pending","to":"in_progress"}`)
			gives(t, tasks, "TaskGet", `{"taskId":"1"}`, `"status":"in_progress"`)
			gives(t, tasks, "TaskList", `{}`, `"owner":"main"`)
			if r := result(t, tasks, "TaskUpdate", `{"taskId":"7","status":"completed"}`); !r.IsError {
				t.Errorf("a task that is not there was changed: %+v", r.StructuredContent)
			}
			todos := w.connect(serve(t, func(_ *mcp.Options, o *host.Options) { o.Model.Todos = true }), nil)
			gives(t, todos, "TodoWrite", `{"todos":[{"content":"Mend it","status":"pending"}]}`, `"newTodos":[{"content":"Mend it","status":"pending"}]`)
			list, err := todos.ListTools(t.Context(), nil)
			if err != nil || slices.ContainsFunc(list.Tools, func(tool *sdk.Tool) bool { return tool.Name == "TaskCreate" }) {
				t.Errorf("tasks are offered beside todos: %v", err)
			}
		})
	}
}

func result(t *testing.T, c *sdk.ClientSession, tool, input string) *sdk.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(input)})
	if err != nil {
		t.Fatal(tool, err)
	}
	return r
}

// gives wants a text in what a call answers structured.
func gives(t *testing.T, c *sdk.ClientSession, tool, input, want string) {
	t.Helper()
	r := result(t, c, tool, input)
	got, err := json.Marshal(r.StructuredContent)
	if err != nil || r.IsError || !strings.Contains(string(got), want) {
		t.Errorf("%s answers %s, %v; want %s", tool, got, err, want)
	}
}
