package oauth

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/test/oauthtest"
	"github.com/toolquay/toolquay/internal/testenv"
)

// What a hostile server or authorization server does ends in an error that names the server,
// and nothing that is secret reaches a place that it was not meant for.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(w *oauthtest.Realm)
		want   string
	}{
		"metadata of another resource": {func(w *oauthtest.Realm) {
			w.Metadata = func(doc map[string]any) { doc["resource"] = w.Elsewhere() }
		}, "got metadata resource"},
		"an authorization server over http": {func(w *oauthtest.Realm) {
			w.Metadata = func(doc map[string]any) { doc["authorization_servers"] = []string{"http://as.example.com"} }
		}, "does not use HTTPS"},
		"an authorization server on a private network": {func(w *oauthtest.Realm) {
			w.Metadata = func(doc map[string]any) { doc["authorization_servers"] = []string{"https://10.0.0.1"} }
		}, "non-public"},
		"an authorization server on this machine": {func(w *oauthtest.Realm) {
			w.Metadata = func(doc map[string]any) { doc["authorization_servers"] = []string{w.Elsewhere()} }
		}, "was refused"},
		"no authorization server": {func(w *oauthtest.Realm) {
			w.Metadata = func(doc map[string]any) { doc["authorization_servers"] = []string{} }
		}, "no authorization server"},
		"another issuer": {func(w *oauthtest.Realm) {
			w.Issuer = func(doc map[string]any) { doc["issuer"] = w.Elsewhere() }
		}, "does not match issuer"},
		"no PKCE": {func(w *oauthtest.Realm) {
			w.Issuer = func(doc map[string]any) { doc["code_challenge_methods_supported"] = []string{"plain"} }
		}, "PKCE"},
		"a token endpoint elsewhere": {func(w *oauthtest.Realm) {
			w.Issuer = func(doc map[string]any) { doc["token_endpoint"] = w.Elsewhere() + "/token" }
		}, "set issuer in [mcp.docs.auth]"},
		"a registration elsewhere": {func(w *oauthtest.Realm) {
			w.Issuer = func(doc map[string]any) { doc["registration_endpoint"] = w.Elsewhere() + "/register" }
		}, "set issuer in [mcp.docs.auth]"},
		"a token endpoint over http": {func(w *oauthtest.Realm) {
			w.Issuer = func(doc map[string]any) { doc["token_endpoint"] = "http://as.example.com/token" }
		}, "does not use HTTPS"},
		"a script to open": {func(w *oauthtest.Realm) {
			w.Issuer = func(doc map[string]any) { doc["authorization_endpoint"] = "javascript:alert(1)" }
		}, "disallowed scheme"},
		"a state of its own": {func(w *oauthtest.Realm) {
			w.Issuer = func(doc map[string]any) { doc["authorization_endpoint"] = w.Authority() + "/authorize?state=x" }
		}, "state of its own"},
		"metadata that redirects to a private network":   {redirecting("/.well-known/oauth-protected-resource/mcp", func(*oauthtest.Realm) string { return "https://10.0.0.1/" }), "was refused"},
		"metadata that redirects to metadata of a cloud": {redirecting("/.well-known/oauth-authorization-server", func(*oauthtest.Realm) string { return "https://169.254.169.254/latest" }), "was refused"},
		"a token endpoint that redirects":                {redirecting("/token", func(w *oauthtest.Realm) string { return w.Elsewhere() + "/token" }), "redirects what was meant for it alone"},
		"a registration that redirects":                  {redirecting("/register", func(w *oauthtest.Realm) string { return w.Elsewhere() + "/register" }), "redirects what was meant for it alone"},
		"endless metadata":                               {flooding("/.well-known/oauth-protected-resource/mcp"), "more than 1048576 bytes"},
		"endless metadata of the issuer":                 {flooding("/.well-known/oauth-authorization-server"), "more than 1048576 bytes"},
		"an endless token":                               {flooding("/token"), ""},
		"another issuer in the answer": {func(w *oauthtest.Realm) {
			w.Answer = func(back url.Values) { back.Set("iss", w.Elsewhere()) }
		}, "does not match expected issuer"},
		"no issuer in the answer": {func(w *oauthtest.Realm) {
			w.Issuer = func(doc map[string]any) { doc["authorization_response_iss_parameter_supported"] = true }
		}, "iss parameter"},
		"a refusal with escapes": {func(w *oauthtest.Realm) {
			w.Answer = func(back url.Values) { back.Set("error", "access_denied\x1b[2J\u202e"+strings.Repeat("x", 9000)) }
		}, `access_denied\x1b[2J\u202e`},
		"no code": {func(w *oauthtest.Realm) { w.Answer = func(back url.Values) { back.Del("code") } }, "no code"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oauthtest.New(t)
			tt.change(w)
			h := handler(t, w, t.TempDir(), nil)
			err := h.LogIn(t.Context(), &oauthtest.Browser{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "the MCP server docs") || len(err.Error()) > 1000 {
				t.Errorf("got %.1200v, want %q", err, tt.want)
			}
			if w.Saw("127.0.0.3") {
				t.Errorf("something was sent elsewhere: %q", w.Seen())
			}
			if kept, err := h.kept.Load(t.Context(), keptName("docs")); kept != nil || err != nil {
				t.Errorf("%s is kept: %v", kept, err)
			}
		})
	}
}

// A server cannot have the secret of a client sent where it likes.
func TestSecretOfAClientStays(t *testing.T) {
	t.Parallel()
	for _, grant := range []string{GrantCode, GrantClient} {
		w := oauthtest.New(t)
		w.Metadata = func(doc map[string]any) { doc["authorization_servers"] = []string{w.Elsewhere()} }
		h := handler(t, w, t.TempDir(), func(o *Options) { o.Auth = &Auth{ClientID: "mine", ClientSecret: "hush", Grant: grant} })
		_, err := h.newFlow().inspect(t.Context(), &http.Response{Header: make(http.Header)})
		if err == nil || !strings.Contains(err.Error(), "set issuer in [mcp.docs.auth]") || w.Saw("127.0.0.3") {
			t.Errorf("%s: got %v", grant, err)
		}
	}
}

func redirecting(path string, to func(*oauthtest.Realm) string) func(*oauthtest.Realm) {
	return func(w *oauthtest.Realm) {
		w.Handle = func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			http.Redirect(rw, r, to(w), http.StatusTemporaryRedirect)
			return true
		}
	}
}

func flooding(path string) func(*oauthtest.Realm) {
	return func(w *oauthtest.Realm) {
		w.Handle = func(rw http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			rw.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(rw, `{"x":"`)
			for range 64 {
				if _, err := io.WriteString(rw, strings.Repeat("x", 1<<16)); err != nil {
					break
				}
			}
			return true
		}
	}
}

// An authorization server that the settings name may have its endpoints elsewhere, and one of
// another name than theirs is refused.
func TestConfiguredIssuer(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t)
	w.Issuer = func(doc map[string]any) { doc["token_endpoint"] = w.AuthorityAt("127.0.0.4") + "/token" }
	h := handler(t, w, t.TempDir(), func(o *Options) {
		o.Network, o.Auth = []string{"127.0.0.4"}, &Auth{Issuer: w.Authority()}
	})
	if err := h.LogIn(t.Context(), &oauthtest.Browser{}); err != nil {
		t.Error(err)
	}
	h = handler(t, w, t.TempDir(), func(o *Options) { o.Auth = &Auth{Issuer: w.Elsewhere()} })
	if err := h.LogIn(t.Context(), &oauthtest.Browser{}); err == nil || !strings.Contains(err.Error(), "the settings name the issuer") {
		t.Error(err)
	}
}

// A server whose URL is not safe gets no token, and no login.
func TestTokensAreNotSentInTheClear(t *testing.T) {
	t.Parallel()
	h := handler(t, oauthtest.New(t), t.TempDir(), func(o *Options) { o.URL = strings.Replace(o.URL, "127.0.0.1", "10.0.0.1", 1) })
	if err := h.LogIn(t.Context(), &oauthtest.Browser{}); err == nil || !strings.Contains(err.Error(), "in the clear") {
		t.Error(err)
	}
}

// The page that waits for the browser takes the answer of one login, once, and nothing else.
func TestCallback(t *testing.T) {
	t.Parallel()
	c, err := listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	c.state = "right"
	ask := func(method, path, host string) (int, http.Header, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+c.host+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, answer.Header, string(text)
	}
	good := callbackPath + "?code=c&state=right"
	for _, path := range []string{
		"/", callbackPath, callbackPath + "?code=c", callbackPath + "?code=c&state=wrong", callbackPath + "?code=c&state=", callbackPath + "?state=right&state=wrong&code=c",
		"/x?code=c&state=right", "//evil.example/?state=right", callbackPath + "/?code=c&state=right", "/.well-known/x", "/%2e%2e/callback?state=right",
	} {
		if status, h, _ := ask(http.MethodGet, path, c.host); status != http.StatusNotFound || h.Get("Location") != "" {
			t.Errorf("%s: %d %v", path, status, h)
		}
	}
	if status, _, _ := ask(http.MethodPost, good, c.host); status != http.StatusNotFound {
		t.Errorf("POST: %d", status)
	}
	if status, _, _ := ask(http.MethodGet, good, "evil.example:80"); status != http.StatusNotFound {
		t.Errorf("another host: %d", status)
	}
	status, h, text := ask(http.MethodGet, good+"&next=http://evil.example/<script>", c.host)
	if status != http.StatusOK || strings.Contains(text, "evil") || h.Get("Location") != "" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%d %v %s", status, h, text)
	}
	if status, _, _ := ask(http.MethodGet, good, c.host); status != http.StatusNotFound {
		t.Errorf("a second time: %d", status)
	}
	if query := <-c.answer; query.Get("code") != "c" {
		t.Errorf("got %v", query)
	}
}

// A login ends with its context, and its port with it, so that a late answer finds nobody.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t)
	h := handler(t, w, t.TempDir(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	defer close(over)
	b := &oauthtest.Browser{Stays: true, Enter: func(string) string {
		cancel()
		<-over // the answer of the person comes too late, too
		return "code"
	}}
	done := make(chan error, 1)
	go func() { done <- h.LogIn(ctx, b) }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "docs") {
			t.Error(err)
		}
	case <-time.After(testenv.Patience):
		t.Fatal("the login goes on")
	}
	u, _ := url.Parse(b.Page)
	text, err := oauthtest.Get(t.Context(), u.Query().Get("redirect_uri")+"?state="+u.Query().Get("state")+"&code=c")
	if err == nil && strings.Contains(text, "Toolquay") { // another test may have the port by now
		t.Error("somebody still waits for the answer")
	}
}

// A refresh goes nowhere but to where the login was, and tells no secret when it fails.
func TestRefreshStays(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t)
	h := handler(t, w, t.TempDir(), nil)
	if err := h.LogIn(t.Context(), &oauthtest.Browser{}); err != nil {
		t.Fatal(err)
	}
	w.Set(func() {
		clear(w.Tokens)
		redirecting("/token", func(w *oauthtest.Realm) string { return w.Elsewhere() + "/token" })(w)
	})
	_, err := authorized(t.Context(), h)
	if err == nil || !strings.Contains(err.Error(), "redirects what was meant for it alone") || strings.Contains(err.Error(), "refresh-") {
		t.Error(err)
	}
	if w.Saw("127.0.0.3") {
		t.Errorf("something was sent elsewhere: %q", w.Seen())
	}
	w.Set(func() { w.Handle = nil })
	wantStatus(t, h, http.StatusOK) // nothing was lost
}
