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
func asking(name string, q host.Question) host.NativeTool {
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
		asking("Form", host.Question{Kind: host.QuestionForm, Form: &host.Form{Message: "How\x1b many?", Schema: json.RawMessage(
			`{"type":"object","properties":{"n":{"type":"integer","title":"Number"},"size":{"type":"string","enum":["s","l"],"default":"l"}},"required":["n"]}`)}}),
		asking("Visit", host.Question{Kind: host.QuestionURL, URL: &host.URLQuestion{Message: "Sign in", URL: "https://example.com/in"}}),
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
