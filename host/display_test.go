package host_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/permissions"
)

// painter is a tool with a line for everything. Its assess has the last word where an input
// asks for that.
func painter(run func(c *host.Call) (abi.ToolResult, error)) host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "Paint", Title: "path", Renders: true,
			InputSchema:  `{"type":"object","properties":{"path":{"type":"string"},"colour":{"type":"string"},"said":{"type":"boolean"}}}`,
			OutputSchema: `{"type":"object","properties":{"spots":{"type":"integer"}}}`,
			Fields:       []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectWrite}},
			Lines: abi.Lines{
				Queued: "will paint {path}", Use: "{path}[ {colour}]", Progress: "{done} of {total} spots", Result: "{result.spots|spot}",
				Rejection: "stays as it is: {code}", Error: "is spoilt: {error}",
			},
			ClassifierText: "paint {path}[ {colour}]",
		},
		Assess: func(_ context.Context, input json.RawMessage, facts []abi.Fact) (abi.Assessment, error) {
			if facts != nil {
				return abi.Assessment{Lines: &abi.Lines{Use: "too late"}, ClassifierText: "too late"}, nil
			}
			if !strings.Contains(string(input), `"said":true`) {
				return abi.Assessment{}, nil
			}
			return abi.Assessment{Rendering: "in {colour}\x1b", Lines: &abi.Lines{Result: "done"}, ClassifierText: "as the tool says"}, nil
		},
		Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) { return run(c) },
	}
}

func painted(c *host.Call) (abi.ToolResult, error) {
	c.Report(abi.ProgressHead{Progress: &abi.Progress{Done: 1, Total: 2}})
	return abi.ToolResult{Content: []abi.Block{abi.TextBlock("ok")}, Structured: json.RawMessage(`{"spots":2}`)}, nil
}

// lines are those of the events of a call.
func lines(events []host.Event) []string {
	var out []string
	for _, e := range events {
		if e.Line != "" {
			out = append(out, string(e.Kind)+" "+e.Line)
		}
	}
	return out
}

func TestLines(t *testing.T) {
	t.Parallel()
	broken := func(*host.Call) (abi.ToolResult, error) {
		return abi.ToolResult{}, abi.Errorf(abi.CodeIO, "no\npaint")
	}
	for name, tt := range map[string]struct {
		tool     host.NativeTool
		input    string
		rules    []permissions.RuleSet
		headless bool
		want     []string
	}{
		"allowed": {
			tool: painter(painted), input: `{"path":"wall","colour":"red"}`, rules: []permissions.RuleSet{{Allow: permissions.RuleTexts("Paint")}},
			want: []string{"queued will paint wall", "started wall red", "progress 1 of 2 spots", "finished 2 spots", "result 2 spots"},
		},
		"asked": {
			tool: painter(painted), input: `{"path":"wall"}`,
			want: []string{"queued will paint wall", "question wall", "started wall", "progress 1 of 2 spots", "finished 2 spots", "result 2 spots"},
		},
		"said by the guest": {
			tool: painter(painted), input: `{"path":"wall","colour":"red","said":true}`,
			want: []string{`queued will paint wall`, `question in {colour}\x1b`, `started in {colour}\x1b`, "progress 1 of 2 spots", "finished done", "result done"},
		},
		"denied": {
			tool: painter(painted), input: `{"path":"wall"}`, rules: []permissions.RuleSet{{Deny: permissions.RuleTexts("Paint")}},
			want: []string{"queued will paint wall", "finished stays as it is: denied", "result stays as it is: denied"},
		},
		"nobody to ask": {
			tool: painter(painted), input: `{"path":"wall"}`, headless: true,
			want: []string{"queued will paint wall", "finished stays as it is: needs_approval", "result stays as it is: needs_approval"},
		},
		"failed": {
			tool: painter(broken), input: `{"path":"wall"}`, rules: []permissions.RuleSet{{Allow: permissions.RuleTexts("Paint")}},
			want: []string{"queued will paint wall", "started wall", "finished is spoilt: no paint", "result is spoilt: no paint"},
		},
		"bad input": {
			tool: painter(painted), input: `{"path":7}`,
			want: []string{"finished Paint: path: ", "result Paint: path: "},
		},
		"a tool without lines": {
			tool: echo("Paint", func(c *abi.Tool) { c.InputSchema, c.Title = anything, "s" }), input: `{"s":"a\u001b title"}`,
			want: []string{`queued a\x1b title`, `started a\x1b title`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := host.SessionOptions{Asker: yes()}
			if tt.headless {
				o.Asker = nil
			}
			s := session(t, open(t, host.Options{Tools: []host.NativeTool{tt.tool}, Permissions: host.PermissionOptions{Rules: tt.rules}}), o)
			_, events := one(t, s, "Paint", tt.input)
			same := func(got, want string) bool {
				return got == want || strings.HasSuffix(want, ": ") && strings.HasPrefix(got, want)
			}
			if got := lines(events); !slices.EqualFunc(got, tt.want, same) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestLinesOfGuestsAreChecked has a guest word a call by a template that is none.
func TestLinesOfGuestsAreChecked(t *testing.T) {
	t.Parallel()
	tool := painter(painted)
	tool.Assess = func(context.Context, json.RawMessage, []abi.Fact) (abi.Assessment, error) {
		return abi.Assessment{Lines: &abi.Lines{Queued: "{", Result: "[x"}}, nil
	}
	_, events := one(t, session(t, open(t, host.Options{Tools: []host.NativeTool{tool}}), host.SessionOptions{Asker: yes()}), "Paint", `{"path":"wall"}`)
	want := []string{"queued will paint wall", "question wall", "started wall", "progress 1 of 2 spots", "finished 2 spots", "result 2 spots"}
	if got := lines(events); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	logs := of(events, host.EventLog)
	if len(logs) != 1 || !strings.Contains(logs[0].Log.Message, "queued: '{' at byte 0 has no '}'") {
		t.Errorf("the log is told %+v", logs)
	}
}

// TestLinesOfQuestions gives askers the line that says what a call does, also after the input
// was rewritten.
func TestLinesOfQuestions(t *testing.T) {
	t.Parallel()
	person := yes()
	s := session(t, open(t, host.Options{
		Tools: []host.NativeTool{painter(painted)},
		Permissions: host.PermissionOptions{Hooks: hookSet(t, host.Hook{
			Event: host.PreToolUse, Func: func(context.Context, host.HookInput) (host.HookOutput, error) {
				return host.HookOutput{UpdatedInput: json.RawMessage(`{"path":"door","colour":"blue"}`)}, nil
			},
		})},
	}), host.SessionOptions{Asker: person})
	_, events := one(t, s, "Paint", `{"path":"wall"}`)
	want := []string{"queued will paint wall", "rewritten will paint door", "question door blue", "started door blue", "progress 1 of 2 spots", "finished 2 spots", "result 2 spots"}
	if got := lines(events); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, e := range events {
		if q := e.Question; q != nil && (q.Line != "door blue" || q.Approval.Line != "door blue" || q.Title != "door") {
			t.Errorf("the question has the line %q, its approval %q, and the title %q", q.Line, q.Approval.Line, q.Title)
		}
	}
}

// TestClassifierText shows judges what a tool has for them: in place of the input, or beside it
// where the tool is a stranger's.
func TestClassifierText(t *testing.T) {
	t.Parallel()
	server := func(json.RawMessage) host.ToolServer { return host.ToolServer{Name: "s", Tool: "paint"} }
	for name, tt := range map[string]struct {
		change      func(*host.NativeTool)
		input       string
		want, claim string
	}{
		"the manifest's":  {nil, `{"path":"/opt/wall","colour":"red"}`, "paint /opt/wall red", ""},
		"the guest's":     {nil, `{"path":"/opt/wall","said":true}`, "as the tool says", ""},
		"none":            {func(n *host.NativeTool) { n.Contract.ClassifierText = "" }, `{"path":"/opt/wall"}`, `{"path":"/opt/wall"}`, ""},
		"empty":           {func(n *host.NativeTool) { n.Contract.ClassifierText = "[{colour}]" }, `{"path":"/opt/wall"}`, `{"path":"/opt/wall"}`, ""},
		"of a stranger's": {func(n *host.NativeTool) { n.Server = server }, `{"path":"/opt/wall"}`, `{"path":"/opt/wall"}`, "paint /opt/wall"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := painter(painted)
			if tt.change != nil {
				tt.change(&tool)
			}
			var asked []judge.Prompt
			m := &chainModel{answer: func(p judge.Prompt) string {
				asked = append(asked, p)
				return judgeAllows
			}}
			s := judged(t, m, host.Options{Tools: []host.NativeTool{tool}}, host.SessionOptions{Cwd: "/srv"})
			if r, _ := one(t, s, "Paint", tt.input); r.IsError || len(asked) != 1 {
				t.Fatalf("%d questions: %s", len(asked), r.Text())
			}
			_, doc, _ := strings.Cut(asked[0].User, "\n")
			doc, _, _ = strings.Cut(doc, "\n</")
			var shown struct {
				Input string `json:"input"`
				Claim string `json:"tool_says"`
			}
			if err := json.Unmarshal([]byte(doc), &shown); err != nil || shown.Input != tt.want || shown.Claim != tt.claim {
				t.Errorf("%v: the judge is shown %q and %q, want %q and %q", err, shown.Input, shown.Claim, tt.want, tt.claim)
			}
		})
	}
}
