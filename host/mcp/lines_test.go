package mcp_test

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
)

// TestLines has clients told what a call does, in the words of its tool: in the question whether
// it may, and while it runs.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			asked, told, heard := make(chan string, 1), make(chan *sdk.ProgressNotificationParams, 10), make(chan struct{})
			paint := host.NativeTool{
				Contract: abi.Tool{
					Name: "Paint", Title: "path", InputSchema: `{"type":"object","properties":{"path":{"type":"string"},"colour":{"type":"string"}}}`,
					Lines: abi.Lines{Use: "{path} {colour}", Progress: "{done} of {total} walls"},
				},
				Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
					c.Report(abi.ProgressHead{Progress: &abi.Progress{Message: "unheard", Done: 1, Total: 2}})
					select {
					case <-heard:
					case <-ctx.Done():
					}
					return textResult("done")
				},
			}
			c := w.connect(serve(t, func(_ *mcp.Options, o *host.Options) { o.Tools = append(o.Tools, paint) }), &sdk.ClientOptions{
				Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
				ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked <- r.Params.Message
					return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow"}}, nil
				},
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { told <- r.Params },
			})
			said := make(chan string, 1)
			go func() {
				params := &sdk.CallToolParams{Name: "Paint", Arguments: map[string]any{"path": "wall", "colour": "red\x1b"}}
				params.SetProgressToken("token")
				r, err := c.CallTool(t.Context(), params)
				if err != nil {
					said <- err.Error()
					return
				}
				said <- textOf(r)
			}()
			if text := within(t, asked, "the question"); !strings.HasPrefix(text, "Allow \"Paint\": wall?\nIn its words: wall red\\x1b\n") {
				t.Errorf("the question is %q", text)
			}
			if p := within(t, told, "progress"); p.Message != "1 of 2 walls" {
				t.Errorf("the progress is %q", p.Message)
			}
			close(heard)
			if text := within(t, said, "the result"); text != "done" {
				t.Error(text)
			}
		})
	}
}
