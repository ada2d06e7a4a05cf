package hooks

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// read is what becomes of what a command printed.
func read(e Event, stdout string) (Output, error) {
	out, err := parse(e, []byte(stdout))
	if err == nil {
		err = out.settle(e)
	}
	return out, err
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	png := abi.Block{Type: abi.BlockImage, MediaType: "image/png", Data: []byte{1, 2, 3}}
	for _, c := range []struct {
		event  Event
		stdout string
		want   Output
	}{
		{PreToolUse, ``, Output{}},
		{PreToolUse, " \r\n\t", Output{}},
		{PreToolUse, `{}`, Output{}},
		{PreToolUse, `{"continue":true,"suppressOutput":true,"other":null}`, Output{}},
		{PreToolUse, `{"decision":"allow"}`, Output{Verdict: permissions.Allow}},
		{PreToolUse, `{"decision":"approve","reason":"r"}`, Output{Verdict: permissions.Allow, Reason: "r"}},
		{PreToolUse, `{"decision":"ask","reason":"r"}`, Output{Verdict: permissions.Ask, Reason: "r"}},
		{PreToolUse, `{"decision":"block","reason":"r"}`, Output{Verdict: permissions.Deny, Reason: "r"}},
		{PreToolUse, `{"decision":"deny"}`, Output{Verdict: permissions.Deny}},
		{
			PreToolUse, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"r"}}`,
			Output{Verdict: permissions.Ask, Reason: "r"},
		},
		// Of two decisions the stricter, with its own reason.
		{
			PreToolUse, `{"decision":"deny","reason":"no","hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"yes"}}`,
			Output{Verdict: permissions.Deny, Reason: "no"},
		},
		{
			PreToolUse, `{"decision":"allow","reason":"yes","hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}`,
			Output{Verdict: permissions.Deny, Reason: "no"},
		},
		{
			PreToolUse, `{"continue":false,"stopReason":"done","systemMessage":"hey","hookSpecificOutput":{"additionalContext":"by the way"}}`,
			Output{Stop: true, StopReason: "done", Message: "hey", Context: "by the way"},
		},
		{
			PreToolUse, `{"hookSpecificOutput":{"updatedInput":{"b":1e2,"a":"<\u0041>"}}}`,
			Output{UpdatedInput: json.RawMessage(`{"a":"<A>","b":1e2}`)},
		},
		{PostToolUse, `{"decision":"block","reason":"r"}`, Output{Verdict: permissions.Deny, Reason: "r"}},
		{PostToolUse, `{"decision":"approve"}`, Output{}},
		{
			PostToolUse, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedOutput":"new"}}`,
			Output{UpdatedOutput: []abi.Block{abi.TextBlock("new")}},
		},
		{WorktreeCreated, `{"hookSpecificOutput":{"worktreePath":"/x"}}`, Output{Worktree: "/x"}},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":""}}`, Output{UpdatedOutput: []abi.Block{}}},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[]}}`, Output{UpdatedOutput: []abi.Block{}}},
		{
			PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[{"type":"text","text":"a","whole":{"path":"/x","bytes":1}}]}}`,
			Output{UpdatedOutput: []abi.Block{abi.TextBlock("a")}},
		},
		{
			PostToolUseFailure, `{"hookSpecificOutput":{"updatedOutput":[{"type":"text","text":"a"},` +
				`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}},` +
				`{"type":"tool_reference","tool_name":"Read"}]}}`,
			Output{UpdatedOutput: []abi.Block{abi.TextBlock("a"), png, {Type: abi.BlockToolReference, ToolName: "Read"}}},
		},
	} {
		got, err := read(c.event, c.stdout)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s at %s: got %+v, %v; want %+v", c.stdout, c.event, got, err, c.want)
		}
	}
}

func TestNonsense(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		event        Event
		stdout, want string
	}{
		{PreToolUse, `ok`, "something else than an answer in JSON"},
		{PreToolUse, `{"decision":"allow"} and more`, "nothing more was expected"},
		{PreToolUse, `{"decision":"allow"}{"decision":"deny"}`, "nothing more was expected"},
		{PreToolUse, `{"decision":"allow"`, "the document ends"},
		{PreToolUse, `{"decision":"deny","decision":"allow"}`, "duplicate"},
		{PreToolUse, `{"decision":"deny","d\u0065cision":"allow"}`, "duplicate"},
		{PreToolUse, "{\"decision\":\"allow\",\"reason\":\"\xff\"}", "UTF-8"},
		{PreToolUse, "\ufeff{}", "JSON"},
		{PreToolUse, `null`, "not an object"},
		{PreToolUse, `"allow"`, "not an object"},
		{PreToolUse, `[{"decision":"allow"}]`, "not an object"},
		{PreToolUse, `{"decision":"yes"}`, `decision is "yes"`},
		{PreToolUse, `{"decision":"ALLOW"}`, `decision is "ALLOW"`},
		{PreToolUse, `{"decision":" allow"}`, `decision is " allow"`},
		{PreToolUse, `{"decision":""}`, `decision is ""`},
		{PreToolUse, `{"decision":null}`, "decision is not a string"},
		{PreToolUse, `{"decision":true}`, "decision is not a string"},
		{PreToolUse, `{"Decision":"deny"}`, `unknown key "Decision"; write decision`},
		{PreToolUse, `{"decision":"allow","reason":5}`, "reason is not a string"},
		{PreToolUse, `{"continue":"false"}`, "continue is neither true nor false"},
		{PreToolUse, `{"continue":null}`, "continue is neither true nor false"},
		{PreToolUse, `{"hookSpecificOutput":"deny"}`, "hookSpecificOutput is not an object"},
		{PreToolUse, `{"hookSpecificOutput":null}`, "hookSpecificOutput is not an object"},
		{PreToolUse, `{"permissionDecision":"deny"}`, "permissionDecision is out of place"},
		{PreToolUse, `{"hookSpecificOutput":{"decision":"deny"}}`, "decision is out of place"},
		{PreToolUse, `{"hookSpecificOutput":{"permissionDecision":"approve"}}`, `permissionDecision is "approve"`},
		{PreToolUse, `{"hookSpecificOutput":{"permissiondecision":"deny"}}`, "write permissionDecision"},
		{PreToolUse, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"allow"}}`, `hookEventName is "PostToolUse"`},
		{PreToolUse, `{"hookSpecificOutput":{"hookEventName":""}}`, `hookEventName is ""`},
		{PreToolUse, `{"hookSpecificOutput":{"hookEventName":7}}`, "hookEventName is not a string"},
		{PreToolUse, `{"hookSpecificOutput":{"updatedInput":[]}}`, "updatedInput is not an object"},
		{PreToolUse, `{"hookSpecificOutput":{"updatedInput":null}}`, "updatedInput is not an object"},
		{PreToolUse, `{"hookSpecificOutput":{"updatedOutput":"x"}}`, "updatedOutput has no meaning"},
		{PostToolUse, `{"decision":"ask"}`, "nothing can be asked"},
		{PostToolUse, `{"hookSpecificOutput":{"permissionDecision":"deny"}}`, "permissionDecision has no meaning"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedInput":{}}}`, "updatedInput has no meaning"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":{}}}`, "neither a string nor a list"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":["x"]}}`, "updatedOutput"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[{"type":"video"}]}}`, "unknown type"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[{"type":"text","text":"a","more":1}]}}`, "unknown field"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[{"type":"image"}]}}`, "without data"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[{"type":"image","source":{"type":"url","media_type":"a/b","data":"x"}}]}}`, "write base64"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[{"type":"image","source":{"type":"base64","media_type":"a/b","data":"!"}}]}}`, "base64"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[{"type":"tool_reference"}]}}`, "without a tool name"},
		{PostToolUse, `{"hookSpecificOutput":{"updatedOutput":[` + strings.Repeat(`{"type":"text"},`, abi.MaxBlocks) + `{"type":"text"}]}}`, "over the limit"},
	} {
		_, err := read(c.event, c.stdout)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100s at %s: got %v, want %s", c.stdout, c.event, err, c.want)
		}
	}
}

func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", maxText-1) + "\u20ac and more"
	got := clean(long)
	if !strings.HasPrefix(got, long[:maxText-1]+"... (cut: ") || len(got) > maxText+40 {
		t.Errorf("cut to %d bytes: ...%q", len(got), got[max(0, len(got)-40):])
	}
	if got := clean("a\xffb"); got != "a\uFFFDb" {
		t.Errorf("got %q", got)
	}
}

// FuzzParse holds that nothing is an allow but a whole document that says allow,
// and no deny in one that is understood is lost.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"decision":"allow"}`, `{"decision":"block","reason":"r"}`, `{"continue":false}`, `allow`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"a":[1]}}}`,
		`{"decision":"allow","hookSpecificOutput":{"permissionDecision":"deny"}}`,
		`{"hookSpecificOutput":{"updatedOutput":[{"type":"text","text":"a"}]}}`,
	} {
		for _, e := range []Event{PreToolUse, PostToolUse} {
			f.Add(string(e), seed)
		}
	}
	f.Fuzz(func(t *testing.T, event, stdout string) {
		e := Event(event)
		got, err := read(e, stdout)
		if err != nil {
			return
		}
		said := saidDecisions(t, stdout)
		if got.Verdict == permissions.Allow && (e != PreToolUse || !said["allow"] && !said["approve"]) {
			t.Errorf("%q at %q allows", stdout, event)
		}
		if (said["deny"] || said["block"]) && got.Verdict != permissions.Deny {
			t.Errorf("%q at %q does not deny: %+v", stdout, event, got)
		}
		if got.UpdatedInput != nil {
			if again, err := abi.Canonical(got.UpdatedInput); err != nil || string(again) != string(got.UpdatedInput) {
				t.Errorf("%q: updated input %q is not canonical (%v)", stdout, got.UpdatedInput, err)
			}
		}
	})
}

// saidDecisions reads the decisions out of a document in another way than parse.
func saidDecisions(t *testing.T, stdout string) map[string]bool {
	t.Helper()
	said := map[string]bool{}
	canonical, err := abi.Canonical([]byte(stdout))
	if err != nil {
		return said
	}
	v, err := abi.Value(canonical)
	if err != nil {
		t.Fatal(err)
	}
	top, _ := v.(map[string]any)
	specific, _ := top["hookSpecificOutput"].(map[string]any)
	for _, decision := range []any{top["decision"], specific["permissionDecision"]} {
		if word, ok := decision.(string); ok {
			said[word] = true
		}
	}
	return said
}
