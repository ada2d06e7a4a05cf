package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// TestRefusedChangesAreNotInResults has tools ask for changes of the session that they may
// and may not make.
func TestRefusedChangesAreNotInResults(t *testing.T) {
	t.Parallel()
	cwd := func(value string) abi.Change { return abi.Change{Kind: abi.ChangeCwd, Value: json.RawMessage(value)} }
	tests := map[string]struct {
		safe, locked bool
		changes      []abi.Change
		kept         int
		// says is what the model is told of a refusal, and logged what the log says.
		says, logged string
	}{
		"a directory":            {changes: []abi.Change{cwd(`"sub"`)}, kept: 1},
		"a directory, safe":      {safe: true, changes: []abi.Change{cwd(`"sub"`)}, kept: 1},
		"locked":                 {locked: true, changes: []abi.Change{cwd(`"sub"`)}, says: "its input names", logged: "its input names"},
		"the mode":               {changes: []abi.Change{{Kind: "session.mode", Value: json.RawMessage(`"bypassPermissions"`)}}, says: "session.mode", logged: "session.mode"},
		"a hostile kind":         {changes: []abi.Change{{Kind: "a\n\x1b[2J", Value: json.RawMessage(`1`)}}, says: `"a\n\x1b[2J"`, logged: "no change of a session"},
		"no string":              {changes: []abi.Change{cwd(`{"to":"sub"}`)}, says: "JSON string", logged: "JSON string"},
		"outside":                {changes: []abi.Change{cwd(`"/"`)}, logged: "outside"},
		"outside, safe":          {safe: true, changes: []abi.Change{cwd(`"/"`)}, says: "outside", logged: "outside"},
		"no directory":           {changes: []abi.Change{cwd(`"sub/x"`)}, logged: "not a directory"},
		"missing, safe":          {safe: true, changes: []abi.Change{cwd(`"missing"`)}, says: "refused", logged: "refused"},
		"one of two":             {changes: []abi.Change{cwd(`"sub"`), {Kind: "session.mode", Value: json.RawMessage(`"auto"`)}}, kept: 1, says: "session.mode", logged: "session.mode"},
		"one of two, both moves": {changes: []abi.Change{cwd(`"/"`), cwd(`"sub"`)}, kept: 1, logged: "outside"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := files(t, map[string]string{"sub/x": ""})
			tool := host.NativeTool{
				Contract: abi.Tool{Name: "Move", Summary: "Moves", InputSchema: pathSchema},
				Run: func(context.Context, *host.Call) (abi.ToolResult, error) {
					return abi.ToolResult{Content: []abi.Block{abi.TextBlock("moved")}, Changes: test.changes}, nil
				},
			}
			if test.safe {
				tool.Contract.ReadOnly, tool.Contract.ConcurrencySafe = abi.TraitTrue, abi.TraitTrue
			}
			if test.locked {
				tool.Contract.Locks = abi.LocksFields
				tool.Contract.Fields = []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectWrite}}
			}
			var log bytes.Buffer
			h := open(t, host.Options{Tools: []host.NativeTool{tool}, Permissions: host.PermissionOptions{Rules: rules("", "", "Move")}, Observe: host.ObserveOptions{Logger: textLogger(&log)}})
			s := session(t, h, host.SessionOptions{Cwd: root})
			result, events := one(t, s, "Move", `{"path":"x"}`)
			made, refused := 0, 0
			for _, e := range of(events, host.EventChanged) {
				if e.Err == nil {
					made++
				} else {
					refused++
				}
			}
			if len(result.Changes) != test.kept || made != test.kept || refused != len(test.changes)-test.kept {
				t.Errorf("the result has the changes %v; %d were made and %d refused", result.Changes, made, refused)
			}
			for _, e := range append(of(events, host.EventResult), of(events, host.EventFinished)...) {
				if e.Kind == host.EventResult && len(e.Result.Changes) != test.kept {
					t.Errorf("%s has the changes %v", e.Kind, e.Result.Changes)
				}
			}
			if got := result.Text(); !strings.HasPrefix(got, "moved") || !strings.Contains(got, test.says) || test.says == "" && got != "moved" {
				t.Errorf("the model is told %q", got)
			}
			if got := log.String(); !strings.Contains(got, test.logged) || (test.logged == "") == strings.Contains(got, "refused") {
				t.Errorf("the log says %q", got)
			}
		})
	}
}
