package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
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
	w.One = true
	b := &Browser{}
	var asked []host.Question
	h, err := host.Open(t.Context(), host.Options{Permissions: host.PermissionOptions{
		Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Allow: permissions.RuleTexts("mcp__docs")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.Background())
	kept := credentials.InFiles(filepath.Join(t.TempDir(), "credentials"))
	set := Open(h, Options{Credentials: kept, Servers: []Config{{Name: "docs", URL: w.Home(), Network: []string{"127.0.0.1"}}}})
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
	w.Set(func() { w.Wants = "write" })
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

// TestLoginThatGrantsTooLittle has a server refuse what its own login grants: the call that logs
// in says so, and does not try for ever. The server lets the older revision's first request pass
// without a token, and does not speak that revision.
func TestLoginThatGrantsTooLittle(t *testing.T) {
	t.Parallel()
	w := newRealm(t)
	w.One = true
	var refused atomic.Int32
	w.Handle = func(rw http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case bytes.Contains(body, []byte(`"method":"initialize"`)):
			rw.WriteHeader(http.StatusBadRequest)
		case r.URL.Path == "/mcp" && r.Header.Get("Authorization") != "":
			refused.Add(1)
			rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="more"`)
			rw.WriteHeader(http.StatusForbidden)
		default:
			return false
		}
		return true
	}
	h, err := host.Open(t.Context(), host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close(context.Background())
	kept := credentials.InFiles(filepath.Join(t.TempDir(), "credentials"))
	set := Open(h, Options{Credentials: kept, Servers: []Config{{Name: "docs", URL: w.Home(), Network: []string{"127.0.0.1"}}}})
	defer set.Close(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	if err := set.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if status := set.Status()[0]; status.State != NeedsAuth {
		t.Fatalf("%+v", status)
	}
	b := &Browser{}
	s, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Mode: permissions.ModeBypass, Asker: approvals.AnyFunc(func(ctx context.Context, q host.Question) (host.Reply, error) {
		return host.Reply{Answer: host.AnswerAllow}, b.Visit(ctx, q.URL.URL)
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	r := s.Results(ctx, []abi.ToolUse{{ID: "c", Name: "mcp__docs__authenticate", Input: json.RawMessage(`{}`)}})[0]
	if !r.IsError || !strings.Contains(r.Text(), "needs a login that grants more") {
		t.Errorf("%s", r.Text())
	}
	if n := refused.Load(); n == 0 || n > 3 {
		t.Errorf("the server refused the token %d times", n)
	}
}

// serveMCP has the realm's resource be an MCP server.
func (w *Realm) serveMCP() {
	s := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "say", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "said"}}}, nil
	})
	w.MCP = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
}
