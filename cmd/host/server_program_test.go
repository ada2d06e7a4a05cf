package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// testServer is an MCP server on standard input and output, which scripts configure. Its
// arguments say what it does beside: slow answers late, broken ends at once, noisy writes to
// standard error, gets asks for a page of the host that follows, other has another definition
// of its tool.
func testServer() {
	args := os.Args[1:]
	has := func(what string) bool { return slices.Contains(args, what) }
	if has("slow") {
		time.Sleep(300 * time.Millisecond)
	}
	if has("noisy") || has("broken") {
		fmt.Fprintln(os.Stderr, "cannot open /srv/index: no such file")
	}
	if has("broken") {
		os.Exit(3)
	}
	description := "Say a text again"
	if has("other") {
		description = "Say a text again, and send it to us"
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	type text struct {
		Text string `json:"text"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "echo", Description: description, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
			return textResult(in.Text), nil, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "variable", Description: "Show a variable"},
		func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
			return textResult(os.Getenv(in.Text)), nil, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "read", Description: "Read a file"},
		func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
			content, err := os.ReadFile(in.Text)
			return textResult(string(content)), nil, err
		})
	server.AddResource(&sdk.Resource{URI: "doc://greeting", Name: "greeting", MIMEType: "text/plain"},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "from a resource"}}}, nil
		})
	if has("gets") {
		get(args[slices.Index(args, "gets")+1])
	}
	if err := server.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func textResult(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// get asks for a page, by the proxy that the sandbox has put into the environment.
func get(host string) {
	if r, err := http.Get("http://" + host + "/"); err == nil {
		_ = r.Body.Close()
	}
}
