// Package oauthtest is for tests of logins to MCP servers: a server that wants one, and a person
// with a browser.
package oauthtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Realm is an MCP server that wants tokens and an authorization server that gives them, each on
// a host of its own: 127.0.0.1, 127.0.0.2 and, for what is evil, 127.0.0.3. Connections to all of
// them lead to the loopback. Once it was asked something, its fields are changed by [Realm.Set].
type Realm struct {
	resource, as, evil *httptest.Server

	mu    sync.Mutex
	seen  []string
	count int
	// Codes, and tokens that are good: access and refresh.
	Codes   map[string]Code
	Tokens  map[string]string // to scopes
	Refresh map[string]string // to scopes
	// Life is how long access tokens live.
	Life time.Duration
	// Wants are the scopes that a request needs.
	Wants string

	// Metadata and Issuer change what is published; Answer changes what the authorization
	// server sends the browser back with.
	Metadata, Issuer func(doc map[string]any)
	Answer           func(back url.Values)
	// Handle answers a request before the servers do, if it reports true.
	Handle func(w http.ResponseWriter, r *http.Request) bool
	// MCP answers what is authorized.
	MCP http.Handler
	// One has everything on the host 127.0.0.1.
	One bool
}

// Code is what the authorization server remembers of a code that it gave.
type Code struct{ Challenge, Scopes, Redirect string }

// New starts the servers of a realm, which end with the test.
func New(t *testing.T) *Realm {
	t.Helper()
	w := &Realm{
		Codes: map[string]Code{}, Tokens: map[string]string{}, Refresh: map[string]string{}, Life: time.Hour,
		Metadata: func(map[string]any) {}, Issuer: func(map[string]any) {}, Answer: func(url.Values) {},
	}
	serve := func(h http.HandlerFunc) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.note(r)
			if handle := locked(w, &w.Handle); handle != nil && handle(rw, r) {
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
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return "http://" + net.JoinHostPort(host, port)
}

// Home is the URL of the MCP server.
func (w *Realm) Home() string { return at("127.0.0.1", w.resource) + "/mcp" }

// Authority is the issuer.
func (w *Realm) Authority() string {
	if w.One {
		return w.AuthorityAt("127.0.0.1")
	}
	return w.AuthorityAt("127.0.0.2")
}

// AuthorityAt is the authorization server by another address.
func (w *Realm) AuthorityAt(host string) string { return at(host, w.as) }

// Elsewhere is where nothing should be sent.
func (w *Realm) Elsewhere() string { return at("127.0.0.3", w.evil) }

func (w *Realm) note(r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	w.mu.Lock()
	defer w.mu.Unlock()
	host, _, _ := net.SplitHostPort(r.Host)
	w.seen = append(w.seen, strings.Join([]string{host, r.Method, r.URL.Path, r.Header.Get("Authorization"), string(body)}, " "))
}

// Seen is what reached the servers: host, method, path and what secrets went along.
func (w *Realm) Seen() []string { return slices.Clone(locked(w, &w.seen)) }

// Saw reports whether something with such a part reached a server.
func (w *Realm) Saw(part string) bool {
	return slices.ContainsFunc(w.Seen(), func(s string) bool { return strings.Contains(s, part) })
}

func locked[T any](w *Realm, field *T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *field
}

// Set changes fields between two requests.
func (w *Realm) Set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
}

// Reply answers with JSON.
func Reply(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v)
}

func (w *Realm) serveResource(rw http.ResponseWriter, r *http.Request) {
	where := at("127.0.0.1", w.resource) + "/.well-known/oauth-protected-resource/mcp"
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		doc := map[string]any{"resource": w.Home(), "authorization_servers": []string{w.Authority()}, "scopes_supported": []string{"read"}}
		locked(w, &w.Metadata)(doc)
		Reply(rw, http.StatusOK, doc)
	case "/mcp":
		w.mu.Lock()
		scopes, ok := w.Tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		wants := w.Wants
		w.mu.Unlock()
		switch {
		case !ok:
			rw.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+where+`"`)
			rw.WriteHeader(http.StatusUnauthorized)
		case wants != "" && !strings.Contains(" "+scopes+" ", " "+wants+" "):
			rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+wants+`", resource_metadata="`+where+`"`)
			rw.WriteHeader(http.StatusForbidden)
		case w.MCP != nil:
			w.MCP.ServeHTTP(rw, r)
		}
	default:
		http.NotFound(rw, r)
	}
}

func (w *Realm) serveAS(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		doc := map[string]any{
			"issuer": w.Authority(), "authorization_endpoint": w.Authority() + "/authorize", "token_endpoint": w.Authority() + "/token",
			"registration_endpoint": w.Authority() + "/register", "jwks_uri": w.Authority() + "/jwks", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"read", "write", "offline_access"},
		}
		locked(w, &w.Issuer)(doc)
		Reply(rw, http.StatusOK, doc)
	case "/register":
		w.mu.Lock()
		w.count++
		id := "client-" + strconv.Itoa(w.count)
		w.mu.Unlock()
		Reply(rw, http.StatusCreated, map[string]any{"client_id": id, "token_endpoint_auth_method": "none"})
	case "/authorize":
		w.authorize(rw, r)
	case "/token":
		w.token(rw, r)
	default:
		http.NotFound(rw, r)
	}
}

func (w *Realm) authorize(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.mu.Lock()
	w.count++
	name := "code-" + strconv.Itoa(w.count)
	w.Codes[name] = Code{q.Get("code_challenge"), q.Get("scope"), q.Get("redirect_uri")}
	w.mu.Unlock()
	back := url.Values{"code": {name}, "state": {q.Get("state")}}
	locked(w, &w.Answer)(back)
	http.Redirect(rw, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token gives tokens for codes, and for refresh tokens, each of which is good once.
func (w *Realm) token(rw http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	w.mu.Lock()
	defer w.mu.Unlock()
	var scopes string
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		c, ok := w.Codes[r.Form.Get("code")]
		delete(w.Codes, r.Form.Get("code"))
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if !ok || c.Challenge != base64.RawURLEncoding.EncodeToString(sum[:]) || c.Redirect != r.Form.Get("redirect_uri") {
			Reply(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		scopes = c.Scopes
	case "refresh_token":
		granted, ok := w.Refresh[r.Form.Get("refresh_token")]
		delete(w.Refresh, r.Form.Get("refresh_token"))
		if !ok {
			Reply(rw, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		scopes = granted
	case "client_credentials":
		if id, secret, _ := r.BasicAuth(); id+secret != "machinesecret" && r.Form.Get("client_secret") != "secret" {
			Reply(rw, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
			return
		}
		scopes = r.Form.Get("scope")
	}
	if r.Form.Get("resource") != w.Home() {
		Reply(rw, http.StatusBadRequest, map[string]string{"error": "invalid_target"})
		return
	}
	w.count++
	access, refresh := "access-"+strconv.Itoa(w.count), "refresh-"+strconv.Itoa(w.count)
	w.Tokens[access], w.Refresh[refresh] = scopes, scopes
	Reply(rw, http.StatusOK, map[string]any{
		"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": int(w.Life.Seconds()), "scope": scopes,
	})
}
