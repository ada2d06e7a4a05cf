// Package oauth logs in to MCP servers over HTTP, and authorizes the requests to them, as the
// protocol's revision 2025-11-25 says. The SDK speaks OAuth; this package decides what of it may
// happen, asks the person, and keeps what that gives.
//
// A [Handler] trusts neither the server nor the authorization server that it names. All that
// belongs to one authorization goes through a flow, which sends codes, secrets and refresh tokens
// to the endpoints that were judged, and nowhere else. What was kept counts for the server, URL,
// issuer and client that it was made for.
package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/toolquay/toolquay/internal/visible"
)

// Options say which server a [Handler] is for, and how it reaches that and keeps what it gets.
type Options struct {
	// Server is the server's name, and URL where it is.
	Server, URL string
	// Auth says how to log in; nil is what the server itself tells.
	Auth *Auth
	// Network are hosts that an authorization server may have its endpoints on.
	Network []string
	// Client judges where each request leads, and each redirect.
	Client *http.Client
	// Kept keeps what logins give, and Logger takes what an operator should know.
	Kept   Credentials
	Logger *slog.Logger
}

// Auth says how to log in to a server over HTTP with OAuth.
type Auth struct {
	// ClientID and ClientSecret are of a client that was registered before; Issuer is the
	// authorization server that knows it.
	ClientID, ClientSecret, Issuer string
	// ClientMetadataURL is a document that describes the client, and its ID.
	ClientMetadataURL string
	// Scopes are asked for instead of those that the server tells.
	Scopes []string
	// Grant is [GrantCode], which empty means too, or [GrantClient].
	Grant string
	// RedirectPort is the port of 127.0.0.1 that the browser comes back to; 0 is any.
	RedirectPort int
}

// The grants of [Auth]: a person logs in with a browser, or the client is known by its secret.
const (
	GrantCode   = "authorization_code"
	GrantClient = "client_credentials"
)

// Credentials keeps what logins gave, by name. It holds secrets.
type Credentials interface {
	// Load returns what is kept under a name, nil where nothing is.
	Load(ctx context.Context, name string) ([]byte, error)
	// Update replaces what is kept under a name, nil to keep nothing. Nobody else updates it
	// meanwhile, in this process or another. After an error everything is as it was.
	Update(ctx context.Context, name string, update func(kept []byte) ([]byte, error)) error
}

// LoginNeededError is that a server refuses what a person has to log in for.
type LoginNeededError struct {
	Server string
	// StepUp is that what was granted is good, and only not enough for one request.
	StepUp bool
	// Scopes are what the server wants beyond what was granted; empty is as it sees fit.
	Scopes []string
}

// Error says which server needs a login, and how to log in.
func (e *LoginNeededError) Error() string {
	text := "the MCP server " + e.Server + " needs a login"
	if len(e.Scopes) > 0 {
		text += " that grants " + brief(strings.Join(e.Scopes, " "))
	}
	return text + ": run toolquay mcp login " + e.Server
}

// Handler authorizes the requests to one server, for its transport. Without a person it uses and
// refreshes what a login gave, and else fails with a [*LoginNeededError]. It is safe for
// concurrent use.
type Handler struct {
	server string
	url    string
	auth   Auth
	named  []string
	client *http.Client
	kept   Credentials
	logger *slog.Logger

	mu sync.Mutex
	// login is what is kept, as far as it was read.
	login *login
	// challenge is the last answer that a login has to satisfy.
	challenge *http.Response
	// need is the last login that was asked for, since Begin.
	need *LoginNeededError
	// renewed is an access token that took the place of one that was refused.
	renewed string
	// machine is the token source of the grant of client credentials, and granted are the scopes
	// that it asks for.
	machine oauth2.TokenSource
	granted []string
}

var _ auth.OAuthHandler = (*Handler)(nil)

// New makes what authorizes the requests to a server.
func New(o Options) *Handler {
	h := &Handler{server: o.Server, url: o.URL, named: o.Network, client: o.Client, kept: o.Kept, logger: o.Logger}
	if o.Auth != nil {
		h.auth = *o.Auth
	}
	return h
}

// TokenSource returns the source of tokens for the requests of the transport.
func (h *Handler) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	if h.auth.Grant == GrantClient {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.machine, nil
	}
	return &source{h, context.WithoutCancel(ctx)}, nil
}

// Authorize is told of an answer that refuses a request: it returns nil if the request is to be
// sent again.
func (h *Handler) Authorize(ctx context.Context, r *http.Request, refused *http.Response) error {
	defer refused.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(refused.Body, maxAnswer))
	scopes, stepUp := h.wanted(refused)
	switch {
	case refused.StatusCode == http.StatusForbidden && !stepUp:
		return nil // it has other reasons, which the answer to the next try tells
	case h.auth.Grant == GrantClient:
		return h.naming(h.asMachine(ctx, refused))
	case !stepUp:
		sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		again, err := h.renew(ctx, sent, refused)
		if again || err != nil {
			return h.naming(err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.challenge, h.need = withScopes(refused, nil), &LoginNeededError{h.server, stepUp, scopes}
	return h.need
}

// Begin is called before the client connects. A nil handler is of a server that has no logins.
func (h *Handler) Begin() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.need = nil
}

// Explain replaces the error of connecting, where a login would have been needed: the SDK takes
// that for a server of an older revision, and tells what came of trying that.
func (h *Handler) Explain(err error) error {
	if h == nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.need != nil {
		return h.need
	}
	return err
}

// naming makes an error name the server.
func (h *Handler) naming(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*LoginNeededError](err); ok {
		return err
	}
	return fmt.Errorf("authorization for the MCP server %s: %w", h.server, plain(visible.WithoutQuery(h.url, err)))
}

// wanted are the scopes that an answer asks for, and whether it is for their lack that it
// refuses a request.
func (h *Handler) wanted(refused *http.Response) (scopes []string, stepUp bool) {
	challenges, err := oauthex.ParseWWWAuthenticate(refused.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, false
	}
	for _, c := range challenges {
		if c.Scheme == "bearer" {
			stepUp = stepUp || refused.StatusCode == http.StatusForbidden && c.Params["error"] == "insufficient_scope"
			scopes = append(scopes, strings.Fields(c.Params["scope"])...)
		}
	}
	return scopes, stepUp
}

// renew gets another token instead of one that was refused, unless that is one already.
func (h *Handler) renew(ctx context.Context, sent string, refused *http.Response) (bool, error) {
	h.mu.Lock()
	renewed := h.renewed
	h.mu.Unlock()
	if sent == "" || sent == renewed {
		return false, nil
	}
	kept, err := h.kept.Load(ctx, keptName(h.server))
	if err != nil {
		return false, err
	}
	l := h.read(kept)
	if l == nil {
		return false, nil
	}
	found, err := h.newFlow().inspect(ctx, refused)
	if err != nil {
		return false, err
	}
	if !sameIssuer(found.issuer, l.Issuer) {
		h.logger.Warn("an MCP server has another authorization server than at its login", "server", h.server, "was", l.Issuer, "is", brief(found.issuer))
		return false, nil
	}
	token, err := h.refresh(ctx, sent)
	if err != nil || token == nil {
		return false, err
	}
	h.mu.Lock()
	h.renewed = token.AccessToken
	h.mu.Unlock()
	return true, nil
}

// asMachine gets a token by the grant of client credentials.
func (h *Handler) asMachine(ctx context.Context, refused *http.Response) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.newFlow()
	if _, err := f.inspect(ctx, refused); err != nil {
		return err
	}
	handler, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{Credentials: h.ownClient(), HTTPClient: f.client})
	if err != nil {
		return err
	}
	wanted, _ := h.wanted(refused)
	h.granted = union(union(h.granted, h.auth.Scopes), wanted)
	// The token source keeps the context, for the tokens to come.
	if err := handler.Authorize(context.WithoutCancel(ctx), f.request(ctx), withScopes(refused, h.granted)); err != nil {
		return err
	}
	h.machine, err = handler.TokenSource(ctx)
	return err
}

// ownClient is the client of the settings.
func (h *Handler) ownClient() *oauthex.ClientCredentials {
	c := &oauthex.ClientCredentials{ClientID: h.auth.ClientID, Issuer: h.auth.Issuer}
	if h.auth.ClientSecret != "" {
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: h.auth.ClientSecret}
	}
	return c
}

// withScopes is an answer without its body, which asks for scopes, if there are any, before all
// that it asked for.
func withScopes(refused *http.Response, scopes []string) *http.Response {
	out := &http.Response{StatusCode: refused.StatusCode, Header: refused.Header.Clone(), Body: http.NoBody}
	if len(scopes) > 0 {
		const name = "Www-Authenticate"
		out.Header[name] = append([]string{`Bearer scope="` + strings.Join(scopes, " ") + `"`}, out.Header[name]...)
	}
	return out
}

// union joins two lists of scopes.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
