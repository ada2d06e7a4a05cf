package servers_test

import (
	"bytes"
	"context"
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
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/internal/test/oauthtest"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestAuthenticateTool: while a server needs a login, all that it offers is a tool that has the
// person log in, and then it has its own; more rights are granted on the way.
func TestAuthenticateTool(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t)
	w.One, w.MCP = true, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newServer() }, nil)
	b := &oauthtest.Browser{}
	var asked []host.Question
	h := open(t, host.Options{}, "mcp__docs", "")
	kept := credentials.InFiles(filepath.Join(t.TempDir(), "credentials"))
	set := connectWith(t, h, servers.Options{Credentials: kept, Servers: []servers.Config{{Name: "docs", URL: w.Home(), Network: []string{"127.0.0.1"}}}})
	status := set.Status()[0]
	need, ok := errors.AsType[*servers.LoginNeededError](status.Problem)
	if status.State != servers.NeedsAuth || !ok || need.Server != "docs" || !slices.Equal(status.Tools, []string{"mcp__docs__authenticate"}) {
		t.Fatalf("%+v", status)
	}
	s := session(t, h, host.SessionOptions{Asker: approvals.AnyFunc(func(ctx context.Context, q host.Question) (host.Reply, error) {
		if q.Kind != host.QuestionURL {
			return host.Reply{Answer: host.AnswerDeny}, nil
		}
		asked = append(asked, q)
		return host.Reply{Answer: host.AnswerAllow}, b.Visit(ctx, q.URL.URL)
	})})
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	use := func(name string) abi.ToolResult { return call(ctx, s, name, "{}") }
	if r := use("mcp__docs__say"); !r.IsError {
		t.Errorf("called without a login: %s", r.Text())
	}
	if r := use("mcp__docs__authenticate"); r.IsError || !strings.Contains(r.Text(), "mcp__docs__say") {
		t.Fatalf("%s", r.Text())
	}
	if len(asked) != 1 || asked[0].Server != "docs" || !strings.Contains(asked[0].URL.Message, "the MCP server docs names") {
		t.Errorf("%+v", asked)
	}
	if r := use("mcp__docs__say"); r.IsError || r.Text() != "said {}" {
		t.Errorf("%s", r.Text())
	}
	w.Set(func() { w.Wants = "write" })
	if r := use("mcp__docs__say"); !r.IsError || !strings.Contains(r.Text(), "write") || !strings.Contains(r.Text(), "mcp__docs__authenticate") {
		t.Errorf("%s", r.Text())
	}
	if r := use("mcp__docs__authenticate"); r.IsError {
		t.Fatalf("%s", r.Text())
	}
	if r := use("mcp__docs__say"); r.IsError || r.Text() != "said {}" {
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
	w := oauthtest.New(t)
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
	h := open(t, host.Options{}, "", "")
	kept := credentials.InFiles(filepath.Join(t.TempDir(), "credentials"))
	set := connectWith(t, h, servers.Options{Credentials: kept, Servers: []servers.Config{{Name: "docs", URL: w.Home(), Network: []string{"127.0.0.1"}}}})
	if status := set.Status()[0]; status.State != servers.NeedsAuth {
		t.Fatalf("%+v", status)
	}
	b := &oauthtest.Browser{}
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeBypass, Asker: approvals.AnyFunc(func(ctx context.Context, q host.Question) (host.Reply, error) {
		return host.Reply{Answer: host.AnswerAllow}, b.Visit(ctx, q.URL.URL)
	})})
	ctx, cancel := context.WithTimeout(t.Context(), testenv.Patience)
	defer cancel()
	r := call(ctx, s, "mcp__docs__authenticate", "{}")
	if !r.IsError || !strings.Contains(r.Text(), "needs a login that grants more") {
		t.Errorf("%s", r.Text())
	}
	if n := refused.Load(); n == 0 || n > 3 {
		t.Errorf("the server refused the token %d times", n)
	}
}

// Some servers have no logins, which is told.
func TestNoLogin(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]servers.Config{
		"a program":           {Name: "docs", Command: []string{"x"}},
		"older transport":     {Name: "docs", URL: "https://mcp.example.com", SSE: true},
		"of their own":        {Name: "docs", URL: "https://mcp.example.com", Headers: map[string]string{"authorization": "Bearer x"}},
		"invalid server name": {Name: "a b", URL: "https://mcp.example.com"},
	} {
		if err := servers.LogIn(t.Context(), nil, c, servers.LoginOptions{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
