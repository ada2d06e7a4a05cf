package serve

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"
)

// Mount returns the handler that answers the requests of a token. It is called once for each
// token, with its first request, and again if it failed. A handler that has a method
// Close(context.Context) error is closed when the token or the server ends; its requests have
// been cancelled by then, and may still be returning.
type Mount func(*Token) (http.Handler, error)

// closer is a handler that is told of the end.
type closer interface {
	Close(ctx context.Context) error
}

// Options configure a [Server].
type Options struct {
	// Mounts are what is served, by path: "/mcp" stands for itself and all below it. The
	// longest path counts. "/healthz" is the server's own.
	Mounts map[string]Mount

	// TokenFile holds the tokens that clients may carry; see [Token]. It is followed: what
	// changes there counts at once, and while it cannot be used nobody is let in.
	TokenFile string
	// CheckToken, if not nil, refuses tokens of the file, with an error about them.
	CheckToken func(*Token) error
	// NoToken lets in everybody who reaches the server, which must listen on the loopback.
	// Either it or TokenFile must be set.
	NoToken bool

	// CertFile and KeyFile are a certificate (with its chain) and its key, PEM encoded, for TLS.
	// They are read anew when they change.
	CertFile, KeyFile string
	// InsecureHTTP allows to listen elsewhere than on the loopback without TLS.
	InsecureHTTP bool

	// Hosts are further names, without port, by which clients reach the server.
	Hosts []string
	// Origins are the origins of web pages that may use the server, such as
	// "https://app.example.com".
	Origins []string

	Limits Limits
	// Logger takes what an operator should know; nil discards it.
	Logger *slog.Logger
}

// Limits bound what clients can make the server hold. A field that is zero has its default.
type Limits struct {
	// Body is the largest body of a request, in bytes: 8 MiB.
	Body int64
	// Header is the largest header of a request, in bytes: 64 KiB.
	Header int
	// HeaderTime is how long a client may take to send a header: 10 seconds.
	HeaderTime time.Duration
	// BodyTime is how long a client may take to send a body: one minute.
	BodyTime time.Duration
	// WriteTime is how long a client may take to read 64 KiB: 30 seconds.
	WriteTime time.Duration
	// Idle is how long a connection is kept without a request: two minutes.
	Idle time.Duration
	// Connections is how many there may be at once; further ones wait: 2048.
	Connections int
	// Requests is how many a token may have under way at once, streams included: 1024.
	Requests int
	// Grace is how long requests may go on when the server ends: 5 seconds.
	Grace time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Body:        cmp.Or(l.Body, 8<<20),
		Header:      cmp.Or(l.Header, 64<<10),
		HeaderTime:  cmp.Or(l.HeaderTime, 10*time.Second),
		BodyTime:    cmp.Or(l.BodyTime, time.Minute),
		WriteTime:   cmp.Or(l.WriteTime, 30*time.Second),
		Idle:        cmp.Or(l.Idle, 2*time.Minute),
		Connections: cmp.Or(l.Connections, 2048),
		Requests:    cmp.Or(l.Requests, 1024),
		Grace:       cmp.Or(l.Grace, 5*time.Second),
	}
}
