package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Person is somebody who logs in with a browser.
type Person interface {
	// Visit asks the person to open a URL. An error says that they will not.
	Visit(ctx context.Context, url string) error
	// Paste returns the code, or the URL that the browser ended up at, if the person can hand
	// them over. It is called after Visit, and its context ends when the browser has answered
	// by itself.
	Paste(ctx context.Context) (string, error)
}

// loginTime is how long a person has for a login.
const loginTime = 10 * time.Minute

// LogIn has a person log in, and keeps what that gives.
func (h *Handler) LogIn(ctx context.Context, p Person) error {
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, fmt.Errorf("nobody logged in within %v", loginTime))
	defer cancel()
	err := h.tryLogIn(ctx, p)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return h.naming(err)
}

func (h *Handler) tryLogIn(ctx context.Context, p Person) error {
	if h.auth.Grant == GrantClient {
		return errors.New("it is used with the client's own credentials: nobody needs to log in")
	}
	refused, err := h.refusal(ctx)
	if err != nil {
		return err
	}
	f := h.newFlow()
	found, err := f.inspect(ctx, refused)
	if err != nil {
		return err
	}
	back, err := listen(ctx, h.auth.RedirectPort)
	if err != nil {
		return err
	}
	defer back.close()
	kept, err := h.kept.Load(ctx, keptName(h.server))
	if err != nil {
		return err
	}
	handler, err := auth.NewAuthorizationCodeHandler(h.codeConfig(f, found, back, p, func(asked []string) []string {
		return h.scopes(h.read(kept), found.issuer, asked, refused)
	}))
	if err != nil {
		return err
	}
	return handler.Authorize(ctx, f.request(ctx), withScopes(refused, nil))
}

// codeConfig says how the SDK gets a code, and what becomes of the token for it.
func (h *Handler) codeConfig(f *flow, found *found, back *callback, p Person, scopes func([]string) []string) *auth.AuthorizationCodeHandlerConfig {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back.url, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: f.client,
		ScopeFilter: scopes,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return back.fetch(ctx, args.URL, p)
		},
		NewTokenSource: func(ctx context.Context, config *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			return &source{h, ctx}, h.keep(ctx, found.issuer, config, token)
		},
	}
	if h.auth.ClientMetadataURL != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: h.auth.ClientMetadataURL}
	}
	if h.auth.ClientID != "" {
		c.PreregisteredClient = h.ownClient()
		return c
	}
	c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
		ClientName: "Toolquay", RedirectURIs: []string{back.url},
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		TokenEndpointAuthMethod: "none",
	}}
	return c
}

// scopes are those to ask for: those of the settings instead of all that the server knows, and
// beside what it asks for; and for a step up those that were granted before.
func (h *Handler) scopes(kept *login, issuer string, asked []string, refused *http.Response) []string {
	wanted, stepUp := h.wanted(refused)
	switch {
	case len(h.auth.Scopes) > 0 && len(wanted) == 0:
		asked = h.auth.Scopes
	case len(h.auth.Scopes) > 0:
		asked = union(asked, h.auth.Scopes)
	}
	if stepUp && kept != nil && sameIssuer(kept.Issuer, issuer) {
		asked = union(asked, kept.Scopes)
	}
	return asked
}

// keep keeps what a login gave.
func (h *Handler) keep(ctx context.Context, issuer string, c *oauth2.Config, token *oauth2.Token) error {
	l := &login{
		Server: h.server, Resource: h.url, Issuer: issuer, ClientID: c.ClientID,
		TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, Scopes: c.Scopes, Token: token,
	}
	if granted, ok := token.Extra("scope").(string); ok {
		l.Scopes = strings.Fields(granted)
	}
	if h.auth.ClientID == "" {
		l.ClientSecret = c.ClientSecret
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if err := h.kept.Update(ctx, keptName(h.server), func([]byte) ([]byte, error) { return text, nil }); err != nil {
		return err
	}
	h.mu.Lock()
	h.login, h.challenge, h.renewed = l, nil, ""
	h.mu.Unlock()
	return nil
}

// refusal is what a login has to satisfy: the last answer that said so, or else what the server
// answers to a request without a token.
func (h *Handler) refusal(ctx context.Context) (*http.Response, error) {
	h.mu.Lock()
	last := h.challenge
	h.mu.Unlock()
	if last != nil {
		return last, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"toolquay","version":"1"}}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, strings.NewReader(hello))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := h.client.Do(r)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		return nil, fmt.Errorf("it asks for no login: it answers a request without a token by %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	return withScopes(answer, nil), nil
}

// stateOf is the state in a URL for the browser.
func stateOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	state := u.Query().Get("state")
	if state == "" || u.Query()["state"][0] != state || len(u.Query()["state"]) != 1 {
		return "", errors.New("the authorization endpoint has a state of its own")
	}
	return state, nil
}
