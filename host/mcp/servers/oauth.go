package servers

import (
	"context"
	"encoding/json"
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

// oauth authorizes the requests to one server, for its transport. Without a person it uses and
// refreshes what a login gave, and else fails with a [*LoginNeededError]. It is safe for
// concurrent use.
type oauth struct {
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
	// need is the last login that was asked for, since begin.
	need *LoginNeededError
	// renewed is an access token that took the place of one that was refused.
	renewed string
	// machine is the token source of the grant of client credentials, and granted are the scopes
	// that it asks for.
	machine oauth2.TokenSource
	granted []string
}

var _ auth.OAuthHandler = (*oauth)(nil)

// newOAuth makes what authorizes the requests to a server. The client judges where each request
// leads, and each redirect.
func newOAuth(c *Config, client *http.Client, kept Credentials, logger *slog.Logger) *oauth {
	o := &oauth{server: c.Name, url: c.URL, named: c.Network, client: client, kept: kept, logger: logger}
	if c.Auth != nil {
		o.auth = *c.Auth
	}
	return o
}

// login is what a login gave, as it is kept. It counts for the server, URL, issuer and client
// that it was made for, and for nothing else.
type login struct {
	Server   string `json:"server"`
	Resource string `json:"resource"`
	Issuer   string `json:"issuer"`

	ClientID string `json:"client_id"`
	// ClientSecret is that of a client that was registered; one of the settings is not kept.
	ClientSecret string           `json:"client_secret,omitempty"`
	TokenURL     string           `json:"token_endpoint"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style"`
	Scopes       []string         `json:"scopes,omitempty"`
	Token        *oauth2.Token    `json:"token"`
}

// read reads what is kept, nil where it is of no use here any more.
func (o *oauth) read(kept []byte) *login {
	var l login
	if len(kept) == 0 {
		return nil
	}
	if err := json.Unmarshal(kept, &l); err != nil {
		o.logger.Warn("what was kept of a login to an MCP server cannot be read", "server", o.server, "error", err)
		return nil
	}
	a := &o.auth
	if l.Token == nil || l.Server != o.server || l.Resource != o.url ||
		a.Issuer != "" && !sameIssuer(a.Issuer, l.Issuer) || a.ClientID != "" && a.ClientID != l.ClientID {
		return nil
	}
	return &l
}

func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// keptName is what the login to a server is kept under.
func keptName(server string) string { return "mcp/" + server }

// TokenSource returns the source of tokens for the requests of the transport.
func (o *oauth) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	if o.auth.Grant == GrantClient {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.machine, nil
	}
	return &source{o, context.WithoutCancel(ctx)}, nil
}

// Authorize is told of an answer that refuses a request: it returns nil if the request is to be
// sent again.
func (o *oauth) Authorize(ctx context.Context, r *http.Request, refused *http.Response) error {
	defer refused.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(refused.Body, maxAnswer))
	scopes, stepUp := o.wanted(refused)
	switch {
	case refused.StatusCode == http.StatusForbidden && !stepUp:
		return nil // it has other reasons, which the answer to the next try tells
	case o.auth.Grant == GrantClient:
		return o.naming(o.asMachine(ctx, refused))
	case !stepUp:
		sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		again, err := o.renew(ctx, sent, refused)
		if again || err != nil {
			return o.naming(err)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.challenge, o.need = withScopes(refused, nil), &LoginNeededError{o.server, stepUp, scopes}
	return o.need
}

// begin is called before the client connects. It may be nil, for a server that has no logins.
func (o *oauth) begin() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.need = nil
}

// instead replaces the error of connecting, where a login would have been needed: the SDK takes
// that for a server of an older revision, and tells what came of trying that.
func (o *oauth) instead(err error) error {
	if o == nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.need != nil {
		return o.need
	}
	return err
}

// naming makes an error name the server.
func (o *oauth) naming(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*LoginNeededError](err); ok {
		return err
	}
	return fmt.Errorf("authorization for the MCP server %s: %w", o.server, plain(withoutQuery(o.url, err)))
}

// wanted are the scopes that an answer asks for, and whether it is for their lack that it
// refuses a request.
func (o *oauth) wanted(refused *http.Response) (scopes []string, stepUp bool) {
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
func (o *oauth) renew(ctx context.Context, sent string, refused *http.Response) (bool, error) {
	o.mu.Lock()
	renewed := o.renewed
	o.mu.Unlock()
	if sent == "" || sent == renewed {
		return false, nil
	}
	kept, err := o.kept.Load(ctx, keptName(o.server))
	if err != nil {
		return false, err
	}
	l := o.read(kept)
	if l == nil {
		return false, nil
	}
	found, err := o.newFlow().inspect(ctx, refused)
	if err != nil {
		return false, err
	}
	if !sameIssuer(found.issuer, l.Issuer) {
		o.logger.Warn("an MCP server has another authorization server than at its login", "server", o.server, "was", l.Issuer, "is", brief(found.issuer))
		return false, nil
	}
	token, err := o.refresh(ctx, sent)
	if err != nil || token == nil {
		return false, err
	}
	o.mu.Lock()
	o.renewed = token.AccessToken
	o.mu.Unlock()
	return true, nil
}

// asMachine gets a token by the grant of client credentials.
func (o *oauth) asMachine(ctx context.Context, refused *http.Response) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.newFlow()
	if _, err := f.inspect(ctx, refused); err != nil {
		return err
	}
	handler, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{Credentials: o.ownClient(), HTTPClient: f.client})
	if err != nil {
		return err
	}
	wanted, _ := o.wanted(refused)
	o.granted = union(union(o.granted, o.auth.Scopes), wanted)
	// The token source keeps the context, for the tokens to come.
	if err := handler.Authorize(context.WithoutCancel(ctx), f.request(ctx), withScopes(refused, o.granted)); err != nil {
		return err
	}
	o.machine, err = handler.TokenSource(ctx)
	return err
}

// ownClient is the client of the settings.
func (o *oauth) ownClient() *oauthex.ClientCredentials {
	c := &oauthex.ClientCredentials{ClientID: o.auth.ClientID, Issuer: o.auth.Issuer}
	if o.auth.ClientSecret != "" {
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.auth.ClientSecret}
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

// forget forgets what a login gave; it reports whether there was one.
func forget(ctx context.Context, kept Credentials, server string) (bool, error) {
	var was bool
	err := kept.Update(ctx, keptName(server), func(kept []byte) ([]byte, error) {
		was = kept != nil
		return nil, nil
	})
	return was, err
}

// union joins two lists of scopes.
func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
