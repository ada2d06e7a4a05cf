package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
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
