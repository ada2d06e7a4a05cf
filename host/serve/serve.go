package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/filewatch"
)

// Server answers requests by the handlers of the tokens that they carry. It is made by [New]
// and serves once.
type Server struct {
	options Options
	guard   *guard
	cert    *certificate // nil without TLS
	known   principals
	refused sometimes
	// reloading orders the readings of the files.
	reloading sync.Mutex

	// streams ends the requests that wait for news, and all ends every request.
	// A stream is what GET asks for.
	streams, all ending
	// closing are the handlers that are being closed.
	closing sync.WaitGroup
}

// ending is a context that the server ends.
type ending struct {
	context.Context
	cancel context.CancelCauseFunc
}

func newEnding() ending {
	ctx, cancel := context.WithCancelCause(context.Background())
	return ending{ctx, cancel}
}

// errEnding is why requests end with the server.
var errEnding = errors.New("the server ends")

// New makes a server, and reads its files. The error is one of the options or of these files.
func New(o Options) (*Server, error) {
	o.Limits = o.Limits.withDefaults()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	for path := range o.Mounts {
		if !strings.HasPrefix(path, "/") || path != "/" && strings.HasSuffix(path, "/") || path == healthPath {
			return nil, fmt.Errorf("mount point %q: write a path such as /mcp", path)
		}
	}
	s := &Server{options: o, known: principals{requests: o.Limits.Requests}, streams: newEnding(), all: newEnding()}
	var err error
	if s.guard, err = newGuard(o); err != nil {
		return nil, err
	}
	if s.cert, err = openCertificate(o); err != nil {
		return nil, err
	}
	tokens := []*Token{anonymous}
	switch {
	case o.NoToken == (o.TokenFile != ""):
		return nil, errors.New("name a file of tokens, or say that no token is needed")
	case !o.NoToken:
		if tokens, err = loadTokens(o.TokenFile, o.CheckToken); err != nil {
			return nil, err
		}
	}
	s.known.set(tokens, nil)
	return s, nil
}

// URL is where clients reach a server that listens at an address.
func (s *Server) URL(at net.Addr) string {
	if s.cert != nil {
		return "https://" + at.String()
	}
	return "http://" + at.String()
}

// CheckAddress refuses to serve strangers without a token, or tokens in the clear. [Server.Serve] calls it
// too.
func (s *Server) CheckAddress(at net.Addr) error {
	tcp, ok := at.(*net.TCPAddr)
	switch {
	case ok && tcp.IP.IsLoopback():
		return nil
	case s.options.NoToken:
		return fmt.Errorf("%s can be reached from other machines, so clients need tokens: name a file of tokens, or listen at 127.0.0.1", at)
	case s.cert == nil && !s.options.InsecureHTTP:
		return fmt.Errorf("%s can be reached from other machines, and tokens would be sent in the clear: give a certificate and its key, or allow HTTP without TLS", at)
	}
	return nil
}

// Serve answers requests that come to a listener, until ctx ends. Then it takes no new ones,
// ends streams, lets other requests go on for [Limits].Grace and cancels them. It closes the
// listener and all handlers, and returns nil, or why it could not listen.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if err := s.CheckAddress(l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	limits := s.options.Limits
	server := &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		ReadHeaderTimeout: limits.HeaderTime,
		IdleTimeout:       limits.Idle,
		MaxHeaderBytes:    limits.Header,
		ErrorLog:          slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug),
		Protocols:         new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	l = newBounded(l, limits)
	if s.cert != nil {
		l = tls.NewListener(l, s.cert.config())
	}
	unfollow := s.follow(ctx)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	unfollow()
	s.end(server) //nolint:contextcheck // ctx has ended
	return err
}

// follow takes up changes of the server's files until its result is called.
func (s *Server) follow(ctx context.Context) (end func()) {
	var watchers []*filewatch.Watcher
	if s.options.TokenFile != "" {
		watchers = append(watchers, filewatch.Watch(ctx, filewatch.Fixed(s.options.TokenFile), s.reload))
	}
	if s.cert != nil {
		watchers = append(watchers, filewatch.Watch(ctx, filewatch.Fixed(s.cert.certFile, s.cert.keyFile), s.reload))
	}
	s.reload() //nolint:contextcheck // closing what is revoked outlasts ctx; this takes up what changed since New
	return func() {
		for _, w := range watchers {
			w.Close()
		}
	}
}

// reload reads the server's files anew.
func (s *Server) reload() {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	if s.options.TokenFile != "" {
		s.reloadTokens()
	}
	if s.cert != nil {
		s.cert.reload()
	}
}

func (s *Server) reloadTokens() {
	tokens, err := loadTokens(s.options.TokenFile, s.options.CheckToken)
	if err != nil {
		s.options.Logger.Error("the file of tokens cannot be used; nobody is let in until it can", "error", err)
	}
	for _, p := range s.known.set(tokens, err) {
		s.options.Logger.Info("a token was revoked or changed; its requests end", "token", p.token.Name)
		s.closing.Go(func() { s.close(p, errRevoked) })
	}
}

func (s *Server) close(p *principal, cause error) {
	if err := p.close(cause); err != nil {
		s.options.Logger.Warn("closing the handlers of a token", "token", p.token.Name, "error", err)
	}
}

// cancelTime is how long requests that were cancelled get to answer.
const cancelTime = 2 * time.Second

// end ends what the server does, in the order in which it is asked to be ready.
func (s *Server) end(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Limits.Grace)
	defer cancel()
	s.streams.cancel(errEnding)
	if server.Shutdown(ctx) != nil {
		s.all.cancel(errEnding)
		soon, cancel := context.WithTimeout(context.Background(), cancelTime)
		defer cancel()
		if err := server.Shutdown(soon); err != nil {
			s.options.Logger.Warn("requests did not end; their connections are closed", "error", errors.Join(err, server.Close()))
		}
	}
	for _, p := range s.known.set(nil, nil) {
		s.closing.Go(func() { s.close(p, errEnding) })
	}
	s.closing.Wait()
}
