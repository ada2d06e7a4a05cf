package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// clientSession is a session of the host as its client sees it. Clients of the revision
// 2026-07-28, which has no sessions, share one by the name in their URL.
type clientSession struct {
	server *Server
	id     string // over HTTP, where the revision has sessions
	name   string
	sdk    *mcp.Server
	tools  toolList
	store  storedResults
	asker  asker
	tasks  taskList
	// entering holds a token for the one that opens the session.
	entering chan struct{}

	mu     sync.Mutex
	host   *host.Session    // nil until it is opened, and when it is closed
	roots  []string         // that it was opened with
	wish   permissions.Mode // the mode that it was opened for, or empty
	listed bool             // whether its tools are offered
	stale  bool             // whether the client has said that its roots changed
	gone   bool
	calls  map[string]*call
	used   time.Time
}

// newSession makes what a client sees. The host's session is opened when it is needed: only
// then does the client tell its roots.
func (s *Server) newSession(name string, pipe bool) (*clientSession, error) {
	c := &clientSession{server: s, id: rand.Text(), name: name, entering: make(chan struct{}, 1), calls: make(map[string]*call), used: time.Now()}
	o := &s.options
	options := &mcp.ServerOptions{
		Instructions:            o.Instructions,
		Logger:                  quieter(o.Logger),
		PageSize:                maxTools,
		GetSessionID:            func() string { return c.id },
		RootsListChangedHandler: func(context.Context, *mcp.RootsListChangedRequest) { c.rootsChanged() },
		SetCacheable:            cacheable,
		// Without it the SDK says that the server sends logs.
		Capabilities: &mcp.ServerCapabilities{
			Tools:     &mcp.ToolCapabilities{ListChanged: true},
			Resources: &mcp.ResourceCapabilities{ListChanged: true},
		},
	}
	options.Capabilities.AddExtension(tasksExtension, nil)
	if o.Configure != nil {
		o.Configure(options)
	}
	c.sdk = mcp.NewServer(o.Info, options)
	c.tools.session, c.store.session, c.tasks.session = c, c, c
	if err := c.serveTasks(); err != nil {
		return nil, err
	}
	if o.Extend != nil {
		o.Extend(c.sdk)
	}
	c.sdk.AddReceivingMiddleware(c.opened)
	c.sdk.AddSendingMiddleware(c.tools.unnecessary)
	if pipe {
		c.sdk.AddReceivingMiddleware(initializedAgain())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case len(s.sessions) >= o.MaxSessions:
		return nil, fmt.Errorf("there are %d sessions already, which is the most at once: end one of them, or wait until one has been idle for %v", o.MaxSessions, o.IdleTimeout)
	}
	s.sessions[c] = struct{}{}
	return c, nil
}

// maxTools is how many tools a page of the list has: clients rarely ask for a second one.
const maxTools = 1000

// cacheable says for how long a client may keep what it got. Lists are announced when they
// change, to clients that listen. What is stored does not change.
func cacheable(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	const listed, stored = time.Minute, time.Hour
	ttl := listed
	if _, ok := req.(*mcp.ReadResourceRequest); ok {
		ttl = stored
	}
	c.TTLMs, c.CacheScope = int(ttl.Milliseconds()), "private"
}

// opened is a middleware that opens the host's session before it is needed.
func (c *clientSession) opened(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		c.touch()
		switch method {
		case "tools/list", "tools/call":
			more := c.asker.sees(capabilitiesOf(req)) && c.ready()
			if err := c.open(ctx, req); err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "no session could be opened: " + err.Error()}
			}
			if err := c.modeIs(modeOf(req)); err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
			}
			if more {
				c.refresh() // some tools need a person
			}
		}
		return next(ctx, method, req)
	}
}

func (c *clientSession) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = time.Now()
}

// idle reports whether nothing has used the session for a time.
func (c *clientSession) idle(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls) == 0 && now.Sub(c.used) >= c.server.options.IdleTimeout
}

// open opens the host's session, unless it is open. One whose client has other roots by now
// is closed first, when none of its calls is under way.
func (c *clientSession) open(ctx context.Context, req mcp.Request) error {
	if c.ready() {
		return nil
	}
	select {
	case c.entering <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.entering }()
	if c.ready() {
		return nil
	}
	client := clientOf(req)
	client.Session = c.name
	client.Asker = &c.asker
	roots, silent := rootsOf(ctx, req)
	if c.keeps(roots, silent) {
		return nil
	}
	client.Roots = roots
	c.end() //nolint:contextcheck // it ends with or without the request
	session, err := c.server.options.Open(ctx, client)
	if err != nil {
		return err
	}
	if !c.begin(session, &client) {
		closeSession(session) //nolint:contextcheck // as above
		return errClosed
	}
	if err := c.tools.refresh(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listed = true
	return nil
}

// ready reports whether the session is open and needs no other roots.
func (c *clientSession) ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host != nil && c.listed && (!c.stale || len(c.calls) > 0)
}

// keeps reports whether the session is open with these roots already, or its client did not say
// which it has by now.
func (c *clientSession) keeps(roots []string, silent error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := c.host != nil && c.listed && (silent != nil || slices.Equal(c.roots, roots))
	if same {
		c.stale = false
	}
	return same
}

func (c *clientSession) begin(session *host.Session, of *Client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return false
	}
	c.host, c.roots, c.wish, c.stale, c.listed = session, of.Roots, of.Mode, false, false
	return true
}

// modeIs refuses a request that wishes for another mode than the session has: one that was
// passed over could be a stricter one.
func (c *clientSession) modeIs(wish permissions.Mode) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wish == "" || wish == c.wish || c.host == nil || wish == c.host.Mode() {
		return nil
	}
	return fmt.Errorf("the session is in the mode %s, not %.40q: the mode is that of the session's first request; wish for another one in a session of its own", c.host.Mode(), wish)
}

func (c *clientSession) rootsChanged() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stale = true
}

// current is the host's session, or nil.
func (c *clientSession) current() *host.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host
}

// refresh takes up the tools that are offered by now.
func (c *clientSession) refresh() {
	if err := c.tools.refresh(); err != nil {
		c.server.options.Logger.Warn("the tools that a client is offered could not be renewed", "error", err)
	}
}

// end closes the host's session.
func (c *clientSession) end() {
	c.mu.Lock()
	session := c.host
	c.host = nil
	c.mu.Unlock()
	c.store.forget()
	if session != nil {
		closeSession(session)
	}
}

// close ends the session for good.
func (c *clientSession) close() {
	c.server.mu.Lock()
	delete(c.server.sessions, c)
	c.server.mu.Unlock()
	c.leave()
	for ss := range c.sdk.Sessions() {
		_ = ss.Close() // it may be gone already
	}
}

// leave ends the host's session, and what runs in it, for good.
func (c *clientSession) leave() {
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
	c.end()
}

// closeTime is how long what runs in a session gets to end.
const closeTime = 10 * time.Second

func closeSession(s *host.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = s.Close(ctx) // what does not end is told of by the host
}

// definitions are the tools of the session, as clients get them.
func (c *clientSession) definitions() ([]json.RawMessage, error) {
	session := c.current()
	if session == nil {
		return nil, nil
	}
	text, err := session.Definitions(host.FormatMCP)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("the definitions of tools: %w", err)
	}
	return list, nil
}
