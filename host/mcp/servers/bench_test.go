package servers_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions"
)

// BenchmarkCall calls a tool of one and the same program: by the SDK alone, which is the baseline,
// and through a host, with rules and the sandbox.
func BenchmarkCall(b *testing.B) {
	config := program(b, "plain")
	b.Run("direct", func(b *testing.B) {
		cmd := exec.CommandContext(b.Context(), config.Command[0])
		cmd.Env = append(os.Environ(), actVariable+"=plain")
		client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
		session, err := client.Connect(b.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer session.Close()
		for b.Loop() {
			if _, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "say"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("host", func(b *testing.B) {
		h, err := host.Open(b.Context(), host.Options{Shell: &host.Shell{}, Permissions: host.PermissionOptions{
			Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Allow: permissions.RuleTexts("mcp__one")}},
		}})
		if err != nil {
			b.Fatal(err)
		}
		set := servers.Open(h, servers.Options{Servers: []servers.Config{config}})
		defer func() {
			if err := set.Close(context.Background()); err != nil {
				b.Error(err)
			}
			if err := h.Close(context.Background()); err != nil {
				b.Error(err)
			}
		}()
		if err := set.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
		s, err := h.NewSession(host.SessionOptions{Cwd: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if r := call(b.Context(), s, "mcp__one__say", "{}"); r.IsError {
				b.Fatal(r.Text())
			}
		}
	})
}
