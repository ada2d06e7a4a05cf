package oauth

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/toolquay/toolquay/host/internal/credentials"
	"github.com/toolquay/toolquay/internal/testenv"
)

// TestProvider logs in by an authorization server that others made, oidc-provider, for an MCP
// server of the SDK's: a registration, PKCE, more scopes, a refresh with rotation, client
// credentials, the end of it all.
func TestProvider(t *testing.T) {
	testenv.SkipUnlessAsked(t, "TOOLQUAY_OAUTH")
	p := startProvider(t)
	o := Options{
		Server: "docs", URL: p.resource, Network: []string{"127.0.0.1"},
		Kept: credentials.InFiles(filepath.Join(t.TempDir(), "credentials")), Logger: slog.New(slog.DiscardHandler),
	}
	o.Client = client(&o)
	ctx, cancel := context.WithTimeout(t.Context(), 5*testenv.Patience)
	defer cancel()
	// connect connects as a process of its own; it returns the login that is needed.
	connect := func() *LoginNeededError {
		t.Helper()
		h := New(o)
		h.Begin()
		session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).
			Connect(ctx, &mcp.StreamableClientTransport{Endpoint: p.resource, HTTPClient: o.Client, OAuthHandler: h}, nil)
		if err == nil {
			_ = session.Close() // its token may be good no more
			return nil
		}
		need, ok := errors.AsType[*LoginNeededError](h.Explain(err))
		if !ok {
			t.Fatal(err)
		}
		return need
	}
	h := New(o)
	if connect() == nil {
		t.Fatal("connected without a login")
	}
	if err := h.LogIn(ctx, newForms(t)); err != nil {
		t.Fatal(err)
	}
	if need := connect(); need != nil {
		t.Fatalf("after the login: %v", need)
	}

	p.wants.Store("docs:write")
	_, err := authorized(ctx, h)
	if need, ok := err.(*LoginNeededError); !ok || !need.StepUp || !slices.Contains(need.Scopes, "docs:write") { //nolint:errorlint // it is not wrapped
		t.Fatalf("more scopes are needed: %v", err)
	}
	if err := h.LogIn(ctx, newForms(t)); err != nil {
		t.Fatal(err)
	}
	if need := connect(); need != nil {
		t.Errorf("after the step up: %v", need)
	}

	before := keptLogin(t, h)
	if !slices.Contains(before.Scopes, "docs:read") || !slices.Contains(before.Scopes, "docs:write") {
		t.Errorf("granted %q", before.Scopes)
	}
	p.refuse(before.Token.AccessToken)
	if need := connect(); need != nil {
		t.Errorf("after the token was refused: %v", need)
	}
	after := keptLogin(t, h)
	if after.Token.AccessToken == before.Token.AccessToken || after.Token.RefreshToken == before.Token.RefreshToken {
		t.Error("the tokens are as they were")
	}
	// A refresh token that is used twice ends the login: the provider takes it for stolen.
	if _, err := h.newFlow().refresh(ctx, before); err == nil {
		t.Error("a refresh token was good twice")
	}
	p.refuse(after.Token.AccessToken)
	if connect() == nil {
		t.Error("connected after the login ended")
	}

	o.Auth = &Auth{ClientID: "machine", ClientSecret: "of-the-machine", Grant: GrantClient, Scopes: []string{"docs:read", "docs:write"}}
	if need := connect(); need != nil {
		t.Errorf("by the client's credentials: %v", need)
	}
}

// provider is a running authorization server, and the MCP server that trusts it.
type provider struct {
	issuer, resource string
	wants            atomic.Value // a scope that is needed too
	refused          atomic.Value // a token that is good no more
}

func startProvider(t *testing.T) *provider {
	t.Helper()
	const dir = "testdata/oidc"
	testenv.Install(t, dir+"/package-lock.json", dir+"/node_modules/.installed", [][]string{
		{testenv.NeedTool(t, "npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", dir},
	})
	p := &provider{}
	p.wants.Store("")
	p.refused.Store("")
	s := httptest.NewServer(nil)
	t.Cleanup(s.Close)
	p.resource = s.URL + "/mcp"
	cmd := exec.CommandContext(t.Context(), testenv.NeedTool(t, "node"), "provider.mjs", p.resource)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.issuer = strings.TrimSpace(line)
	s.Config.Handler = p.handler(s.URL)
	return p
}

// handler is the MCP server, behind the SDK's check of tokens.
func (p *provider) handler(base string) http.Handler {
	const meta = "/.well-known/oauth-protected-resource/mcp"
	server := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	checked := auth.RequireBearerToken(p.verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: base + meta, Scopes: []string{"docs:read"}})
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	mux := http.NewServeMux()
	mux.Handle(meta, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: p.resource, AuthorizationServers: []string{p.issuer}, ScopesSupported: []string{"docs:read"},
	}))
	mux.Handle("/mcp", checked(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wants := p.wants.Load().(string)
		if wants != "" && !slices.Contains(auth.TokenInfoFromContext(r.Context()).Scopes, wants) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer error=%q, scope=%q, resource_metadata=%q", "insufficient_scope", wants, base+meta))
			w.WriteHeader(http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	})))
	return mux
}

// verify asks the authorization server about a token.
func (p *provider) verify(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	body := strings.NewReader(url.Values{"token": {token}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.issuer+"/token/introspection", body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("resource-server", "of-the-resource")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var said struct {
		Active     bool
		Scope, Aud string
		Exp        int64
	}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return nil, err
	}
	if !said.Active || said.Aud != p.resource || token == p.refused.Load().(string) {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{Scopes: strings.Fields(said.Scope), Expiration: time.Unix(said.Exp, 0)}, nil
}

func (p *provider) refuse(token string) { p.refused.Store(token) }

func keptLogin(t *testing.T, h *Handler) *login {
	t.Helper()
	kept, err := h.kept.Load(t.Context(), keptName(h.server))
	l := h.read(kept)
	if err != nil || l == nil {
		t.Fatalf("%s is kept: %v", kept, err)
	}
	return l
}

// forms is a person who fills in the provider's forms.
type forms struct {
	t      *testing.T
	client *http.Client
}

func newForms(t *testing.T) *forms {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &forms{t, &http.Client{Jar: jar}}
}

var action = regexp.MustCompile(`action="([^"]+)"`)

// Visit opens a URL, and sends each form that comes until the browser has come back.
func (f *forms) Visit(ctx context.Context, page string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	for range 5 {
		if err != nil {
			return err
		}
		var answer *http.Response
		if answer, err = f.client.Do(r); err != nil {
			return err
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		form := action.FindStringSubmatch(string(text))
		if form == nil {
			if answer.StatusCode != http.StatusOK {
				f.t.Errorf("%s answered %d: %s", answer.Request.URL, answer.StatusCode, text)
			}
			return nil
		}
		fields := url.Values{"prompt": {"consent"}}
		if strings.Contains(string(text), `name="password"`) {
			fields = url.Values{"prompt": {"login"}, "login": {"somebody"}, "password": {"x"}}
		}
		r, err = http.NewRequestWithContext(ctx, http.MethodPost, form[1], strings.NewReader(fields.Encode()))
		if err == nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	return errors.New("the forms have no end")
}

// Paste waits for the browser.
func (f *forms) Paste(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", context.Cause(ctx)
}
