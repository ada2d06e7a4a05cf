package mcp_test

import (
	"context"
	"fmt"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/permissions"
)

// A program that serves the tools of its host, to whoever starts it.
func Example() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Options{
		Builtins:    true,
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Source: permissions.SourcePolicy, Deny: permissions.RuleTexts("Read(.env)")}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close(ctx)
	server := mcp.New(mcp.Options{
		Info: &sdk.Implementation{Name: "example", Version: "1.0.0"},
		Open: func(_ context.Context, c mcp.Client) (*host.Session, error) {
			return h.NewSession(host.SessionOptions{Cwd: os.TempDir(), Asker: c.Asker})
		},
	})
	// Over HTTP it is http.Handle("/mcp", server.Handler()), behind what authenticates.
	if err := server.Serve(ctx, &mcp.Pipe{In: os.Stdin, Out: os.Stdout}); err != nil {
		fmt.Println(err)
	}
}
