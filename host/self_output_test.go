package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

const answerSchema = `{"type":"object","properties":{"run_in_background":{"type":"boolean"},"items":{"type":"array","items":{"type":"integer"}}},"required":["items"],"additionalProperties":false}`

// outputs are those that events tell.
func outputs(events []host.Event) (told []string) {
	for _, e := range events {
		if e.Kind == host.EventOutput {
			told = append(told, string(e.Output))
		}
	}
	return told
}

// TestOutput has a session asked for an output, in the mode that denies all that asks: the last
// one that fits counts.
func TestOutput(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Builtins: true, Model: host.ModelOptions{Toolset: host.ToolsetOptions{Only: []string{"Read"}}}})
	s := session(t, h, host.SessionOptions{OutputSchema: json.RawMessage(answerSchema), Mode: permissions.ModeDontAsk})
	if s.Output() != nil {
		t.Errorf("it begins with %s", s.Output())
	}
	definitions, err := s.Definitions(host.FormatAnthropic)
	// Without background tasks a field of this name goes from other tools.
	if err != nil || !strings.Contains(string(definitions), `"name":"StructuredOutput"`) || !strings.Contains(string(definitions), answerSchema) {
		t.Errorf("the definitions are %s, %v", definitions, err)
	}
	r, events := one(t, s, "StructuredOutput", `{"items":[1,2.0,3e0],"run_in_background":true}`)
	want := `{"items":[1,2,3],"run_in_background":true}` // integers as integers
	if r.IsError || !slices.Equal(outputs(events), []string{want}) || string(s.Output()) != want {
		t.Errorf("got %q, told %q, kept %s", r.Text(), outputs(events), s.Output())
	}
	r, events = one(t, s, "StructuredOutput", `{"items":["a",1,"b"],"x":1,"run_in_background":"no"}`)
	wantError(t, r, abi.CodeInvalidInput, "items[0]: ", "items[2]: ", "x: unknown field", "run_in_background: ")
	if outputs(events) != nil || string(s.Output()) != want {
		t.Errorf("told %q, kept %s", outputs(events), s.Output())
	}
	if r, _ = one(t, s, "StructuredOutput", `{"items":[]}`); !strings.Contains(r.Text(), "in place of") || string(s.Output()) != `{"items":[]}` {
		t.Errorf("got %q, kept %s", r.Text(), s.Output())
	}
	if other := session(t, h, host.SessionOptions{}); other.Output() != nil {
		t.Error("another session has the output")
	}
}

// TestOutputsThatAreLarge tells very many faults within bounds, and takes very many items.
func TestOutputsThatAreLarge(t *testing.T) {
	t.Parallel()
	s := session(t, open(t, host.Options{Builtins: true}), host.SessionOptions{OutputSchema: json.RawMessage(answerSchema)})
	items := func(item string, n int) string {
		return `{"items":[` + strings.Repeat(item+",", n-1) + item + `]}`
	}
	r, _ := one(t, s, "StructuredOutput", items(`"x"`, 2000))
	wantError(t, r, abi.CodeInvalidInput, "items[0]: expected integer", "and more")
	if n := strings.Count(r.Text(), "expected integer"); n != 100 || len(r.Text()) > 20_000 {
		t.Errorf("%d faults are told in %d bytes", n, len(r.Text()))
	}
	// So many faults may take longer to find than a check may.
	if r, _ = one(t, s, "StructuredOutput", items(`"x"`, 100_000)); !r.IsError || len(r.Text()) > 20_000 || s.Output() != nil {
		t.Errorf("got %.300q, kept %d bytes", r.Text(), len(s.Output()))
	}
	if r, _ = one(t, s, "StructuredOutput", items(`7`, 100_000)); r.IsError || len(s.Output()) < 200_000 {
		t.Errorf("got %q, kept %d bytes", r.Text(), len(s.Output()))
	}
	r, _ = one(t, s, "StructuredOutput", `{"items":[`+strings.Repeat("9", 500)+`]}`)
	wantError(t, r, abi.CodeInvalidInput, "a number of more than 400 digits")
}

// TestOutputOfTools is held to the schema whoever hands it over, and needs one.
func TestOutputOfTools(t *testing.T) {
	t.Parallel()
	var got error
	hands := echo("Hands")
	hands.Run = func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		answer, err := c.Do(ctx, abi.Request{Name: abi.CapSessionOutput, Args: json.RawMessage("{}"), Parts: []abi.Part{{Type: abi.PartJSON, Data: c.Input}}})
		got = err
		if err == nil {
			err = answer.Close()
		}
		return text("done"), err
	}
	h := open(t, host.Options{Builtins: true, Tools: []host.NativeTool{hands}, Permissions: host.PermissionOptions{Rules: rules("", "", "Hands")}})
	s := session(t, h, host.SessionOptions{OutputSchema: json.RawMessage(answerSchema)})
	for input, want := range map[string]string{`{"items":[1]}`: "", `{"items":1}`: "the output does not fit: items: expected array"} {
		one(t, s, "Hands", input)
		if (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%s: got %v, want %q", input, got, want)
		}
	}
	if string(s.Output()) != `{"items":[1]}` {
		t.Errorf("kept %s", s.Output())
	}
	one(t, session(t, h, host.SessionOptions{}), "Hands", `{"items":[1]}`)
	if abi.CodeOf(got) != abi.CodeDisabled {
		t.Errorf("without a schema: %v", got)
	}
}

// TestOutputSchemasThatCannotBe are refused before there is a session.
func TestOutputSchemasThatCannotBe(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Builtins: true})
	nested := `{"type":"object","properties":{"a":` + strings.Repeat(`{"allOf":[`, 3000) + "{}" + strings.Repeat("]}", 3000) + "}}"
	for schema, says := range map[string]string{
		`{`: "not strict JSON", `[]`: "not a JSON object", `true`: "not a JSON object", `{}`: "not one of an object",
		`{"type":["object"]}`: "not one of an object", `{"type":"string"}`: "not one of an object",
		`{"type":"object","$ref":"http://localhost/x"}`:                          "points outside the schema",
		`{"type":"object","properties":{"a":{"pattern":"("}}}`:                   "not valid JSON Schema at properties.a.pattern",
		`{"type":"object","properties":{"a":{"pattern":"a{1000}{1000}"}}}`:       "pattern",
		`{"type":"object","description":"` + strings.Repeat("x", 256<<10) + `"}`: "over the limit of 262144",
		`{"type":"object","enum":[` + strings.Repeat("{},", 5000) + `{}]}`:       "over the limit of 4000",
		nested: "",
	} {
		_, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), OutputSchema: json.RawMessage(schema)})
		if err == nil || !strings.HasPrefix(err.Error(), "SessionOptions.OutputSchema: ") || !strings.Contains(err.Error(), says) || len(err.Error()) > 2000 {
			t.Errorf("%.60s: got %.300v, want %q", schema, err, says)
		}
		if check := host.CheckOutputSchema(json.RawMessage(schema)); check == nil {
			t.Errorf("%.60s: it is found right", schema)
		}
	}
}

// TestOutputForAudiences offers it to agents of every kind.
func TestOutputForAudiences(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Builtins: true})
	for _, audience := range []host.Audience{host.AudienceMain, host.AudienceSubagent, host.AudienceBackground} {
		s := session(t, h, host.SessionOptions{OutputSchema: json.RawMessage(answerSchema), Audience: audience})
		if r, _ := one(t, s, "StructuredOutput", `{"items":[]}`); r.IsError {
			t.Errorf("%q: %s", audience, r.Text())
		}
	}
}

// TestTestingPermission always asks, where it is offered at all.
func TestTestingPermission(t *testing.T) {
	t.Parallel()
	also := host.ToolsetOptions{Also: []string{"TestingPermission"}}
	r, _ := one(t, session(t, open(t, host.Options{Builtins: true, Model: host.ModelOptions{Toolset: also}}), host.SessionOptions{}), "TestingPermission", `{}`)
	wantError(t, r, abi.CodeDisabled, "host.ModelOptions.Testing")
	h := open(t, host.Options{Builtins: true, Model: host.ModelOptions{Testing: true}, Permissions: host.PermissionOptions{Rules: rules("", "", "TestingPermission")}})
	for _, mode := range []permissions.Mode{permissions.ModeDefault, permissions.ModePlan, permissions.ModeAcceptEdits, permissions.ModeBypass} {
		var asked []string
		yes := anyone(func(_ context.Context, q host.Question) (host.Reply, error) {
			asked = append(asked, fmt.Sprint(q.Approval.Reasons))
			return yesReply, nil
		})
		s := session(t, h, host.SessionOptions{Asker: yes, Mode: mode})
		r, _ = one(t, s, "TestingPermission", `{}`)
		if r.IsError || len(asked) != 1 || !strings.Contains(asked[0], "tests how permission is asked for") {
			t.Errorf("%s: got %q, asked %q", mode, r.Text(), asked)
		}
	}
	r, _ = one(t, session(t, h, host.SessionOptions{}), "TestingPermission", `{}`)
	wantError(t, r, abi.CodeNeedsApproval)
	r, _ = one(t, session(t, h, host.SessionOptions{}), "TestingPermission", `{"a":1}`)
	wantError(t, r, abi.CodeInvalidInput, "a: unknown field")
}
