package toolquaytest_test

import (
	"encoding/json"
	"strings"
	"testing"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/toolquaytest"
)

// The tool Lists does one thing with lists of work and returns what it got.
func init() {
	toolquay.Handle("Lists", func(c *toolquay.Call, in struct{ Do string }) (toolquay.Output, error) {
		var got any
		var err error
		subject := "new"
		switch l := c.Lists(); in.Do {
		case "todos":
			got, err = l.Todos()
		case "set":
			got, err = l.SetTodos([]toolquay.Todo{{Content: "a \"b\"", Status: toolquay.WorkPending}, {ID: "2", Content: "c", Status: toolquay.WorkCompleted, Priority: "low"}})
		case "create":
			got, err = l.Create(toolquay.WorkChange{Subject: &subject, Metadata: map[string]toolquay.Raw{"a": toolquay.Raw("[1]")}})
		case "get":
			got, err = l.Get("7")
		case "update":
			got, err = l.Update("1", toolquay.WorkChange{Subject: &subject, AddBlocks: []string{"2", "3"}})
		default:
			got, err = l.List()
		}
		if err != nil {
			return toolquay.Output{}, err
		}
		text, err := json.Marshal(got)
		return toolquay.Text(string(text)), err
	})
}

func TestLists(t *testing.T) {
	t.Parallel()
	const task = `{"id":"1","subject":"s","status":"pending","blocks":["2"],"blockedBy":[]}`
	for _, test := range []struct{ do, capability, args, ok, body, got string }{
		{"todos", "session.todo", `{"read":true}`, `{"count":1}`, `{"todos":[{"content":"a","status":"pending"}],"before":[]}`, `[{"content":"a","status":"pending"}]`},
		{"set", "session.todo", `{}`, `{"count":2,"unchecked":true}`, `{"todos":[],"before":[{"content":"old","status":"pending"}]}`, `{"count":2,"unchecked":true,"todos":null,"before":[{"content":"old","status":"pending"}]}`},
		{"create", "session.task", `{"do":"create","change":{"subject":"new","metadata":{"a":[1]}}}`, `{"task":` + task + `}`, "", `{"task":{"id":"1","subject":"s"`},
		{"get", "session.task", `{"do":"get","id":"7"}`, `{"notes":["none"]}`, "", `{"notes":["none"]}`},
		{"update", "session.task", `{"do":"update","id":"1","change":{"subject":"new","addBlocks":["2","3"]}}`, `{"task":` + task + `,"updated":["blocks"],"from":"pending","to":"completed"}`, "", `"updated":["blocks"],"from":"pending","to":"completed"}`},
		{"list", "session.task", `{"do":"list"}`, `{"count":1,"hidden":2}`, `[` + task + `]`, `{"count":1,"hidden":2,"Tasks":[{"id":"1"`},
	} {
		t.Run(test.do, func(t *testing.T) {
			t.Parallel()
			var asked string
			host := toolquaytest.Files(nil).WithoutManifest().On(test.capability, func(args []byte) (any, []byte, error) {
				asked = string(args)
				return json.RawMessage(test.ok), []byte(test.body), nil
			})
			got := host.Call(t, "Lists", map[string]string{"do": test.do})
			if text := got.Text(); asked != test.args || !strings.Contains(text, test.got) {
				t.Errorf("asked %s, got %s", asked, text)
			}
		})
	}
}
