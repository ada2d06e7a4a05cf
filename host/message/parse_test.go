package message_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/message"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		src    string
		format message.Format
		calls  []string // id name input
		deny   []string
		ask    []string
	}{
		"an Anthropic message": {
			src: `{"role": "assistant", "content": [{"type": "text", "text": "x"},
				{"type": "tool_use", "id": "t1", "name": "Read", "input": {"b": 1, "a": 2}, "cache_control": {"type": "ephemeral"}}]}`,
			format: message.Anthropic, calls: []string{`t1 Read {"a":2,"b":1}`},
		},
		"an Anthropic response with tools of the API's own": {
			src: `{"id": "m", "type": "message", "role": "assistant", "model": "x", "stop_reason": "tool_use", "error": null, "content": [
				{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
				{"type": "tool_use", "id": "t1", "name": "A", "input": {}}, {"type": "tool_use", "id": "t2", "name": "B", "input": {}}]}`,
			format: message.Anthropic, calls: []string{"t1 A {}", "t2 B {}"},
		},
		"an OpenAI message": {
			src: `{"role": "assistant", "content": "Let me.", "tool_calls": [
				{"id": "c1", "type": "function", "function": {"name": "Read", "arguments": "{\"a\": 1}"}},
				{"id": "c2", "type": "function", "function": {"name": "Read", "arguments": ""}},
				{"id": "c3", "function": {"name": "Read", "arguments": {"a": 1}}}]}`,
			format: message.OpenAI, calls: []string{`c1 Read {"a": 1}`, "c2 Read ", `c3 Read {"a":1}`},
		},
		"an OpenAI response": {
			src:    `{"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "A"}}]}}, {"message": {}}]}`,
			format: message.OpenAI, calls: []string{"c1 A "},
		},
		"a Responses response": {
			src: `{"object": "response", "status": "completed", "error": null, "output": [{"type": "reasoning", "id": "r", "summary": []},
				{"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "Read", "arguments": "{\"a\": 1}", "status": "completed"},
				{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
				{"type": "function_call", "call_id": "c2", "name": "B", "arguments": "{oops"}]}`,
			format: message.Responses, calls: []string{`c1 Read {"a": 1}`, "c2 B {oops"},
		},
		"its items": {
			src:    `[{"type": "reasoning", "id": "r"}, {"type": "function_call", "call_id": "c1", "name": "A", "arguments": "{}"}]`,
			format: message.Responses, calls: []string{"c1 A {}"},
		},
		"a Gemini response": {
			src: `{"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}, {"functionCall": {"name": "A", "args": {"b": 1, "a": 2}}, "thoughtSignature": "s"},
				{"functionCall": {"id": "x", "name": "B"}}]}, "finishReason": "STOP"}]}`,
			format: message.Gemini, calls: []string{`unnamed_1 A {"a":2,"b":1}`, "x B "},
		},
		"a Gemini content": {
			src:    `{"role": "model", "parts": [{"functionCall": {"name": "A", "args": {}}}], "settings": {"permissions": {"deny": ["A"]}}}`,
			format: message.Gemini, calls: []string{"unnamed_1 A {}"}, deny: []string{"A"},
		},
		"arguments that are no JSON are their call's fault": {
			src:    `{"tool_calls": [{"id": "c1", "function": {"name": "A", "arguments": "{oops"}}]}`,
			format: message.OpenAI, calls: []string{"c1 A {oops"},
		},
		"a plain list": {
			src:    `[{"name": "A", "input": {}}, {"id": "call_1", "name": "B"}, {"name": "C", "type": "tool_use"}]`,
			format: message.List, calls: []string{"call_4 A {}", "call_1 B ", "call_3 C "},
		},
		"settings": {
			src: `{"settings": {"permissions": {"deny": ["Read(.env)", "Bash"], "ask": ["Grep"]}},
				"content": [{"type": "tool_use", "id": "t", "name": "A"}]}`,
			format: message.Anthropic, calls: []string{"t A "}, deny: []string{"Read(.env)", "Bash"}, ask: []string{"Grep"},
		},
		"keys are taken as written": {
			src: "{\"settings\": {\"permissions\": {\"deny\": [\"A\"]}}, \"\u017fettings\": {}, \"SETTINGS\": 1,\n" +
				`"content": [{"type": "tool_use", "id": "t", "name": "A", "Name": "B", "ID": "x"}]}`,
			format: message.Anthropic, calls: []string{"t A "}, deny: []string{"A"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := message.Parse([]byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			for _, c := range m.Calls {
				calls = append(calls, c.ID+" "+c.Name+" "+string(c.Input))
			}
			if m.Format != tt.format || !slices.Equal(calls, tt.calls) {
				t.Errorf("got %s %q, want %s %q", m.Format, calls, tt.format, tt.calls)
			}
			if !slices.Equal(m.Settings.Deny, tt.deny) || !slices.Equal(m.Settings.Ask, tt.ask) {
				t.Errorf("settings %+v, want deny %q and ask %q", m.Settings, tt.deny, tt.ask)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ src, want string }{
		"nothing":              {"", "the document ends"},
		"a place":              {"{\"a\": 1,\n \"a\": 2}", "line 2, column 2: "},
		"a value":              {`"x"`, "the message must be an object, not a string"},
		"no content":           {`{"id": 1}`, "no content (Anthropic), tool_calls (OpenAI), output (OpenAI Responses) or parts (Gemini)"},
		"role of another type": {`{"role": 1}`, "role must be a string, not a number"},
		"content, an object":   {`{"content": {}}`, "content must be a list, not an object"},
		"content, a number":    {`{"content": [1]}`, "content[0] must be an object, not a number"},
		"calls, null inside":   {`{"tool_calls": [null]}`, "tool_calls[0] must be an object, not null"},
		"a custom call":        {`{"tool_calls": [{"type": "custom", "custom": {}}]}`, `tool_calls[0] is of the type "custom"`},
		"no function":          {`{"tool_calls": [{"id": "1"}]}`, "tool_calls[0].function is missing"},
		"arguments, a list":    {`{"tool_calls": [{"function": {"name": "A", "arguments": []}}]}`, "tool_calls[0].function.arguments must be a string, not a list"},
		"a failed response":    {`{"output": [], "error": {"message": "x"}}`, "error response of a model API"},
		"output, an object":    {`{"output": {}}`, "output must be a list, not an object"},
		"an item without name": {`{"output": [{"type": "function_call"}]}`, "output[0] has no name"},
		"a part without name":  {`{"parts": [{"functionCall": {}}]}`, "parts[0].functionCall has no name"},
		"a user's parts":       {`{"role": "user", "parts": [{"functionCall": {"name": "A"}}]}`, `the role "user"`},
		"choices without":      {`{"choices": [{}]}`, "choices[0].message is missing"},
		"list of lists":        {`[[]]`, "[0] must be an object, not a list"},
		"list with results":    {`[{"type": "tool_result", "name": "A"}]`, `[0] is of the type "tool_result"`},
		"settings, a list":     {`{"settings": [], "content": []}`, "settings must be an object, not a list"},
		"settings, empty":      {`{"settings": {}, "content": []}`, "settings.permissions is missing"},
		"rules, a string":      {`{"settings": {"permissions": {"deny": "A"}}}`, "settings.permissions.deny must be a list, not a string"},
		"rules of numbers":     {`{"settings": {"permissions": {"ask": [1]}}}`, "settings.permissions.ask[0] must be a string, not a number"},
		"allow":                {`{"settings": {"permissions": {"allow": []}}}`, "settings.permissions.allow: what comes with a message can only tighten"},
		"Deny":                 {`{"settings": {"permissions": {"Deny": []}}}`, "settings.permissions.Deny: what comes"},
		"too large":            {strings.Repeat(" ", message.MaxSize+1), "over the limit of 16MiB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := message.Parse([]byte(tt.src))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %+v and %v, want an error with %q", m, err, tt.want)
			}
			if code := abi.CodeOf(err); code != abi.CodeInvalidInput && code != abi.CodeTooLarge {
				t.Errorf("the error's code is %s", code)
			}
		})
	}
}

func TestParseNoCalls(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		`{"role": "assistant", "content": "Done."}`, `{"role": "assistant", "content": null}`, `{"content": []}`,
		`{"choices": [{"message": {"role": "assistant", "content": "Done.", "tool_calls": []}}]}`, `[]`,
	} {
		if m, err := message.Parse([]byte(src)); !errors.Is(err, message.ErrNoCalls) {
			t.Errorf("%s: got %+v and %v, want ErrNoCalls", src, m, err)
		}
	}
}

// FuzzParse holds what callers build on: a message that is accepted has calls,
// each with a name; those of a list have ids of their own.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]}`,
		`{"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "A", "arguments": "{}"}}]}}]}`,
		`[{"name": "A"}, {"id": "call_1", "name": "B"}]`,
		`{"output": [{"type": "function_call", "call_id": "c", "name": "A", "arguments": "{}"}]}`,
		`[{"type": "function_call", "name": "A"}, {}]`,
		`{"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "A", "args": {}}}]}}]}`,
		`{"settings": {"permissions": {"deny": ["A"]}}, "content": []}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := message.Parse(src)
		if err != nil {
			return
		}
		if len(m.Calls) == 0 {
			t.Fatal("a message without calls was accepted")
		}
		ids := make(map[string]bool)
		for _, c := range m.Calls {
			if c.Name == "" || m.Format == message.List && c.ID == "" {
				t.Fatalf("the call %+v has no name or id", c)
			}
			ids[c.ID] = true
		}
		given := strings.Count(string(src), `"id"`)
		if m.Format == message.List && given == 0 && len(ids) != len(m.Calls) {
			t.Fatalf("%d calls share %d ids", len(m.Calls), len(ids))
		}
	})
}
