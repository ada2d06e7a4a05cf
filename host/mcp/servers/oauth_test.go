package servers

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
)

func wantStatus(t *testing.T, o *oauth, want int) {
	t.Helper()
	if got, err := authorized(t, o); got != want || err != nil {
		t.Errorf("answered %d, want %d: %v", got, want, err)
	}
}

func wantLogin(t *testing.T, o *oauth, scopes string) {
	t.Helper()
	_, err := authorized(t, o)
	need, ok := errors.AsType[*LoginNeededError](err)
	if !ok || need.Server != "docs" || strings.Join(need.Scopes, " ") != scopes {
		t.Errorf("got %v, want a login for %q", err, scopes)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	w, dir := newRealm(t), t.TempDir()
	o := w.client(t, dir, nil)
	wantLogin(t, o, "")
	b := &browser{w: w}
	if err := o.logIn(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, o, http.StatusOK)
	// Another process finds the login.
	wantStatus(t, w.client(t, dir, nil), http.StatusOK)
	if was, err := forget(t.Context(), o.kept, "docs"); !was || err != nil {
		t.Error(was, err)
	}
	wantLogin(t, w.client(t, dir, nil), "")
	if !w.saw("offline_access") && !strings.Contains(b.page, "offline_access") {
		t.Errorf("no refresh token was asked for: %s", b.page)
	}
}

// What was kept counts for nothing but what it was made for.
func TestLoginIsBound(t *testing.T) {
	t.Parallel()
	w, dir := newRealm(t), t.TempDir()
	if err := w.client(t, dir, nil).logIn(t.Context(), &browser{w: w}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"another server": func(c *Config) { c.Name = "other" },
		"another URL":    func(c *Config) { c.URL += "/v2" },
		"another host":   func(c *Config) { c.URL = w.elsewhere() + "/mcp" },
		"another issuer": func(c *Config) { c.Auth = &Auth{Issuer: w.elsewhere()} },
		"another client": func(c *Config) { c.Auth = &Auth{ClientID: "mine"} },
	} {
		o := w.client(t, dir, change)
		if token, err := o.token(t.Context()); token != nil || err != nil {
			t.Errorf("%s: %v, %v", name, token, err)
		}
	}
	// The authorization server changed.
	w.set(func() {
		clear(w.tokens)
		w.metadata = func(doc map[string]any) { doc["authorization_servers"] = []string{w.elsewhere()} }
	})
	w.handle = func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.Host, "127.0.0.3") {
			return false
		}
		doc := map[string]any{"issuer": w.elsewhere(), "authorization_endpoint": w.elsewhere() + "/a", "token_endpoint": w.elsewhere() + "/t", "code_challenge_methods_supported": []string{"S256"}}
		reply(rw, http.StatusOK, doc)
		return true
	}
	o := w.client(t, dir, func(c *Config) { c.Network = append(c.Network, "127.0.0.3") })
	wantLogin(t, o, "")
	if w.saw("127.0.0.3 POST") || w.saw("refresh_token=") {
		t.Error("a refresh token was sent")
	}
}

func TestRefresh(t *testing.T) {
	t.Parallel()
	w, dir := newRealm(t), t.TempDir()
	w.life = time.Second // less than what counts as valid
	o := w.client(t, dir, nil)
	if err := o.logIn(t.Context(), &browser{w: w}); err != nil {
		t.Fatal(err)
	}
	w.set(func() { w.life, w.seen = time.Hour, nil })
	// Many at once, in two processes: one refreshes, and nobody loses the token.
	var all sync.WaitGroup
	for _, o := range []*oauth{o, w.client(t, dir, nil)} {
		for range 5 {
			all.Go(func() { wantStatus(t, o, http.StatusOK) })
		}
	}
	all.Wait()
	refreshes := 0
	for _, s := range w.seen {
		if strings.Contains(s, "grant_type=refresh_token") {
			refreshes++
		}
	}
	if refreshes != 1 {
		t.Errorf("refreshed %d times", refreshes)
	}
	// A token that is refused before its time is renewed once, and then by a person.
	w.set(func() { clear(w.tokens) })
	wantStatus(t, o, http.StatusOK)
	w.set(func() { clear(w.tokens) })
	wantLogin(t, o, "")
}

func TestRefreshTokenRefused(t *testing.T) {
	t.Parallel()
	w, dir := newRealm(t), t.TempDir()
	o := w.client(t, dir, nil)
	if err := o.logIn(t.Context(), &browser{w: w}); err != nil {
		t.Fatal(err)
	}
	w.set(func() { clear(w.tokens); clear(w.refresh) })
	wantLogin(t, o, "")
	if kept, err := o.kept.Load(t.Context(), keptName("docs")); kept != nil || err != nil {
		t.Errorf("%s is kept: %v", kept, err)
	}
}

func TestStepUp(t *testing.T) {
	t.Parallel()
	w := newRealm(t)
	o := w.client(t, t.TempDir(), nil)
	if err := o.logIn(t.Context(), &browser{w: w}); err != nil {
		t.Fatal(err)
	}
	w.set(func() { w.wants = "write" })
	wantLogin(t, o, "write")
	b := &browser{w: w}
	if err := o.logIn(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, o, http.StatusOK)
	if page, _ := url.Parse(b.page); page == nil || !strings.Contains(page.Query().Get("scope"), "read") || !strings.Contains(page.Query().Get("scope"), "write") {
		t.Errorf("asked for less than what was granted and is wanted: %s", b.page)
	}
}

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	w := newRealm(t)
	o := w.client(t, t.TempDir(), func(c *Config) {
		c.Auth = &Auth{ClientID: "machine", ClientSecret: "secret", Grant: GrantClient, Scopes: []string{"read"}}
	})
	wantStatus(t, o, http.StatusOK)
	wantStatus(t, o, http.StatusOK)
	if err := o.logIn(t.Context(), &browser{w: w}); err == nil || !strings.Contains(err.Error(), "docs") {
		t.Error(err)
	}
}

func TestPreregistered(t *testing.T) {
	t.Parallel()
	w := newRealm(t)
	o := w.client(t, t.TempDir(), func(c *Config) { c.Auth = &Auth{ClientID: "mine", ClientSecret: "hush", Scopes: []string{"mail"}} })
	b := &browser{w: w}
	if err := o.logIn(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, o, http.StatusOK)
	kept, err := o.kept.Load(t.Context(), keptName("docs"))
	page, _ := url.Parse(b.page)
	scopes := strings.Fields(page.Query().Get("scope")) // in any order
	if err != nil || strings.Contains(string(kept), "hush") || w.saw("/register") || page.Query().Get("client_id") != "mine" || !slices.Contains(scopes, "mail") {
		t.Errorf("%s, %v, %s", kept, err, b.page)
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
			w := newRealm(t)
			o := w.client(t, t.TempDir(), nil)
			b := &browser{w: w, stays: true}
			b.paste = func(page string) string {
				u, _ := url.Parse(page)
				q := u.Query()
				w.set(func() { w.codes["code-2"] = code{q.Get("code_challenge"), q.Get("scope"), q.Get("redirect_uri")} })
				return tt.paste(page)
			}
			err := o.logIn(t.Context(), b)
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "docs")) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// Some servers have no logins, which is told.
func TestNoLogin(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"a program":           {Name: "docs", Command: []string{"x"}},
		"older transport":     {Name: "docs", URL: "https://mcp.example.com", SSE: true},
		"of their own":        {Name: "docs", URL: "https://mcp.example.com", Headers: map[string]string{"authorization": "Bearer x"}},
		"invalid server name": {Name: "a b", URL: "https://mcp.example.com"},
	} {
		if err := LogIn(t.Context(), nil, c, LoginOptions{}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// An authorization server that does not answer holds a login up no longer than its context.
func TestSilence(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/register", "/token"} {
		w := newRealm(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.handle = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			cancel()
			<-r.Context().Done()
			return true
		}
		err := w.client(t, t.TempDir(), nil).logIn(ctx, &browser{w: w})
		if err == nil || !strings.Contains(err.Error(), "the MCP server docs") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A document that describes the client is its ID where the authorization server takes one;
// elsewhere the client registers itself.
func TestClientMetadata(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{true, false} {
		w := newRealm(t)
		w.issuer = func(doc map[string]any) { doc["client_id_metadata_document_supported"] = taken }
		const document = "https://example.com/client.json"
		o := w.client(t, t.TempDir(), func(c *Config) { c.Auth = &Auth{ClientMetadataURL: document} })
		b := &browser{w: w}
		if err := o.logIn(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, o, http.StatusOK)
		page, err := url.Parse(b.page)
		if err != nil || (page.Query().Get("client_id") == document) != taken || w.saw("/register") == taken {
			t.Errorf("taken %t: %s, %v", taken, b.page, err)
		}
	}
}
