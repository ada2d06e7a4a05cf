package egress

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"
)

// Options say which connections a [Dialer] opens, and how.
type Options struct {
	// Allow answers whether rules permit a connection; its error says why not, or is a
	// [*Refusal]. The host is as [permissions.HostOf] names it. It is asked for each
	// connection and each request, also concurrently. Nil permits every host; local
	// destinations must be named in any case.
	Allow func(ctx context.Context, host string, port int) error
	// Named reports whether a rule names that very host, or an address that a host
	// resolved to: only then it may be local. Nil names none.
	Named func(host string) bool
	// Configured are URLs of the settings. Host and port of each are named if the
	// spelling is local: localhost, a local address, a name below .internal and such, or
	// a name without a dot. A public name that resolves to a local address is not.
	Configured []string
	// Proxy is the proxy of HTTP to connect through, an http or https URL of host and
	// port. Nil connects directly.
	Proxy *url.URL

	// Resolve and Dial replace the system's, for tests and for embedders with a network
	// of their own.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// Logger is told of each refusal; nil discards that.
	Logger *slog.Logger
}

// connecting bounds the look-up of a host and the dialling of its addresses together, and
// a TLS handshake.
const connecting = 10 * time.Second

// Dialer opens connections that were judged. It is safe for concurrent use.
type Dialer struct {
	o Options
	// configured has the spelled-local host and port of each configured URL.
	configured map[place]bool
}

type place struct {
	host string
	port int
}

// New makes a dialer. A configured URL that names no host names nothing.
func New(o Options) *Dialer {
	if o.Allow == nil {
		o.Allow = func(context.Context, string, int) error { return nil }
	}
	if o.Named == nil {
		o.Named = func(string) bool { return false }
	}
	if o.Resolve == nil {
		o.Resolve = Resolve
	}
	if o.Dial == nil {
		dialer := net.Dialer{}
		o.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", to.String())
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Dialer{o: o, configured: make(map[place]bool)}
	for _, text := range o.Configured {
		if p, ok := spelledLocal(text); ok {
			d.configured[p] = true
		}
	}
	return d
}

// Resolve looks a name up as the system does.
func Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// Refusal is the error for a destination that may not be reached.
type Refusal struct {
	Host string // in printable characters
	Port int
	Why  string
	// Remedy says what would permit it; empty where nothing would.
	Remedy string
}

// Error says what was refused, why, and what would permit it.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("%s, port %d, was refused: %s.", r.Host, r.Port, r.Why)
	if r.Remedy != "" {
		text += "\n" + r.Remedy
	}
	return text
}
