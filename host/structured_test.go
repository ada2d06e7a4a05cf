package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

const countSchema = `{"type":"object","properties":{"n":{"type":"integer"},"names":{"type":"array","items":{"type":"string"}}},"required":["n"],"additionalProperties":false}`

// TestOutputSchemasAreHeld has a guest, and a tool of the embedder's, answer with what they are
// given as structured content.
func TestOutputSchemasAreHeld(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	var heard []json.RawMessage
	native := abi.Tool{Name: "Native", Summary: "Answers", InputSchema: `{"type":"object"}`, OutputSchema: countSchema}
	h := open(t, host.Options{
		Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "structured", fixtureTool+"output_schema = '"+countSchema+"'\n")}, Granted: []string{"fixture"},
		},
		Tools: []host.NativeTool{{Contract: native, Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
			return abi.ToolResult{Content: []abi.Block{abi.TextBlock("done")}, Structured: c.Input}, nil
		}}},
		Permissions: host.PermissionOptions{Rules: rules("", "", "Native"), Hooks: hookSet(t, host.Hook{
			Event: host.PostToolUse, Func: func(_ context.Context, in host.HookInput) (host.HookOutput, error) {
				heard = append(heard, in.Result.Structured)
				return host.HookOutput{}, nil
			},
		})},
		Observe: host.ObserveOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))},
	})
	s := session(t, h, host.SessionOptions{})
	for _, test := range []struct{ tool, input, fault string }{
		{"Fixture", `{"n":1,"names":["a","b"]}`, ""},
		{"Fixture", `{"n":1e0}`, ""},
		{"Fixture", `{"n":1,"names":null}`, ""},
		{"Fixture", `{"n":null}`, "n: expected integer"},
		{"Fixture", `{"names":[]}`, "output schema of Fixture (plugin fixture): n: required"},
		{"Fixture", `{"n":1,"names":["a",2]}`, "names[1]: expected string"},
		{"Native", `{"n":2}`, ""},
		{"Native", `{"n":"two"}`, "output schema of Native: n: expected integer"},
		{"Native", `{"m":2,"n":1}`, "m: unknown field"},
	} {
		heard = nil
		log.Reset()
		r, events := one(t, s, test.tool, test.input)
		told := slices.ContainsFunc(events, func(e host.Event) bool {
			return e.Kind == host.EventLog && e.Log.Level == "warn" && strings.Contains(e.Log.Message, test.fault)
		})
		if r.IsError {
			t.Errorf("%s %s: failed: %s", test.tool, test.input, r.Text())
		}
		if test.fault == "" {
			if want := strings.NewReplacer("1e0", "1", `,"names":null`, "").Replace(test.input); string(r.Structured) != want || told || log.String() != "" || strings.Contains(r.Text(), "[") != strings.Contains(test.input, "[") {
				t.Errorf("%s %s: got %s, %q, told %v, log %q", test.tool, test.input, r.Structured, r.Text(), told, log.String())
			}
			continue
		}
		if r.Structured != nil || heard[0] != nil {
			t.Errorf("%s %s: it was passed on: %s, to hooks %s", test.tool, test.input, r.Structured, heard[0])
		}
		if !strings.Contains(r.Text(), test.fault) || !told || !strings.Contains(log.String(), "call=c1 tool="+test.tool) {
			t.Errorf("%s %s: got %q, told %v, log %q", test.tool, test.input, r.Text(), told, log.String())
		}
		if first := r.Content[0].Text; test.tool == "Fixture" && first != test.input {
			t.Errorf("without other content the model gets %q", first)
		}
	}
	for says, schema := range map[string]string{
		"the output schema: the schema is not valid JSON Schema": `{"type":"object","properties":{"a":{"type":"objekt"}}}`,
		"output_schema": `[]`,
	} {
		native.OutputSchema = schema
		_, err := host.Open(t.Context(), host.Options{Tools: []host.NativeTool{{Contract: native, Run: echo("x").Run}}})
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

// TestOutputSchemasThatCannotBeHeld: of a schema that is no schema, and one that takes too much
// work, nothing is passed on either, and the call goes on.
func TestOutputSchemasThatCannotBeHeld(t *testing.T) {
	t.Parallel()
	var doubling strings.Builder
	doubling.WriteString(`{"type":"object","$defs":{"d0":{}`)
	for i := range 40 {
		fmt.Fprintf(&doubling, `,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	doubling.WriteString(`},"allOf":[{"$ref":"#/$defs/d40"}]}`)
	for says, schema := range map[string]string{
		"not valid JSON Schema": `{"type":"object","properties":{"a":{"type":"objekt"}}}`,
		"cannot be checked":     doubling.String(),
	} {
		h := open(t, host.Options{Plugins: host.PluginOptions{
			Sources: []plugins.Source{plugin(t, "structured", fixtureTool+"output_schema = '"+schema+"'\n")}, Granted: []string{"fixture"},
		}})
		r, _ := one(t, session(t, h, host.SessionOptions{}), "Fixture", `{"a":1}`)
		if r.IsError || r.Structured != nil || !strings.HasPrefix(r.Text(), `{"a":1}`) || !strings.Contains(r.Text(), says) {
			t.Errorf("%s: got %q, %s", says, r.Text(), r.Structured)
		}
	}
}

// TestUserModified has a person allow a write as it is, and with another content.
func TestUserModified(t *testing.T) {
	t.Parallel()
	for content, line := range map[string]string{"": "+the model's", "the person's\n": "+the person's"} {
		person := asking(func(context.Context, host.Approval) (host.Reply, error) {
			reply := host.Reply{Answer: host.AnswerAllow}
			if content != "" {
				reply.Input = json.RawMessage(`{"file_path":"a.txt","content":` + strconv.Quote(content) + `}`)
			}
			return reply, nil
		})
		s := session(t, open(t, host.Options{Builtins: true}), host.SessionOptions{Asker: person})
		r, _ := one(t, s, "Write", `{"file_path":"a.txt","content":"the model's\n"}`)
		var told struct {
			Diff         string
			UserModified bool `json:"user_modified"`
		}
		must(t, json.Unmarshal(r.Structured, &told))
		if !strings.Contains(told.Diff, line+"\n") || !strings.HasSuffix(r.Text(), told.Diff) || told.UserModified != (content != "") {
			t.Errorf("with %q: got %+v, %s", content, told, r.Text())
		}
	}
}

// TestBuiltInToolsFitTheirSchemas has built-in tools answer in ways in which something is
// missing, and nothing of that is left out.
func TestBuiltInToolsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.txt": "one\n", "empty": "", "n.ipynb": `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[]}`})
	s := session(t, open(t, host.Options{Builtins: true}), host.SessionOptions{Cwd: dir, Mode: permissions.ModeAcceptEdits})
	for _, call := range [][2]string{
		{"Read", `{"file_path":"a.txt"}`}, {"Read", `{"file_path":"a.txt"}`}, {"Read", `{"file_path":"empty"}`}, {"Read", `{"file_path":"n.ipynb"}`},
		{"Write", `{"file_path":"a.txt","content":"one\n"}`}, {"Write", `{"file_path":"b.txt","content":"two\n"}`},
		{"Edit", `{"file_path":"a.txt","old_string":"one","new_string":"1"}`},
		{"NotebookEdit", `{"notebook_path":"n.ipynb","new_source":"x","cell_type":"code","edit_mode":"insert"}`},
		{"Glob", `{"pattern":"*"}`}, {"Glob", `{"pattern":"none"}`}, {"Grep", `{"pattern":"o"}`}, {"Grep", `{"pattern":"1","output_mode":"content"}`},
	} {
		r, events := one(t, s, call[0], call[1])
		if r.IsError || r.Structured == nil {
			t.Errorf("%s %s: got %q, structured %s", call[0], call[1], r.Text(), r.Structured)
		}
		if len(of(events, host.EventLog)) > 0 || strings.Contains(r.Text(), "output schema") {
			t.Errorf("%s %s: %q", call[0], call[1], r.Text())
		}
	}
}

// BenchmarkOutputSchema measures what holding the structured content of a short answer costs.
func BenchmarkOutputSchema(b *testing.B) {
	for name, schema := range map[string]string{"none": "", "held": "output_schema = '" + countSchema + "'\n"} {
		b.Run(name, func(b *testing.B) {
			h := open(b, host.Options{Plugins: host.PluginOptions{
				Sources: []plugins.Source{plugin(b, "structured", fixtureTool+schema)}, Granted: []string{"fixture"},
			}})
			s := session(b, h, host.SessionOptions{})
			uses := []abi.ToolUse{use("c1", "Fixture", `{"n":1,"names":["a","b"]}`)}
			for b.Loop() {
				if r := s.Results(b.Context(), uses); r[0].Structured == nil {
					b.Fatal(r[0].Text())
				}
			}
		})
	}
}
