package abi_test

import (
	"encoding/json"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

func TestRenamed(t *testing.T) {
	t.Parallel()
	tool := abi.Tool{Renames: []abi.Rename{{Alias: "KillShell", From: "shell_id", To: "task_id"}, {Alias: "Other", From: "x", To: "task_id"}}}
	for name, test := range map[string]struct{ call, input, want string }{
		"by the alias":         {"KillShell", `{"shell_id":"b1"}`, `{"task_id":"b1"}`},
		"by the tool's name":   {"TaskStop", `{"shell_id":"b1"}`, `{"shell_id":"b1"}`},
		"by another alias":     {"Other", `{"shell_id":"b1"}`, `{"shell_id":"b1"}`},
		"as the tool calls it": {"KillShell", `{"task_id":"b1"}`, `{"task_id":"b1"}`},
		"in a value":           {"KillShell", `{"task_id":"shell_id"}`, `{"task_id":"shell_id"}`},
		"numbers stay":         {"KillShell", `{"a":1e2,"shell_id":"<&>"}`, `{"a":1e2,"task_id":"<&>"}`},
		"no object":            {"KillShell", `["shell_id"]`, `["shell_id"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tool.Renamed(test.call, json.RawMessage(test.input))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
	if got, err := tool.Renamed("KillShell", json.RawMessage(`{"shell_id":"a","task_id":"b"}`)); abi.CodeOf(err) != abi.CodeInvalidInput {
		t.Errorf("both names: got %s, %v", got, err)
	}
}
