package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/internal/egress"
)

// maxHeader bounds the header of a request and of an answer.
const maxHeader = 64 << 10

func (s *server) httpServer(ctx context.Context) *http.Server {
	handle := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			s.connect(ctx, w, r)
			return
		}
		s.forward(w, r)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Server{
		Handler:           http.HandlerFunc(handle),
		Protocols:         protocols,
		ReadHeaderTimeout: greeting,
		IdleTimeout:       min(s.Idle, time.Minute),
		MaxHeaderBytes:    maxHeader,

		DisableGeneralOptionsHandler: true,

		ConnState:   s.count,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
	}
}

// count keeps account of the HTTP server's goroutines, for which it does not wait.
// Those of hijacked connections count until their tunnel ends.
func (s *server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.running.Add(1)
	case http.StateClosed:
		s.running.Done()
	case http.StateActive, http.StateIdle, http.StateHijacked:
	}
}

// connect answers CONNECT with a tunnel. A Host header beside it means nothing: the
// server puts the tunnel's host in its place. The context is the proxy's: a
// request's own ends when the client has said all it has to say, which may be
// before the answer.
func (s *server) connect(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	host, port, err := net.SplitHostPort(r.Host)
	number, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || r.URL.User != nil {
		http.Error(w, "CONNECT takes a host and a port.", http.StatusBadRequest)
		return
	}
	up, name, err := s.reach(ctx, host, int(number))
	if err != nil {
		fail(w, err)
		return
	}
	defer up.Close()
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fail(w, err)
		return
	}
	defer s.running.Done()
	defer down.Close()
	_ = down.SetDeadline(time.Time{})
	if _, err := down.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		return
	}
	early, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	s.tunnel(down, early, up, name, int(number))
}

// forward answers a request for an http URL. Nothing is kept open between requests,
// so that each is judged and its address checked.
func (s *server) forward(w http.ResponseWriter, r *http.Request) {
	switch {
	case !r.URL.IsAbs() || r.URL.Host == "":
		http.Error(w, "This is a proxy: it takes CONNECT, and requests for whole URLs.", http.StatusBadRequest)
		return
	case r.URL.Scheme != "http":
		http.Error(w, "This proxy forwards http URLs; others take CONNECT.", http.StatusBadRequest)
		return
	case r.URL.User != nil:
		no := &egress.Refusal{Host: egress.Printable(r.URL.Host), Port: portOf(r), Why: "there is user information before the host"}
		s.deny(no)
		fail(w, no)
		return
	}
	up, _, err := s.reach(r.Context(), r.URL.Hostname(), portOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	defer up.Close()
	// What asks for another protocol would leave the HTTP server's care.
	r.Header.Del("Upgrade")
	s.forwarder(up).ServeHTTP(w, r)
}

// forwarder sends one request over the connection that was opened for it.
func (s *server) forwarder(up net.Conn) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		// With Rewrite, unlike Director, nothing is added that says who asked. It is
		// not for the proxy to mend a query that it does not read.
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.RawQuery = r.In.URL.RawQuery },
		Transport: &http.Transport{
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeader,
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				return &patient{Conn: up, idle: s.Idle}, nil
			},
		},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) },
	}
}

// portOf is the port that an http URL names; zero, which is refused, where it is
// none.
func portOf(r *http.Request) int {
	text := r.URL.Port()
	if text == "" && !strings.HasSuffix(r.URL.Host, ":") {
		return 80
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int(n)
}

// fail tells the command why it got no connection.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	if _, ok := errors.AsType[*egress.Refusal](err); ok {
		status = http.StatusForbidden
	}
	http.Error(w, err.Error(), status)
}
