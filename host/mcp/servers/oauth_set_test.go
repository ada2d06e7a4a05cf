package servers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/internal/credentials"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestAuthenticateTool: while a server needs a login, all that it offers is a tool that has the
// person log in, and then it has its own; more rights are granted on the way.
func TestAuthenticateTool(t *testing.T) {
	t.Parallel()
	w := newRealm(t)
	w.serveMCP()
	w.one = true
	b := &browser{w: w}
	var asked []host.Question
	h, err := host.Open(t.Context(), host.Options{Permissions: host.PermissionOptions{
		Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Allow: permissions.RuleTexts("mcp__docs")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.Background())
	kept := credentials.InFiles(filepath.Join(t.TempDir(), "credentials"))
	set := Open(h, Options{Credentials: kept, Servers: []Config{{Name: "docs", URL: w.home(), Network: []string{"127.0.0.1"}}}})
	defer set.Close(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	if err := set.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	status := set.Status()[0]
	need, ok := errors.AsType[*LoginNeededError](status.Problem)
	if status.State != NeedsAuth || !ok || need.Server != "docs" || !slices.Equal(status.Tools, []string{"mcp__docs__authenticate"}) {
		t.Fatalf("%+v", status)
	}
	s, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Asker: approvals.AnyFunc(func(ctx context.Context, q host.Question) (host.Reply, error) {
		if q.Kind != host.QuestionURL {
			return host.Reply{Answer: host.AnswerDeny}, nil
		}
		asked = append(asked, q)
		return host.Reply{Answer: host.AnswerAllow}, b.Visit(ctx, q.URL.URL)
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	use := func(name string) abi.ToolResult {
		return s.Results(ctx, []abi.ToolUse{{ID: "c", Name: name, Input: json.RawMessage(`{}`)}})[0]
	}
	if r := use("mcp__docs__say"); !r.IsError {
		t.Errorf("called without a login: %s", r.Text())
	}
	if r := use("mcp__docs__authenticate"); r.IsError || !strings.Contains(r.Text(), "mcp__docs__say") {
		t.Fatalf("%s", r.Text())
	}
	if len(asked) != 1 || asked[0].Server != "docs" || !strings.Contains(asked[0].URL.Message, "the MCP server docs names") {
		t.Errorf("%+v", asked)
	}
	if r := use("mcp__docs__say"); r.IsError || r.Text() != "said" {
		t.Errorf("%s", r.Text())
	}
	w.set(func() { w.wants = "write" })
	if r := use("mcp__docs__say"); !r.IsError || !strings.Contains(r.Text(), "write") || !strings.Contains(r.Text(), "mcp__docs__authenticate") {
		t.Errorf("%s", r.Text())
	}
	if r := use("mcp__docs__authenticate"); r.IsError {
		t.Fatalf("%s", r.Text())
	}
	if r := use("mcp__docs__say"); r.IsError || r.Text() != "said" {
		t.Errorf("%s", r.Text())
	}
	if strings.Contains(set.Status()[0].Stderr, "access-") {
		t.Error("a token is shown")
	}
}

// serveMCP has the realm's resource be an MCP server.
func (w *realm) serveMCP() {
	s := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "say", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "said"}}}, nil
	})
	w.mcp = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}
