package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// Options configure a [Server]. Zero values stand for the defaults.
type Options struct {
	// Info names the server to clients. It is required.
	Info *mcp.Implementation
	// Instructions are for the model of a client; empty is none.
	Instructions string
	// Open makes the session in which a client's calls run, when the client first needs it. The
	// server closes it. It is required.
	Open func(ctx context.Context, c Client) (*host.Session, error)
	// Configure, if not nil, adds to what the SDK's server of one client is made with, such as a
	// handler of completions, before Extend.
	Configure func(*mcp.ServerOptions)
	// Extend, if not nil, adds what the embedder offers beside the tools of the host, such as
	// prompts, to what one client sees.
	Extend func(*mcp.Server)
	// Context, if not nil, adds to the context of a call what the _meta of its request says, such
	// as the trace that it belongs to.
	Context func(ctx context.Context, meta map[string]any) context.Context
	// AnswerTimeout is how long a client of the revision 2026-07-28 may take to come back with
	// the input that a call requires; after that the question counts as not answered.
	// The default is 5 minutes.
	AnswerTimeout time.Duration
	// IdleTimeout is how long a session over HTTP lives without a request; the default is 30
	// minutes. The background tasks of a session end with it.
	IdleTimeout time.Duration
	// MaxSessions is how many sessions there may be at once; the default is 64.
	MaxSessions int
	// MaxCalls is how many calls of one session may be under way at once, waiting ones
	// included; the default is 256.
	MaxCalls int
	// MaxMessage is the longest message that is read over HTTP, in bytes; the default is 8 MiB.
	MaxMessage int64
	// Tasks say which calls become tasks.
	Tasks TaskOptions
	// Logger takes what an operator should know; nil discards it.
	Logger *slog.Logger
}

// The defaults of [Options].
const (
	DefaultAnswerTimeout = 5 * time.Minute
	DefaultIdleTimeout   = 30 * time.Minute
	DefaultMaxSessions   = 64
	DefaultMaxCalls      = 256
	DefaultMaxMessage    = 8 << 20
)

// Client is who a session is opened for.
type Client struct {
	// Name and Version are what the client calls itself: a claim, for logs.
	Name, Version string
	// Revision is the revision of the protocol, such as "2025-11-25".
	Revision string
	// Session is the name that the client gave the session by its URL, or empty.
	Session string
	// Roots are the directories that the client offers to work in, absolute. They are a claim
	// too: Open decides which of them count.
	Roots []string
	// Mode is the mode that the client wishes for, or empty. Open decides whether it may. Later
	// requests that wish for another one are refused.
	Mode permissions.Mode
	// Asker asks the person through the client. It is for the session's options.
	Asker host.Asker
}

// Server serves the tools of a host to the clients of one principal. It is safe for
// concurrent use.
type Server struct {
	options Options
	key     [32]byte // of what clients hand back
	http    *handler
	ids     atomic.Int64 // of calls: no two of one server have the same

	mu       sync.Mutex
	closed   bool
	sessions map[*clientSession]struct{}
}

var errClosed = errors.New("the server is closed")

// New makes a server.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	setDefault(&o.AnswerTimeout, DefaultAnswerTimeout)
	setDefault(&o.IdleTimeout, DefaultIdleTimeout)
	setDefault(&o.MaxSessions, DefaultMaxSessions)
	setDefault(&o.MaxCalls, DefaultMaxCalls)
	setDefault(&o.MaxMessage, DefaultMaxMessage)
	o.Tasks.setDefaults()
	s := &Server{options: o, sessions: make(map[*clientSession]struct{})}
	_, _ = rand.Read(s.key[:]) // it cannot fail
	s.http = newHandler(s)
	return s
}

func setDefault[T int | int64 | time.Duration](v *T, to T) {
	if *v <= 0 {
		*v = to
	}
}

// Serve serves one client over a pipe until it leaves or ctx ends, in a session of its own.
func (s *Server) Serve(ctx context.Context, t mcp.Transport) error {
	c, err := s.newSession("", true)
	if err != nil {
		return err
	}
	defer c.close()                       //nolint:contextcheck // ctx may be over by then
	defer context.AfterFunc(ctx, c.end)() // before the connection ends, the SDK waits for its calls
	return c.sdk.Run(ctx, t)
}

// Observe tells the server what happens in the host: what is offered to clients follows it. It
// is for [host.ObserveOptions].Events.
func (s *Server) Observe(e host.Event) {
	if e.Kind != host.EventTools {
		return
	}
	for _, c := range s.all() {
		if session := c.current(); session != nil && (e.Session == "" || e.Session == session.ID()) {
			go c.refresh() // it takes its time
		}
	}
}

// Close ends all sessions, and their calls.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, c := range s.all() {
		all.Go(c.close)
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Server) all() []*clientSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*clientSession, 0, len(s.sessions))
	for c := range s.sessions {
		list = append(list, c)
	}
	return list
}
