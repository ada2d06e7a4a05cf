package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
)

const (
	// maxMessage bounds one message of a server, in bytes.
	maxMessage = 16 << 20
	// maxHost bounds what is shown of a host that a server names, in bytes.
	maxHost = 200
	// endTime is how long after its output a program may take to end, if it crashed.
	endTime = 5 * time.Second
	// closeTime is how long a server has to end by itself when its input ends.
	closeTime = time.Second
)

// connection is one session with a server.
type connection struct {
	server  *server
	session *mcp.ClientSession
	program *host.RunningProgram // nil for a server over HTTP
	stderr  *stderrLog

	once   sync.Once
	broken chan struct{} // closed when it cannot be used any more
	why    error

	listChanged chan struct{} // holds a token when the server says so
	listed      time.Time

	// The server's mutex guards the rest.
	used  bool // since that was last asked
	held  int  // by those that make requests, see [server.hold]
	calls map[string]*call
	next  int64
}

// fail takes the connection out of use.
func (c *connection) fail(why error) {
	c.once.Do(func() {
		c.why = why
		close(c.broken)
	})
}

// works reports whether there is a connection, which can be used.
func (c *connection) works() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.broken:
		return false
	default:
		return true
	}
}

// release ends one [server.hold].
func (c *connection) release() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.held--
	c.used = true
}

// connect starts or reaches the server, and agrees on a revision with it.
func (s *server) connect(ctx context.Context) (*connection, error) {
	c := &connection{server: s, broken: make(chan struct{}), listChanged: make(chan struct{}, 1), calls: make(map[string]*call)}
	transport, err := s.transport(ctx, c)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "toolquay", Version: cmp.Or(s.set.options.Version, "(devel)")}, c.options())
	client.AddRoots(c.roots()...)
	client.AddReceivingMiddleware(c.guard)
	s.oauth.Begin()
	if c.session, err = connectBefore(ctx, client, transport); err != nil {
		if !c.works() {
			err = c.why // what the SDK says comes of that
		}
		c.close()
		s.mu.Lock()
		s.heard(c)
		s.mu.Unlock()
		return nil, s.oauth.Explain(c.explain(err))
	}
	go func() {
		err := c.session.Wait()
		if err == nil {
			err = errEnded
		}
		c.fail(forgotten(c.explain(err)))
	}()
	return c, nil
}

// connectBefore connects before ctx ends: the SDK waits for what hangs.
func connectBefore(ctx context.Context, client *mcp.Client, t mcp.Transport) (*mcp.ClientSession, error) {
	type made struct {
		session *mcp.ClientSession
		err     error
	}
	came := make(chan made, 1)
	go func() {
		session, err := client.Connect(ctx, t, nil)
		came <- made{session, err}
	}()
	select {
	case m := <-came:
		return m.session, m.err
	case <-ctx.Done():
		go func() {
			if m := <-came; m.err == nil {
				_ = m.session.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// explain adds to an error how a program ended, and what it said last.
func (c *connection) explain(err error) error {
	if c.program == nil {
		return visible.WithoutQuery(c.server.config.URL, err)
	}
	if !c.ended() { // it goes on, and only its output has ended
		return err
	}
	err = fmt.Errorf("%w; %s", err, c.program.Status())
	if said := strings.TrimSpace(c.stderr.tail()); said != "" {
		err = fmt.Errorf("%w; its last words: %.*s", err, maxLine, said[strings.LastIndexByte(said, '\n')+1:])
	}
	return err
}

// ended waits until the program has ended, and all that it said was read, and reports false if
// that takes too long.
func (c *connection) ended() bool {
	late := time.After(endTime)
	for _, end := range []<-chan struct{}{c.program.Done(), c.stderr.over} {
		select {
		case <-end:
		case <-late:
			return false
		}
	}
	return true
}

// close ends the session, and the program with all that it started.
func (c *connection) close() {
	c.fail(errEnded)
	if c.session != nil {
		go func() { _ = c.session.Close() }() // a server over HTTP is told so, if it listens
	}
	if c.program == nil {
		return
	}
	c.program.Stop(closeTime)
	<-c.program.Done()
	c.ended() // so that its last words are in the status
}

func (s *server) transport(ctx context.Context, c *connection) (mcp.Transport, error) {
	if s.config.URL != "" {
		return s.streamable(c)
	}
	return s.start(ctx, c)
}

// streamable is the transport to a server over HTTP.
func (s *server) streamable(c *connection) (mcp.Transport, error) {
	base, err := url.Parse(s.config.URL)
	if err != nil {
		return nil, errors.New("its url cannot be parsed")
	}
	client := s.httpClient()
	client.Transport = &bounded{next: client.Transport, origin: base, headers: s.config.Headers, alone: s.config.SSE, fail: c.fail}
	if s.config.SSE {
		return &sseTransport{mcp.SSEClientTransport{Endpoint: s.config.URL, HTTPClient: client, MaxEventSize: maxMessage}, s.ctx}, nil
	}
	handler, err := s.authorizer()
	if err != nil {
		return nil, err
	}
	return &mcp.StreamableClientTransport{Endpoint: s.config.URL, HTTPClient: client, MaxEventSize: maxMessage, OAuthHandler: handler}, nil
}

// httpClient makes the client for all requests that concern the server.
func (s *server) httpClient() *http.Client {
	return outgoing(s.set.host, &s.config, s.set.options.Proxy)
}

// bounded adds the configured headers to requests to the configured origin, and bounds answers
// that are no streams.
type bounded struct {
	next    http.RoundTripper
	origin  *url.URL
	headers map[string]string
	// alone has no messages sent to another origin, which a server by the older transport may name.
	alone bool
	// fail is told why nothing more can be sent.
	fail func(error)
}

// RoundTrip makes a request.
func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	home := r.URL.Scheme == b.origin.Scheme && strings.EqualFold(r.URL.Host, b.origin.Host)
	if b.alone && !home && r.Method == http.MethodPost {
		_ = r.Body.Close()
		err := fmt.Errorf("it wants messages to be sent to %s, which is another origin", visible.Short(r.URL.Host, maxHost))
		b.fail(err)
		return nil, err
	}
	if home && len(b.headers) > 0 {
		r = r.Clone(r.Context())
		for name, value := range b.headers {
			r.Header.Set(name, value)
		}
	}
	answer, err := b.next.RoundTrip(r)
	if err == nil && !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		answer.Body = &limited{answer.Body, maxMessage}
	}
	return answer, err
}

// limited fails where a body is longer than it may be.
type limited struct {
	io.ReadCloser
	left int64
}

// Read reads the body.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("the answer has more than %d MiB", maxMessage>>20)
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
