package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/internal/testenv"
)

// gated is an MCP server that is its own authorization server, which gives one token.
func gated(t *testing.T) *httptest.Server {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "say", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the server spoke"}}}, nil
	})
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	document := func(path string, doc map[string]any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(doc)
		})
	}
	document("/.well-known/oauth-protected-resource/mcp", map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL}})
	document("/.well-known/oauth-authorization-server", map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
	})
	document("/register", map[string]any{"client_id": "c", "token_endpoint_auth_method": "none"})
	document("/token", map[string]any{"access_token": "the-token", "refresh_token": "the-refresh-token", "token_type": "Bearer", "expires_in": 3600})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		back := url.Values{"code": {"code"}, "state": {r.URL.Query().Get("state")}}
		http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer the-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	return s
}

// TestMCPLogin logs in by the browser and by what is pasted, uses the server, and logs out.
func TestMCPLogin(t *testing.T) {
	t.Parallel()
	s, home := gated(t), t.TempDir()
	config := filepath.Join(home, ".config", "toolquay")
	if err := os.MkdirAll(config, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "settings.toml"), []byte("[mcp.docs]\nurl = '"+s.URL+"/mcp'\n[permissions]\nallow = ['mcp__docs']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*testenv.Patience)
	defer cancel()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "toolquay", args...)
		cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME="+testenv.CacheHome())
		return cmd
	}
	run := func(want string, args ...string) {
		t.Helper()
		out, _ := command(args...).CombinedOutput() // which says whether it failed
		if !strings.Contains(string(out), want) || strings.Contains(string(out), "the-refresh-token") {
			t.Errorf("%q: want %q in\n%s", args, want, out)
		}
	}
	run("needs_auth", "mcp", "list")
	run("There was no login", "mcp", "logout", "docs")
	run("no MCP server", "mcp", "login", "other")
	run("invalid server name", "mcp", "logout", "../x")
	for _, paste := range []bool{false, true} {
		login(t, command, paste)
		run("connected", "mcp", "list")
		run("the server spoke", "call", "mcp__docs__say", "{}")
		run("Logged out", "mcp", "logout", "docs")
		run("needs_auth", "mcp", "list")
	}
}

// login answers what the command asks.
func login(t *testing.T, command func(...string) *exec.Cmd, paste bool) {
	t.Helper()
	args := []string{"mcp", "login", "docs"}
	if paste {
		args = append(args, "--paste")
	}
	cmd := command(args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stdout)
	for line := ""; !strings.Contains(line, "/authorize?"); {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("it printed no URL: %v", err)
		}
		if strings.Contains(line, "/authorize?") {
			browse(t, strings.TrimSpace(line), paste, stdin)
		}
	}
	rest, _ := io.ReadAll(lines)
	if err := cmd.Wait(); err != nil || !strings.Contains(string(rest), "Logged in") {
		t.Errorf("%v: %s", err, rest)
	}
}

// browse is the browser. If it pastes, it is on another machine.
func browse(t *testing.T, page string, paste bool, stdin io.Writer) {
	t.Helper()
	client := &http.Client{}
	if paste {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	answer, err := client.Get(page)
	if err != nil {
		t.Error(err)
		return
	}
	_ = answer.Body.Close()
	if paste {
		_, _ = io.WriteString(stdin, answer.Header.Get("Location")+"\n")
	}
}
