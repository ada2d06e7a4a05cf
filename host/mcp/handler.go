package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Handler serves the protocol over HTTP, at the path where it is mounted: both revisions, told
// apart by the header MCP-Protocol-Version. Clients of 2025-11-25 have a session each. Those of
// 2026-07-28 share one, or have others under names of their choice, which they put behind
// the path, as in /mcp/NAME.
//
// The handler knows who is allowed to call it from nobody: what is in front of it authenticates,
// and checks hosts and origins.
func (s *Server) Handler() http.Handler { return s.http }

// handler routes requests to the SDK's handlers, of which each serves revisions of one kind.
type handler struct {
	server              *Server
	sessions, stateless http.Handler
	protection          *http.CrossOriginProtection

	mu    sync.Mutex
	known map[string]*clientSession // those of clients that have sessions, by their ids
	named map[string]*clientSession // those of clients that have none
	sweep *time.Timer
}

func newHandler(s *Server) *handler {
	h := &handler{server: s, protection: http.NewCrossOriginProtection(), known: make(map[string]*clientSession), named: make(map[string]*clientSession)}
	o := &s.options
	h.sessions = mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
		Logger: quieter(o.Logger), SessionTimeout: o.IdleTimeout, MaxRequestBodyBytes: o.MaxMessage, DisableLocalhostProtection: true,
		EventStore: mcp.NewMemoryEventStore(nil),
	})
	h.stateless = mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{
		Stateless: true, Logger: quieter(o.Logger), MaxRequestBodyBytes: o.MaxMessage, DisableLocalhostProtection: true,
		PropagateRequestCancellation: true,
	})
	return h
}

// servedKey is where a request carries the session that it is for.
type servedKey struct{}

// serverOf is the SDK's server for a request.
func serverOf(r *http.Request) *mcp.Server {
	c, _ := r.Context().Value(servedKey{}).(*clientSession)
	if c == nil {
		return nil
	}
	return c.sdk
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.protection.Check(r); err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	name, err := sessionName(r.URL.Path)
	if err != nil {
		refuse(w, http.StatusNotFound, err)
		return
	}
	if r.Header.Get("Mcp-Protocol-Version") >= stateless {
		h.serveStateless(w, r, name)
		return
	}
	h.serveSessions(w, r, name) //nolint:contextcheck // a session outlives the request that begins it
}

// serveStateless serves a request that is of no session of the protocol's.
func (h *handler) serveStateless(w http.ResponseWriter, r *http.Request, name string) {
	c, err := h.shared(name)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err)
		return
	}
	if h.sameTask(w, r) && !h.listens(w, r, c) {
		h.stateless.ServeHTTP(w, carrying(r, c))
	}
}

// serveSessions serves a request of a session, or one that begins a session.
func (h *handler) serveSessions(w http.ResponseWriter, r *http.Request, name string) {
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		if r.Method == http.MethodDelete {
			h.leave(id)
		}
		h.sessions.ServeHTTP(w, carrying(r, spareSession))
		return
	}
	c, err := h.server.newSession(name, false)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err)
		return
	}
	h.mu.Lock()
	h.known[c.id] = c
	h.mu.Unlock()
	h.sessions.ServeHTTP(w, carrying(r, c))
	for ss := range c.sdk.Sessions() {
		go func() {
			_ = ss.Wait()
			h.forget(c)
		}()
		return
	}
	h.forget(c)
}

// leave ends what runs in a session whose client wants it closed: the SDK waits for its calls.
func (h *handler) leave(id string) {
	h.mu.Lock()
	c := h.known[id]
	h.mu.Unlock()
	if c != nil {
		c.leave()
	}
}

func (h *handler) forget(c *clientSession) {
	h.mu.Lock()
	delete(h.known, c.id)
	h.mu.Unlock()
	c.close()
}

// spareSession stands for the session of a request that names one: the SDK finds that itself,
// and wants a server only to know the revisions.
var spareSession = &clientSession{sdk: mcp.NewServer(&mcp.Implementation{}, nil)}

func carrying(r *http.Request, c *clientSession) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), servedKey{}, c))
}

// shared is the session of a name, which is made if there is none.
func (h *handler) shared(name string) (*clientSession, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.named[name]; c != nil {
		c.touch()
		return c, nil
	}
	c, err := h.server.newSession(name, false)
	if err != nil {
		return nil, err
	}
	h.named[name] = c
	if h.sweep == nil {
		h.sweep = time.AfterFunc(h.server.options.IdleTimeout, h.sweepIdle)
	}
	return c, nil
}

// sweepIdle closes sessions that nobody has used for a time.
func (h *handler) sweepIdle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for name, c := range h.named {
		if c.idle(now) {
			delete(h.named, name)
			go c.close()
		}
	}
	h.sweep = nil
	if len(h.named) > 0 {
		h.sweep = time.AfterFunc(h.server.options.IdleTimeout/2+time.Millisecond, h.sweepIdle)
	}
}

// maxName is how many characters the name of a session may have.
const maxName = 64

// sessionName is the name of a session in what follows the path that a handler is mounted at.
func sessionName(path string) (string, error) {
	name := strings.Trim(path, "/")
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	if len(name) > maxName || strings.ContainsFunc(name, odd) {
		return "", fmt.Errorf("%.100q names no session: a name has at most %d letters, digits, - and _", name, maxName)
	}
	return name, nil
}

// refuse answers what is no matter of the protocol.
func refuse(w http.ResponseWriter, status int, err error) {
	answer(w, status, nil, &jsonrpc.Error{Code: codeBusy, Message: err.Error()})
}

// answer answers a request with an error, without the SDK.
func answer(w http.ResponseWriter, status int, id json.RawMessage, err *jsonrpc.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // a client that is gone is not told
		"jsonrpc": "2.0", "id": id, "error": err,
	})
}
