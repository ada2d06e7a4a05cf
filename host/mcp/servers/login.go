package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers/internal/oauth"
	"github.com/toolquay/toolquay/internal/visible"
)

// outgoing makes the client for all that concerns a server: its requests and its logins.
func outgoing(h *host.Host, c *Config, proxy *url.URL) *http.Client {
	o := host.Outgoing{Configured: []string{c.URL}, Named: c.Network, Proxy: proxy}
	if c.Auth != nil && c.Auth.Issuer != "" {
		o.Configured = append(o.Configured, c.Auth.Issuer)
	}
	return h.HTTPClient(o)
}

// What logins are made of.
type (
	// Auth says how to log in to a server over HTTP with OAuth.
	Auth = oauth.Auth
	// Credentials keeps what logins gave, by name. It holds secrets.
	Credentials = oauth.Credentials
	// Person is somebody who logs in with a browser.
	Person = oauth.Person
	// LoginNeededError is that a server refuses what a person has to log in for.
	LoginNeededError = oauth.LoginNeededError
)

// The grants of [Auth]: a person logs in with a browser, or the client is known by its secret.
const (
	GrantCode   = oauth.GrantCode
	GrantClient = oauth.GrantClient
)

// LoginOptions say how [LogIn] reaches a server and keeps what it gets.
type LoginOptions struct {
	Credentials Credentials
	// Proxy and Logger are as in [Options].
	Proxy  *url.URL
	Logger *slog.Logger
}

// LogIn has a person log in to a server over HTTP, whether it is connected or not. What that
// gives is kept, and counts from the server's next connection.
func LogIn(ctx context.Context, h *host.Host, c Config, o LoginOptions, p Person) error {
	if err := c.check(); err != nil {
		return fmt.Errorf("the MCP server %s: %w", c.Name, err)
	}
	if why := c.noLogin(); why != "" {
		return fmt.Errorf("there is no login to the MCP server %s: %s", c.Name, why)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	client := outgoing(h, &c, o.Proxy)
	defer client.CloseIdleConnections()
	return c.logins(client, o.Credentials, o.Logger).LogIn(ctx, p)
}

// logins makes what authorizes the requests to a server.
func (c *Config) logins(client *http.Client, kept Credentials, logger *slog.Logger) *oauth.Handler {
	return oauth.New(oauth.Options{Server: c.Name, URL: c.URL, Auth: c.Auth, Network: c.Network, Client: client, Kept: kept, Logger: logger})
}

// noLogin says why there is no login to a server; it is empty where there may be one.
func (c *Config) noLogin() string {
	own := func(name string) bool { return strings.EqualFold(name, "Authorization") }
	switch {
	case c.URL == "":
		return "it is a program, not at a url"
	case c.SSE:
		return "the older transport (sse) has none here"
	case slices.ContainsFunc(slices.Collect(maps.Keys(c.Headers)), own):
		return "its headers have an Authorization of their own"
	}
	return ""
}

// LogOut forgets what a login to a server gave. It reports whether there was anything.
func LogOut(ctx context.Context, server string, kept Credentials) (bool, error) {
	return oauth.Forget(ctx, kept, server)
}

// authorizer is what authorizes the requests to the server.
func (s *server) authorizer() (auth.OAuthHandler, error) {
	if s.oauth == nil {
		return nil, nil
	}
	return s.oauth, nil
}

// asksLogin offers a way to log in, if that is why a connection ended.
func (s *server) asksLogin(err error) bool {
	need, ok := errors.AsType[*LoginNeededError](err)
	if !ok {
		return false
	}
	tool := s.authenticate()
	s.provide(host.Provided{Tools: []host.NativeTool{tool}})
	s.become(NeedsAuth, need, func(st *Status) { st.Tools = []string{tool.Contract.Name} })
	return true
}

// offerStepUp offers a login beside the server's tools.
func (s *server) offerStepUp() {
	s.mu.Lock()
	s.stepUp = true
	s.mu.Unlock()
	s.offer()
}

func (s *server) authenticateName() string { return "mcp__" + s.config.Name + "__authenticate" }

// authenticate is the tool by which a model has its person log in.
func (s *server) authenticate() host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: s.authenticateName(), Summary: "Have the user log in to the MCP server " + s.config.Name + ".",
			Description: "The MCP server " + s.config.Name + " needs a login. This asks the user to log in with a browser, and waits for it. The server's tools can be called afterwards.",
			InputSchema: `{"type":"object","properties":{},"additionalProperties":false}`, RequiresUser: true, AlwaysLoad: s.config.AlwaysLoad,
		},
		Server: func(json.RawMessage) host.ToolServer {
			return host.ToolServer{Name: s.config.Name, Tool: "authenticate"}
		},
		Run: s.runAuthenticate,
	}
}

func (s *server) runAuthenticate(ctx context.Context, hc *host.Call) (abi.ToolResult, error) {
	if err := s.oauth.LogIn(ctx, &asked{hc, s.config.Name}); err != nil {
		if known, ok := errors.AsType[*abi.Error](err); ok {
			return abi.ToolResult{}, known
		}
		return abi.ToolResult{}, abi.Errorf(abi.CodeDenied, "%w", err)
	}
	s.mu.Lock()
	stepUp := s.stepUp
	s.stepUp = false
	s.mu.Unlock()
	if stepUp {
		s.offer()
	}
	c, err := s.connection(ctx)
	if err != nil {
		return abi.ToolResult{}, err
	}
	c.release()
	status := s.Status()
	text := "The user logged in to the MCP server " + s.config.Name + ". Its tools from now on: " + strings.Join(status.Tools, ", ") + "."
	return abi.ToolResult{Content: []abi.Block{abi.TextBlock(text)}}, nil
}

// asked is the person that a call's session works for.
type asked struct {
	call   *host.Call
	server string
}

// Visit asks the person to open a URL.
func (a *asked) Visit(ctx context.Context, page string) error {
	u, err := url.Parse(page)
	if err != nil {
		return err
	}
	reply, err := a.call.Ask(ctx, host.Ask{URL: &host.URLQuestion{
		Message: fmt.Sprintf("Log in at %s, which the MCP server %s names for that.", visible.Short(u.Host, maxHost), a.server), URL: page,
	}})
	if err == nil && reply.Answer != host.AnswerAllow {
		err = errors.New(strings.TrimSuffix("the user does not want to log in: "+reply.Message, ": "))
	}
	return err
}

// pasteAfter is how long a browser has to come back before the person is asked to help.
const pasteAfter = 15 * time.Second

const pasteSchema = `{"type":"object","required":["address"],"properties":{"address":{"type":"string","title":"Address or code","maxLength":8000}}}`

// Paste asks the person for what the browser shows in the end.
func (a *asked) Paste(ctx context.Context) (string, error) {
	select {
	case <-time.After(pasteAfter):
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	reply, err := a.call.Ask(ctx, host.Ask{Form: &host.Form{
		Message: "Toolquay still waits for the browser. If that cannot reach this machine, enter the address that it ended up at after the login, or the code that it shows. Decline to give up the login.",
		Schema:  json.RawMessage(pasteSchema),
	}})
	switch {
	case errors.Is(err, host.ErrNobody) || isUnsupported(err): // this way of asking has no forms
		<-ctx.Done()
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case reply.Answer != host.AnswerAllow:
		return "", errors.New("the user gave up the login")
	}
	var content struct {
		Address string `json:"address"`
	}
	return content.Address, json.Unmarshal(reply.Content, &content)
}

func isUnsupported(err error) bool {
	known, ok := errors.AsType[*abi.Error](err)
	return ok && known.Code == abi.CodeUnsupported
}
