package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/internal/test/oauthtest"
	"github.com/toolquay/toolquay/internal/testenv"
)

func wantStatus(t *testing.T, h *Handler, want int) {
	t.Helper()
	if got, err := authorized(t.Context(), h); got != want || err != nil {
		t.Errorf("answered %d, want %d: %v", got, want, err)
	}
}

func wantLogin(t *testing.T, h *Handler, scopes string) {
	t.Helper()
	_, err := authorized(t.Context(), h)
	need, ok := errors.AsType[*LoginNeededError](err)
	if !ok || need.Server != "docs" || strings.Join(need.Scopes, " ") != scopes {
		t.Errorf("got %v, want a login for %q", err, scopes)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	w, dir := oauthtest.New(t), t.TempDir()
	h := handler(t, w, dir, nil)
	wantLogin(t, h, "")
	b := &oauthtest.Browser{}
	if err := h.LogIn(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, h, http.StatusOK)
	// Another process finds the login.
	wantStatus(t, handler(t, w, dir, nil), http.StatusOK)
	if was, err := Forget(t.Context(), h.kept, "docs"); !was || err != nil {
		t.Error(was, err)
	}
	wantLogin(t, handler(t, w, dir, nil), "")
	if !w.Saw("offline_access") && !strings.Contains(b.Page, "offline_access") {
		t.Errorf("no refresh token was asked for: %s", b.Page)
	}
}

// A login is used only for the server, URL, issuer and client that it was made for.
func TestLoginIsBound(t *testing.T) {
	t.Parallel()
	w, dir := oauthtest.New(t), t.TempDir()
	if err := handler(t, w, dir, nil).LogIn(t.Context(), &oauthtest.Browser{}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"another server": func(o *Options) { o.Server = "other" },
		"another URL":    func(o *Options) { o.URL += "/v2" },
		"another host":   func(o *Options) { o.URL = w.Elsewhere() + "/mcp" },
		"another issuer": func(o *Options) { o.Auth = &Auth{Issuer: w.Elsewhere()} },
		"another client": func(o *Options) { o.Auth = &Auth{ClientID: "mine"} },
	} {
		h := handler(t, w, dir, change)
		if token, err := h.token(t.Context()); token != nil || err != nil {
			t.Errorf("%s: %v, %v", name, token, err)
		}
	}
	// The authorization server changed.
	w.Set(func() {
		clear(w.Tokens)
		w.Metadata = func(doc map[string]any) { doc["authorization_servers"] = []string{w.Elsewhere()} }
		w.Handle = func(rw http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.Host, "127.0.0.3") {
				return false
			}
			doc := map[string]any{"issuer": w.Elsewhere(), "authorization_endpoint": w.Elsewhere() + "/a", "token_endpoint": w.Elsewhere() + "/t", "code_challenge_methods_supported": []string{"S256"}}
			oauthtest.Reply(rw, http.StatusOK, doc)
			return true
		}
	})
	h := handler(t, w, dir, func(o *Options) { o.Network = append(o.Network, "127.0.0.3") })
	wantLogin(t, h, "")
	if w.Saw("127.0.0.3 POST") || w.Saw("refresh_token=") {
		t.Error("a refresh token was sent")
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	w, dir := oauthtest.New(t), t.TempDir()
	w.Life = time.Second // less than what counts as valid
	h := handler(t, w, dir, nil)
	if err := h.LogIn(t.Context(), &oauthtest.Browser{}); err != nil {
		t.Fatal(err)
	}
	refreshes := func() (n int) {
		for _, s := range w.Seen() {
			if strings.Contains(s, "grant_type=refresh_token") {
				n++
			}
		}
		return n
	}
	before := refreshes()
	w.Set(func() { w.Life = time.Hour })
	// Many at once, in two processes: one refreshes, and nobody loses the token.
	var all sync.WaitGroup
	for _, h := range []*Handler{h, handler(t, w, dir, nil)} {
		for range 5 {
			all.Go(func() { wantStatus(t, h, http.StatusOK) })
		}
	}
	all.Wait()
	if n := refreshes() - before; n != 1 {
		t.Errorf("refreshed %d times", n)
	}
	// A token that is refused before its time is renewed once, and then by a person.
	w.Set(func() { clear(w.Tokens) })
	wantStatus(t, h, http.StatusOK)
	w.Set(func() { clear(w.Tokens) })
	wantLogin(t, h, "")
}

func TestRefreshTokenRefused(t *testing.T) {
	t.Parallel()
	w, dir := oauthtest.New(t), t.TempDir()
	h := handler(t, w, dir, nil)
	if err := h.LogIn(t.Context(), &oauthtest.Browser{}); err != nil {
		t.Fatal(err)
	}
	w.Set(func() { clear(w.Tokens); clear(w.Refresh) })
	wantLogin(t, h, "")
	if kept, err := h.kept.Load(t.Context(), keptName("docs")); kept != nil || err != nil {
		t.Errorf("%s is kept: %v", kept, err)
	}
}

func TestStepUp(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t)
	h := handler(t, w, t.TempDir(), nil)
	if err := h.LogIn(t.Context(), &oauthtest.Browser{}); err != nil {
		t.Fatal(err)
	}
	w.Set(func() { w.Wants = "write" })
	wantLogin(t, h, "write")
	b := &oauthtest.Browser{}
	if err := h.LogIn(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, h, http.StatusOK)
	if page, _ := url.Parse(b.Page); page == nil || !strings.Contains(page.Query().Get("scope"), "read") || !strings.Contains(page.Query().Get("scope"), "write") {
		t.Errorf("asked for less than what was granted and is wanted: %s", b.Page)
	}
}

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t)
	h := handler(t, w, t.TempDir(), func(o *Options) {
		o.Auth = &Auth{ClientID: "machine", ClientSecret: "secret", Grant: GrantClient, Scopes: []string{"read"}}
	})
	wantStatus(t, h, http.StatusOK)
	wantStatus(t, h, http.StatusOK)
	if err := h.LogIn(t.Context(), &oauthtest.Browser{}); err == nil || !strings.Contains(err.Error(), "docs") {
		t.Error(err)
	}
}

func TestPreregistered(t *testing.T) {
	t.Parallel()
	w := oauthtest.New(t)
	h := handler(t, w, t.TempDir(), func(o *Options) { o.Auth = &Auth{ClientID: "mine", ClientSecret: "hush", Scopes: []string{"mail"}} })
	b := &oauthtest.Browser{}
	if err := h.LogIn(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, h, http.StatusOK)
	kept, err := h.kept.Load(t.Context(), keptName("docs"))
	page, _ := url.Parse(b.Page)
	scopes := strings.Fields(page.Query().Get("scope")) // in any order
	if err != nil || strings.Contains(string(kept), "hush") || w.Saw("/register") || page.Query().Get("client_id") != "mine" || !slices.Contains(scopes, "mail") {
		t.Errorf("%s, %v, %s", kept, err, b.Page)
	}
}

func TestPaste(t *testing.T) {
	t.Parallel()
	back := func(page string, change func(url.Values)) string {
		u, _ := url.Parse(page)
		q := url.Values{"code": {"code-2"}, "state": {u.Query().Get("state")}}
		change(q)
		return u.Query().Get("redirect_uri") + "?" + q.Encode()
	}
	for name, tt := range map[string]struct {
		paste func(page string) string
		want  string
	}{
		"a URL":            {func(page string) string { return " " + back(page, func(url.Values) {}) + "\n" }, ""},
		"a code":           {func(string) string { return "code-2" }, ""},
		"of another login": {func(page string) string { return back(page, func(q url.Values) { q.Set("state", "x") }) }, "another login"},
		"a refusal":        {func(page string) string { return back(page, func(q url.Values) { q.Set("error", "access_denied") }) }, "access_denied"},
		"nothing":          {func(string) string { return "" }, "neither a code"},
		"a wrong code":     {func(string) string { return "x" }, "invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := oauthtest.New(t)
			h := handler(t, w, t.TempDir(), nil)
			b := &oauthtest.Browser{Stays: true}
			b.Enter = func(page string) string {
				u, _ := url.Parse(page)
				q := u.Query()
				w.Set(func() {
					w.Codes["code-2"] = oauthtest.Code{Challenge: q.Get("code_challenge"), Scopes: q.Get("scope"), Redirect: q.Get("redirect_uri")}
				})
				return tt.paste(page)
			}
			err := h.LogIn(t.Context(), b)
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "docs")) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// An authorization server that does not answer holds a login up no longer than its context, which
// ends before the time for a request does.
func TestSilence(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/register", "/token"} {
		testenv.InTime(t, requestTime/2, func() time.Duration {
			w := oauthtest.New(t)
			ctx, cancel := context.WithCancel(t.Context())
			w.Handle = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				cancel()
				<-r.Context().Done()
				return true
			}
			return testenv.Took(func() {
				err := handler(t, w, t.TempDir(), nil).LogIn(ctx, &oauthtest.Browser{})
				if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the MCP server docs") {
					t.Errorf("%s: %v", path, err)
				}
			})
		})
	}
}

// A document that describes the client is its ID where the authorization server takes one;
// elsewhere the client registers itself.
func TestClientMetadata(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{true, false} {
		w := oauthtest.New(t)
		w.Issuer = func(doc map[string]any) { doc["client_id_metadata_document_supported"] = taken }
		const document = "https://example.com/client.json"
		h := handler(t, w, t.TempDir(), func(o *Options) { o.Auth = &Auth{ClientMetadataURL: document} })
		b := &oauthtest.Browser{}
		if err := h.LogIn(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, h, http.StatusOK)
		page, err := url.Parse(b.Page)
		if err != nil || (page.Query().Get("client_id") == document) != taken || w.Saw("/register") == taken {
			t.Errorf("taken %t: %s, %v", taken, b.Page, err)
		}
	}
}
