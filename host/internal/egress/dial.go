package egress

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// Dial opens a connection to a destination that may be reached, within ten seconds; name
// is the host as it was judged. The error is a [*Refusal] where it may not.
func (d *Dialer) Dial(ctx context.Context, host string, port int) (conn net.Conn, name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, connecting)
	defer cancel()
	if d.o.Proxy != nil {
		name, local, err := d.judge(ctx, host, port)
		if err != nil {
			return nil, "", err
		}
		if !local && !d.configured[place{name, port}] {
			conn, err = d.tunnel(ctx, name, port)
			return conn, name, err
		}
	}
	name, addrs, err := d.Admit(ctx, host, port)
	if err != nil {
		return nil, "", err
	}
	conn, err = d.dialAny(ctx, addrs, port)
	if err != nil {
		return nil, "", fmt.Errorf("%s, port %d, could not be reached: %w", name, port, err)
	}
	return conn, name, nil
}

// dialAny tries the addresses in turn, at most 8 of them. Each gets a fair part of the
// time that is left.
func (d *Dialer) dialAny(ctx context.Context, addrs []netip.Addr, port int) (net.Conn, error) {
	const most = 8
	var errs []error
	addrs = addrs[:min(len(addrs), most)]
	for i, a := range addrs {
		conn, err := d.dialOne(ctx, netip.AddrPortFrom(a, uint16(port)), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (d *Dialer) dialOne(ctx context.Context, to netip.AddrPort, left int) (net.Conn, error) {
	const least = 2 * time.Second
	limit := connecting
	if end, ok := ctx.Deadline(); ok {
		limit = time.Until(end)
	}
	ctx, cancel := context.WithTimeout(ctx, max(limit/time.Duration(left), least))
	defer cancel()
	return d.o.Dial(ctx, to)
}

// tunnel opens a connection through the proxy. The proxy itself is the operator's: its
// address is not judged.
func (d *Dialer) tunnel(ctx context.Context, name string, port int) (net.Conn, error) {
	proxy := d.o.Proxy.Hostname()
	addrs, err := d.lookUp(ctx, proxy)
	if err != nil {
		return nil, fmt.Errorf("the proxy %w", err)
	}
	conn, err := d.dialAny(ctx, addrs, portOf(d.o.Proxy))
	if err != nil {
		return nil, fmt.Errorf("the proxy %s could not be reached: %w", d.o.Proxy.Host, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	tunnelled, err := d.connect(ctx, conn, net.JoinHostPort(name, strconv.Itoa(port)))
	if !stop() {
		err = cmp.Or(err, ctx.Err())
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the proxy %s did not connect to %s, port %d: %w", d.o.Proxy.Host, name, port, err)
	}
	return tunnelled, nil
}

// connect asks the proxy for a tunnel.
func (d *Dialer) connect(ctx context.Context, conn net.Conn, target string) (net.Conn, error) {
	if d.o.Proxy.Scheme == "https" {
		secure := tls.Client(conn, &tls.Config{ServerName: d.o.Proxy.Hostname(), MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = secure
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: make(http.Header)}
	if err := ask.Write(conn); err != nil {
		return nil, err
	}
	// More than the header would be the other end's first words, which no HTTP server says.
	r := bufio.NewReader(io.LimitReader(conn, maxHeader))
	answer, err := http.ReadResponse(r, ask)
	switch {
	case err != nil:
		return nil, err
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	case r.Buffered() > 0:
		return nil, errors.New("it sent more than an answer")
	}
	return conn, nil
}
