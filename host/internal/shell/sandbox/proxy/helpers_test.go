package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox/proxy"
	"github.com/toolquay/toolquay/internal/testenv"
)

// public is an address that no rule has to name, where the tests' hosts are said to
// be.
var public = netip.MustParseAddr("93.184.215.14")

// world stands for the network: what names resolve to, and who answers where.
type world struct {
	names map[string][]netip.Addr
	// origin is the server on loopback that every address leads to.
	origin string

	mu      sync.Mutex
	asked   []string
	lookups []string
	dialled []string
	denied  []string
}

func (w *world) note(list *[]string, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(*list, what)
}

func (w *world) list(list *[]string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(*list)
}

func (w *world) options(allowed ...string) proxy.Options {
	return proxy.Options{
		Allow: func(_ context.Context, host string, port int) error {
			w.note(&w.asked, net.JoinHostPort(host, strconv.Itoa(port)))
			if !slices.Contains(allowed, host) && !slices.Contains(allowed, "*") {
				return errors.New("no rule allows it")
			}
			return nil
		},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			w.note(&w.lookups, host)
			addrs, ok := w.names[host]
			if !ok {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			return addrs, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			w.note(&w.dialled, to.String())
			var d net.Dialer
			return d.DialContext(ctx, "tcp", w.origin)
		},
		Denied: func(host string, port int, why string) {
			w.note(&w.denied, fmt.Sprintf("%s %d %s", host, port, why))
		},
	}
}

// serve starts a proxy and returns its socket, and what ends it and waits.
func serve(t *testing.T, o proxy.Options) (socket string, end func()) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "p")
	ln, err := proxy.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- proxy.Serve(ctx, ln, o) }()
	end = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Serve returned %v", err)
			}
		case <-time.After(testenv.Patience):
			t.Error("Serve does not return")
		}
	})
	t.Cleanup(end)
	return socket, end
}

func connect(t *testing.T, socket string) *net.UnixConn {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testenv.Patience))
	return conn.(*net.UnixConn)
}

// webClient is a client that was told of the proxy, as programs are by variables.
func webClient(t *testing.T, socket string) *http.Client {
	t.Helper()
	tr := &http.Transport{
		Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.invalid:1"}),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: testenv.Patience}
}

// echo is a server that sends back what it gets, until the other side is done.
func echo(t *testing.T) string {
	t.Helper()
	return server(t, func(c net.Conn) { _, _ = io.Copy(c, c) })
}

func server(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return ln.Addr().String()
}

// tunnel asks for one by CONNECT and returns the answer.
func tunnel(t *testing.T, conn net.Conn, target string) (*http.Response, *bufio.Reader) {
	t.Helper()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	r := bufio.NewReader(conn)
	answer, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatalf("CONNECT %s: %v", target, err)
	}
	return answer, r
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
