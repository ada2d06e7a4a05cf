package servers

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/credentials"
	"github.com/toolquay/toolquay/host/internal/egress"
)

// realm is an MCP server that wants tokens and an authorization server that gives them, each on
// a host of its own: 127.0.0.1, 127.0.0.2 and, for what is evil, 127.0.0.3. Connections to
// all of them lead to the loopback.
type realm struct {
	resource, as, evil *httptest.Server

	mu sync.Mutex
	// seen is what reached each server: host, method, path and what secrets went along.
	seen []string
	// codes, and tokens that are good: access and refresh.
	codes   map[string]code
	tokens  map[string]string // to scopes
	refresh map[string]string // to scopes
	count   int
	// life is how long access tokens live.
	life time.Duration
	// wants are the scopes that a request needs.
	wants string

	// metadata and issuer change what is published; answer changes what the authorization
	// server sends the browser back with.
	metadata, issuer func(doc map[string]any)
	answer           func(back url.Values)
	handle           func(w http.ResponseWriter, r *http.Request) bool
	// mcp answers what is authorized. With one, everything is on the host 127.0.0.1.
	mcp http.Handler
	one bool
}

type code struct{ challenge, scopes, redirect string }

func newRealm(t *testing.T) *realm {
	t.Helper()
	w := &realm{codes: map[string]code{}, tokens: map[string]string{}, refresh: map[string]string{}, life: time.Hour}
	serve := func(h http.HandlerFunc) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.note(r)
			if w.handle != nil && w.handle(rw, r) {
				return
			}
			h(rw, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	w.resource, w.as, w.evil = serve(w.serveResource), serve(w.serveAS), serve(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, `{"access_token":"evil","token_type":"Bearer"}`)
	})
	return w
}

func at(host string, s *httptest.Server) string {
	return "http://" + host + ":" + strconv.Itoa(s.Listener.Addr().(*net.TCPAddr).Port)
}

func (w *realm) home() string { return at("127.0.0.1", w.resource) + "/mcp" }
func (w *realm) asHome() string {
	if w.one {
		return at("127.0.0.1", w.as)
	}
	return at("127.0.0.2", w.as)
}
func (w *realm) elsewhere() string { return at("127.0.0.3", w.evil) }

func (w *realm) note(r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	w.mu.Lock()
	defer w.mu.Unlock()
	host, _, _ := net.SplitHostPort(r.Host)
	w.seen = append(w.seen, strings.Join([]string{host, r.Method, r.URL.Path, r.Header.Get("Authorization"), string(body)}, " "))
}

func (w *realm) saw(part string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.seen, func(s string) bool { return strings.Contains(s, part) })
}

func (w *realm) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

func reply(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v)
}

func (w *realm) serveResource(rw http.ResponseWriter, r *http.Request) {
	where := at("127.0.0.1", w.resource) + "/.well-known/oauth-protected-resource/mcp"
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		doc := map[string]any{"resource": w.home(), "authorization_servers": []string{w.asHome()}, "scopes_supported": []string{"read"}}
		if w.metadata != nil {
			w.metadata(doc)
		}
		reply(rw, http.StatusOK, doc)
	case "/mcp":
		w.mu.Lock()
		scopes, ok := w.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		wants := w.wants
		w.mu.Unlock()
		switch {
		case !ok:
			rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+where+`"`)
			rw.WriteHeader(http.StatusUnauthorized)
		case wants != "" && !strings.Contains(" "+scopes+" ", " "+wants+" "):
			rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+wants+`", resource_metadata="`+where+`"`)
			rw.WriteHeader(http.StatusForbidden)
		case w.mcp != nil:
			w.mcp.ServeHTTP(rw, r)
		}
	default:
		http.NotFound(rw, r)
	}
}

func (w *realm) serveAS(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		doc := map[string]any{
			"issuer": w.asHome(), "authorization_endpoint": w.asHome() + "/authorize", "token_endpoint": w.asHome() + "/token",
			"registration_endpoint": w.asHome() + "/register", "jwks_uri": w.asHome() + "/jwks", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"read", "write", "offline_access"},
		}
		if w.issuer != nil {
			w.issuer(doc)
		}
		reply(rw, http.StatusOK, doc)
	case "/register":
		w.mu.Lock()
		w.count++
		id := "client-" + strconv.Itoa(w.count)
		w.mu.Unlock()
		reply(rw, http.StatusCreated, map[string]any{"client_id": id, "token_endpoint_auth_method": "none"})
	case "/authorize":
		w.authorize(rw, r)
	case "/token":
		w.token(rw, r)
	default:
		http.NotFound(rw, r)
	}
}

func (w *realm) authorize(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.mu.Lock()
	w.count++
	name := "code-" + strconv.Itoa(w.count)
	w.codes[name] = code{q.Get("code_challenge"), q.Get("scope"), q.Get("redirect_uri")}
	w.mu.Unlock()
	back := url.Values{"code": {name}, "state": {q.Get("state")}}
	if w.answer != nil {
		w.answer(back)
	}
	http.Redirect(rw, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token gives tokens for codes, and for refresh tokens, each of which is good once.
func (w *realm) token(rw http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	w.mu.Lock()
	defer w.mu.Unlock()
	var scopes string
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		c, ok := w.codes[r.Form.Get("code")]
		delete(w.codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || c.redirect != r.Form.Get("redirect_uri") {
			reply(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		scopes = c.scopes
	case "refresh_token":
		granted, ok := w.refresh[r.Form.Get("refresh_token")]
		delete(w.refresh, r.Form.Get("refresh_token"))
		if !ok {
			reply(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		scopes = granted
	case "client_credentials":
		if id, secret, _ := r.BasicAuth(); id+secret != "machinesecret" && r.Form.Get("client_secret") != "secret" {
			reply(rw, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
			return
		}
		scopes = r.Form.Get("scope")
	}
	if r.Form.Get("resource") != w.home() {
		reply(rw, http.StatusBadRequest, map[string]string{"error": "invalid_target"})
		return
	}
	w.count++
	access, refresh := "access-"+strconv.Itoa(w.count), "refresh-"+strconv.Itoa(w.count)
	w.tokens[access], w.refresh[refresh] = scopes, scopes
	reply(rw, http.StatusOK, map[string]any{
		"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": int(w.life.Seconds()), "scope": scopes,
	})
}

// client is what authorizes the requests to the realm's MCP server. Tests change its settings.
func (w *realm) client(t *testing.T, dir string, change func(*Config)) *oauth {
	t.Helper()
	c := &Config{Name: "docs", URL: w.home(), Network: []string{"127.0.0.2"}}
	if change != nil {
		change(c)
	}
	named := func(host string) bool { return slices.Contains(c.Network, host) }
	configured := []string{c.URL}
	if c.Auth != nil {
		configured = append(configured, c.Auth.Issuer)
	}
	d := egress.New(egress.Options{Named: named, Configured: configured, Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(to.Port()))))
	}})
	return newOAuth(c, d.Client(), credentials.InFiles(filepath.Join(dir, "credentials")), slog.New(slog.DiscardHandler))
}

// authorized makes a request as the SDK's transport does, and returns its status.
func authorized(t *testing.T, o *oauth) (int, error) {
	t.Helper()
	once := func() (*http.Request, *http.Response) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		ts, err := o.TokenSource(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ts != nil {
			token, err := ts.Token()
			if err != nil {
				t.Fatal(err)
			}
			if token != nil {
				r.Header.Set("Authorization", "Bearer "+token.AccessToken)
			}
		}
		answer, err := o.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return r, answer
	}
	r, answer := once()
	if answer.StatusCode != http.StatusUnauthorized && answer.StatusCode != http.StatusForbidden {
		return answer.StatusCode, answer.Body.Close()
	}
	if err := o.Authorize(t.Context(), r, answer); err != nil {
		return answer.StatusCode, err
	}
	_, answer = once()
	return answer.StatusCode, answer.Body.Close()
}

// browser is a person who opens URLs at once, and what they ended up at.
type browser struct {
	w *realm
	// stays makes it open nothing, so that what is pasted counts.
	stays bool
	paste func(page string) string

	page string
	got  string
}

func (b *browser) Visit(ctx context.Context, page string) error {
	b.page = page
	if b.stays {
		return nil
	}
	return b.open(ctx, page)
}

func (b *browser) open(ctx context.Context, page string) error {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		_, port, _ := net.SplitHostPort(addr)
		var d net.Dialer
		return d.DialContext(ctx, network, "127.0.0.1:"+port)
	}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	b.got = fmt.Sprint(answer.StatusCode, " ", string(text))
	return err
}

func (b *browser) Paste(ctx context.Context) (string, error) {
	if b.paste != nil {
		return b.paste(b.page), nil
	}
	<-ctx.Done()
	return "", context.Cause(ctx)
}
