package mcp_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/permissions"
)

// asking is a tool of the embedder's that asks one question and tells the answer.
func asking(name string, q host.Ask) host.NativeTool {
	contract := abi.Tool{Name: name, Summary: "Asks", InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue}
	return host.NativeTool{Contract: contract, Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		reply, err := c.Ask(ctx, q)
		if err != nil {
			return abi.ToolResult{}, err
		}
		return abi.ToolResult{Content: []abi.Block{abi.TextBlock(strings.TrimSpace(string(reply.Answer) + " " + string(reply.Content)))}}, nil
	}}
}

func withQuestions(_ *mcp.Options, o *host.Options) {
	o.Tools = []host.NativeTool{
		asking("Form", host.Ask{Form: &host.Form{Message: "How\x1b many?", Schema: json.RawMessage(
			`{"type":"object","properties":{"n":{"type":"integer","title":"Number"},"size":{"type":"string","enum":["s","l"],"default":"l"}},"required":["n"]}`)}}),
		asking("Choose", host.Ask{Choice: &host.Choice{Questions: []abi.ChoiceQuestion{
			{Question: "Which\x1b one?", Header: "Kind", Options: []abi.ChoiceOption{{Label: "a\u202e", Description: "the first"}, {Label: "b"}}},
			{Question: "What else?", Options: []abi.ChoiceOption{{Label: "c"}, {Label: "d"}}, MultiSelect: true},
		}}}),
		asking("Plan", host.Ask{Plan: &host.PlanQuestion{
			Plan: "# Mend it\n\x1b[2J1. Test.\n", Path: "/s/plan.md", Modes: []permissions.Mode{permissions.ModeDefault, permissions.ModeAcceptEdits},
			Proposals: []abi.PlanProposal{{Tool: "Bash", Prompt: "run\x1b the tests"}},
		}}),
		asking("Long", host.Ask{Plan: &host.PlanQuestion{Plan: strings.Repeat("x", 20_000), Modes: []permissions.Mode{permissions.ModeDefault}}}),
		asking("Visit", host.Ask{URL: &host.URLQuestion{Message: "Sign in", URL: "https://example.com/in"}}),
	}
}

// TestQuestionsOfTools has a client asked what a tool asks, with the tool's name before its
// words.
func TestQuestionsOfTools(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var said []string
			answers := []*sdk.ElicitResult{
				{Action: "accept", Content: map[string]any{"n": 3}}, {Action: "decline"}, {Action: "cancel"},
				{Action: "accept"}, {Action: "decline"}, {Action: "cancel"},
			}
			c := w.connect(serve(t, withQuestions), &sdk.ClientOptions{
				Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}},
				ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					mu.Lock()
					defer mu.Unlock()
					said = append(said, r.Params.Mode+" "+r.Params.Message+" "+r.Params.URL)
					answer := answers[0]
					answers = answers[1:]
					return answer, nil
				},
			})
			for i, want := range []string{`allow {"n":3,"size":"l"}`, "deny", "the person dismissed the question", "allow", "deny", "the person dismissed the question"} {
				tool := []string{"Form", "Visit"}[i/3]
				r := call(t, c, tool, map[string]any{})
				if text := textOf(r); !strings.Contains(text, want) || r.IsError != (i%3 == 2) {
					t.Errorf("%s %d: %q, want %q", tool, i, text, want)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			const form, url = `form "Form" asks: How\x1b many? `, `url "Visit" asks: Sign in https://example.com/in`
			if got, want := strings.Join(said, "\n"), strings.Join([]string{form, form, form, url, url, url}, "\n"); got != want {
				t.Errorf("asked\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestQuestionsInARow has a tool ask again as soon as it has an answer, and ask while another
// question of the call is with the client already.
func TestQuestionsInARow(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			const rounds = 6 // the SDK's client comes back ten times
			form := host.Ask{Form: &host.Form{Message: "Go on?", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}
			asked := make(chan struct{}, 2*rounds)
			c := w.connect(serve(t, tool("Row", func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				second := make(chan error, 1)
				go func() {
					<-asked // the client has the first one by now
					_, err := c.Ask(ctx, form)
					second <- err
				}()
				for range rounds {
					if _, err := c.Ask(ctx, form); err != nil {
						return abi.ToolResult{}, err
					}
				}
				if err := <-second; err != nil {
					return abi.ToolResult{}, err
				}
				return textResult("done")
			})), &sdk.ClientOptions{
				Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
				ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked <- struct{}{}
					return &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
				},
			})
			if r := call(t, c, "Row", map[string]any{}); textOf(r) != "done" {
				t.Errorf("%q", textOf(r))
			}
		})
	}
}

// TestChoicesOfOlderRevisions asks a client of a revision that knows choices by lists of names.
func TestChoicesOfOlderRevisions(t *testing.T) {
	t.Parallel()
	schemas := make(chan string, 1)
	c := serve(t).pipe(&sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			text, err := json.Marshal(r.Params.RequestedSchema)
			schemas <- string(text)
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow"}}, err
		},
	}, "2025-06-18")
	r := call(t, c, "Write", map[string]any{"file_path": "b.txt", "content": "b"})
	if schema := <-schemas; r.IsError || !strings.Contains(schema, `"enumNames":["Allow this once",`) {
		t.Errorf("%q by the schema %s", textOf(r), schema)
	}
}

// TestFormsThatPose has a tool ask with texts that turn others around: no client is asked.
func TestFormsThatPose(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ *mcp.Options, o *host.Options) {
		o.Tools = []host.NativeTool{asking("Form", host.Ask{Form: &host.Form{
			Message: "Your name?", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"string","title":"Name\u202e"}}}`)}})}
	})
	c := s.pipe(&sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			t.Error("the client was asked")
			return &sdk.ElicitResult{Action: "cancel"}, nil
		},
	}, "2025-11-25")
	if r := call(t, c, "Form", map[string]any{}); !r.IsError || !strings.Contains(textOf(r), "nobody to ask") {
		t.Errorf("%q", textOf(r))
	}
}

// elicited is one question as a client gets it.
type elicited struct{ message, schema string }

// answering is a client that gives answers, one after the other, and notes what it is asked.
func answering(t *testing.T, answers ...*sdk.ElicitResult) (*sdk.ClientOptions, func() elicited) {
	t.Helper()
	all := make(chan elicited, len(answers))
	next := make(chan *sdk.ElicitResult, len(answers))
	for _, a := range answers {
		next <- a
	}
	return &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			schema, err := json.Marshal(r.Params.RequestedSchema)
			if err != nil {
				return nil, err
			}
			all <- elicited{r.Params.Message, string(schema)}
			answer := *<-next
			answer.Content = maps.Clone(answer.Content) // the client fills in defaults, and others give the same answer
			return &answer, nil
		},
	}, func() elicited { return <-all }
}

func accepts(content map[string]any) *sdk.ElicitResult {
	return &sdk.ElicitResult{Action: "accept", Content: content}
}

// TestChoicesAndPlans asks clients of every way and revision to choose and to accept a plan.
func TestChoicesAndPlans(t *testing.T) {
	t.Parallel()
	const (
		choose = `"Choose" asks: choose, or answer in your own words.

1. [Kind] Which\x1b one?
   - a\u202e (the first)
   - b

2. What else?
   - c
   - d
`
		plan = `"Plan" asks: accept this plan?

| # Mend it
| \x1b[2J1. Test.

Plan file: /s/plan.md

The model would like to be allowed the following. It is allowed nothing by that.
- Bash: run\x1b the tests
`
	)
	tests := []struct {
		tool, message string
		answer        *sdk.ElicitResult
		want          string
		fails         bool
	}{
		{"Choose", choose, accepts(map[string]any{"choice_1": "2", "choice_2": []any{"1", "2"}}), `allow {"answers":{"What else?":["c","d"],"Which\u001b one?":"b"}}`, false},
		{"Choose", choose, accepts(map[string]any{"choice_1": "1", "own_words_1": " neither ", "own_words_2": "e"}), `allow {"answers":{"What else?":["e"],"Which\u001b one?":"neither"}}`, false},
		{"Choose", choose, accepts(map[string]any{"choice_1": "1"}), "question 2", true},
		{"Choose", choose, &sdk.ElicitResult{Action: "decline"}, "deny", false},
		{"Choose", choose, &sdk.ElicitResult{Action: "cancel"}, "dismissed", true},
		{"Plan", plan, accepts(map[string]any{"answer": "default"}), `allow {"mode":"default"}`, false},
		{"Plan", plan, accepts(map[string]any{"answer": "acceptEdits", "plan": "Leave it.", "rule": "Bash(make)"}), `allow {"plan":"Leave it.","mode":"acceptEdits","rules":["Bash(make)"]}`, false},
		{"Plan", plan, accepts(map[string]any{"answer": "default", "rule": "Bash(make"}), "rule 1", true},
		{"Plan", plan, accepts(map[string]any{"answer": "refuse", "message": "Test it."}), "deny", false},
		{"Plan", plan, &sdk.ElicitResult{Action: "decline"}, "deny", false},
	}
	var answers []*sdk.ElicitResult
	for _, test := range tests {
		answers = append(answers, test.answer)
	}
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			options, asked := answering(t, answers...)
			c := w.connect(serve(t, withQuestions), options)
			for i, test := range tests {
				r := call(t, c, test.tool, map[string]any{})
				if got := textOf(r); !strings.Contains(got, test.want) || r.IsError != test.fails {
					t.Errorf("%d: %q, want %q", i, got, test.want)
				}
				if got := asked(); got.message != test.message {
					t.Errorf("%d: asked\n%s\nwant\n%s", i, got.message, test.message)
				}
			}
			if r := call(t, c, "Long", map[string]any{}); !r.IsError || !strings.Contains(textOf(r), "nobody to ask") {
				t.Errorf("a plan that cannot be shown: %q", textOf(r))
			}
		})
	}
}

// TestPlanWithoutRules: where nothing is remembered, a client is not asked for a rule, and gives none.
func TestPlanWithoutRules(t *testing.T) {
	t.Parallel()
	options, asked := answering(t, accepts(map[string]any{"answer": "default"}), accepts(map[string]any{"answer": "default", "rule": "Bash(make)"}))
	c := serve(t, func(m *mcp.Options, o *host.Options) {
		withQuestions(m, o)
		o.Permissions.OnceOnly = true
	}).pipe(options, "2025-06-18")
	if r := call(t, c, "Plan", map[string]any{}); r.IsError || strings.Contains(asked().schema, `"rule"`) {
		t.Errorf("%q", textOf(r))
	}
	if r := call(t, c, "Plan", map[string]any{}); !r.IsError || !strings.Contains(textOf(r), "can give no rules") {
		t.Errorf("%q", textOf(r))
	}
}

// TestChoicesForOlderClients has several options as a switch each, where clients know no lists.
func TestChoicesForOlderClients(t *testing.T) {
	t.Parallel()
	options, asked := answering(t, accepts(map[string]any{"choice_1": "1", "choice_2_2": true, "choice_2_1": false}))
	c := serve(t, withQuestions).pipe(options, "2025-06-18")
	r := call(t, c, "Choose", map[string]any{})
	if got := textOf(r); r.IsError || !strings.Contains(got, `"What else?":["d"]`) {
		t.Errorf("%q", got)
	}
	if got := asked().schema; !strings.Contains(got, `"choice_2_1":{"title":"2. c","type":"boolean"}`) || strings.Contains(got, `"choice_2":`) || !strings.Contains(got, `"enumNames":["a\\u202e (the first)","b"]`) {
		t.Errorf("the schema is %s", got)
	}
}
