package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/host/internal/egress"
	"github.com/toolquay/toolquay/internal/relay"
)

// web is a server that every public address of a test leads to, and what it was asked.
type web struct {
	server *httptest.Server
	mu     sync.Mutex
	asked  []*http.Request
}

// newWeb redirects /?to=URL&status=NUMBER, redirects /loop to itself, and answers all else.
func newWeb(t *testing.T) *web {
	t.Helper()
	w := &web{}
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.asked = append(w.asked, r)
		w.mu.Unlock()
		to := r.URL.Query().Get("to")
		if r.URL.Path == "/loop" {
			to = "/loop"
		}
		if to != "" {
			status := http.StatusFound
			_, _ = fmt.Sscan(r.URL.Query().Get("status"), &status)
			rw.Header().Set("Location", to)
			rw.WriteHeader(status)
			return
		}
		rw.Header().Set("Set-Cookie", "a=b")
		fmt.Fprintf(rw, "%s", r.Host)
	}))
	t.Cleanup(w.server.Close)
	return w
}

func (w *web) last() *http.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked[len(w.asked)-1]
}

// options lead every public name and address to the server.
func (w *web) options() egress.Options {
	return egress.Options{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", w.server.Listener.Addr().String())
		},
	}
}

func redirect(from, to string, status int) string {
	return from + "/?status=" + strconv.Itoa(status) + "&to=" + url.QueryEscape(to)
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, url, method, want string
	}{
		{"to another host", redirect("http://a.example", "http://b.example/", 302), "GET", ""},
		{"to this machine", redirect("http://a.example", "http://127.0.0.1/", 302), "GET", "this machine"},
		{"to an odd spelling", redirect("http://a.example", "http://0x7f.1/", 302), "GET", "another form"},
		{"to a user", redirect("http://a.example", "http://u:p@b.example/", 302), "GET", "user information"},
		{"to metadata, in two steps", redirect("http://a.example", redirect("http://b.example", "http://169.254.169.254/", 301), 302), "GET", "this machine"},
		{"to another scheme", redirect("http://a.example", "gopher://b.example/", 302), "GET", "not http or https"},
		{"to a file", redirect("http://a.example", "file:///etc/passwd", 302), "GET", "not http or https"},
		{"without end", "http://a.example/loop", "GET", "more than 10 redirects"},
		{"of a body within its origin", redirect("http://a.example", "http://a.example/next", 307), "POST", ""},
		{"of a body elsewhere", redirect("http://a.example", "http://b.example/", 307), "POST", "a request with a body"},
		{"of a body to another port", redirect("http://a.example", "http://a.example:81/", 308), "POST", "a request with a body"},
		{"of a body that is dropped", redirect("http://a.example", "http://b.example/", 303), "POST", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t)
			err := do(t, egress.New(w.options()).Client(), tt.method, tt.url)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if r := w.last(); strings.Contains(r.Host, "127.") || strings.Contains(r.Host, "169.") {
				t.Errorf("%s was asked", r.Host)
			}
		})
	}
}

// do makes a request with secrets in its headers and, for POST, in its body.
func do(t *testing.T, c *http.Client, method, to string) error {
	t.Helper()
	body := ""
	if method == http.MethodPost {
		body = "secret"
	}
	r, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("X-Api-Key", "secret")
	r.Header.Set("Accept", "text/plain")
	answer, err := c.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.ReadAll(answer.Body)
	return err
}

// Headers do not follow a redirect to another origin, not even to a sub-domain, another
// port, or by way of one back to where they belong.
func TestHeadersStayWithTheirOrigin(t *testing.T) {
	t.Parallel()
	for to, kept := range map[string]bool{
		"http://a.example/next": true,
		"http://b.example/":     false,
		"http://sub.a.example/": false,
		"http://a.example:81/":  false,
		redirect("http://b.example", "http://a.example/back", 302): false,
	} {
		w := newWeb(t)
		if err := do(t, egress.New(w.options()).Client(), http.MethodGet, redirect("http://a.example", to, 302)); err != nil {
			t.Errorf("%s: %v", to, err)
		}
		h := w.last().Header
		if (h.Get("Authorization") != "") != kept || (h.Get("X-Api-Key") != "") != kept || h.Get("Accept") == "" || !kept && h.Get("Referer") != "" {
			t.Errorf("%s got %v", to, h)
		}
	}
}

// https may not be left by a redirect. TLS is not needed to see that: the check is the
// client's own.
func TestRedirectFromHTTPS(t *testing.T) {
	t.Parallel()
	check := egress.New(egress.Options{}).Client().CheckRedirect
	request := func(text string) *http.Request {
		return httptest.NewRequestWithContext(t.Context(), http.MethodGet, text, http.NoBody)
	}
	for to, ok := range map[string]bool{"https://b.example/": true, "http://a.example/": false, "http://localhost/": false} {
		if err := check(request(to), []*http.Request{request("https://a.example/")}); (err == nil) != ok {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// A configured URL with a local spelling names its host and port for nothing else.
func TestConfigured(t *testing.T) {
	t.Parallel()
	private := netip.MustParseAddr("10.0.0.1")
	for _, tt := range []struct {
		configured, host string
		port             int
		ok               bool
	}{
		{"http://localhost:8080/mcp", "localhost", 8080, true},
		{"http://localhost:8080/mcp", "LOCALHOST.", 8080, true},
		{"http://localhost:8080/mcp", "localhost", 8081, false},
		{"http://localhost:8080/mcp", "127.0.0.1", 8080, false},
		{"http://127.0.0.1:8080", "127.0.0.1", 8080, true},
		{"http://127.0.0.1:8080", "public.example", 8080, false}, // which resolves to a private address
		{"http://10.0.0.1", "public.example", 80, false},         // even to that one
		{"https://10.0.0.1", "10.0.0.1", 443, true},
		{"https://[fd00::1]", "fd00::1", 443, true},
		{"https://db.corp.internal/x", "db.corp.internal", 443, true},
		{"http://collector:4318", "collector", 4318, true},
		{"https://public.example", "public.example", 443, false},
		{"https://user@localhost", "localhost", 443, true}, // judged by host and port alone
		{"http://0x7f.1", "127.0.0.1", 80, false},
		{"ftp://localhost", "localhost", 21, false},
		{"%", "localhost", 80, false},
	} {
		n := &network{resolves: []netip.Addr{private}}
		o := n.options()
		o.Configured = []string{tt.configured}
		_, _, err := egress.New(o).Admit(t.Context(), tt.host, tt.port)
		if (err == nil) != tt.ok {
			t.Errorf("%s names %s:%d: %v", tt.configured, tt.host, tt.port, err)
		}
	}
}

// Rules are asked before a look-up, and a rule may name a local host or an address.
func TestRules(t *testing.T) {
	t.Parallel()
	n := &network{resolves: []netip.Addr{netip.MustParseAddr("10.0.0.1")}}
	var log strings.Builder
	o := n.options()
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	o.Allow = func(_ context.Context, host string, port int) error {
		if host == "denied.example" || port == 25 {
			return errors.New("a rule denies it")
		}
		return nil
	}
	o.Named = func(host string) bool {
		return slices.Contains([]string{"dev.example", "192.168.1.1", "localhost"}, host)
	}
	d := egress.New(o)
	for host, want := range map[string]string{
		"denied.example": "a rule denies it", "dev.example": "", "other.example": "private network", "localhost": "", "192.168.1.1": "", "192.168.1.2": "this machine",
	} {
		name, addrs, err := d.Admit(t.Context(), host, 443)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && (name != host || len(addrs) != 1) {
			t.Errorf("%s: %q, %v, %v", host, name, addrs, err)
		}
		if err != nil && !strings.Contains(log.String(), "host="+host) {
			t.Errorf("the log does not tell of %s", host)
		}
	}
	if slices.Contains(n.lookups, "denied.example") {
		t.Error("looked up before the rules were asked")
	}
}

// proxyTo is an HTTP proxy that leads every tunnel to one server.
func proxyTo(t *testing.T, origin string, asked chan<- *http.Request) *url.URL {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked <- r
		if strings.HasPrefix(r.Host, "refused.") {
			http.Error(rw, "no", http.StatusForbidden)
			return
		}
		up, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", origin)
		if err != nil {
			t.Error(err)
			return
		}
		defer up.Close()
		down, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer down.Close()
		_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, down); _ = relay.CloseWrite(up) }()
		_, _ = io.Copy(down, up)
	}))
	t.Cleanup(s.Close)
	return &url.URL{Scheme: "http", Host: s.Listener.Addr().String()}
}

// Through a proxy the name is judged, and CONNECT names what was judged.
func TestProxy(t *testing.T) {
	t.Parallel()
	w := newWeb(t)
	asked := make(chan *http.Request, 10)
	o := egress.Options{Proxy: proxyTo(t, w.server.Listener.Addr().String(), asked), Configured: []string{w.server.URL}}
	o.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) {
		return nil, fmt.Errorf("%s was looked up", host)
	}
	client := egress.New(o).Client()
	defer client.CloseIdleConnections()
	if err := do(t, client, http.MethodGet, "http://Site.EXAMPLE.:8080/x"); err != nil {
		t.Fatal(err)
	}
	if r := <-asked; r.Method != http.MethodConnect || r.Host != "site.example:8080" || r.Header.Get("Authorization") != "" {
		t.Errorf("the proxy was asked %s %s, %v", r.Method, r.Host, r.Header)
	}
	if err := do(t, client, http.MethodGet, "http://refused.example/"); err == nil || !strings.Contains(err.Error(), "did not connect to refused.example") {
		t.Error(err)
	}
	<-asked
	for _, to := range []string{"http://127.0.0.1:1/", "http://10.0.0.1/", "http://metadata.google.internal/", "http://0x7f.1/"} {
		var no *egress.Refusal
		if err := do(t, client, http.MethodGet, to); !errors.As(err, &no) {
			t.Errorf("%s: %v", to, err)
		}
	}
	if err := do(t, client, http.MethodGet, w.server.URL); err != nil { // local, and so not by the proxy
		t.Error(err)
	}
	if len(asked) != 0 {
		t.Errorf("the proxy was asked %s", (<-asked).Host)
	}
}

// Nothing of the environment, of earlier answers or of a URL goes along.
func TestNoCredentials(t *testing.T) {
	w := newWeb(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	client := egress.New(w.options()).Client()
	for range 2 {
		answer, err := get(t.Context(), client, "http://a.example/")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	if h := w.last().Header; len(h) > 1 || h.Get("User-Agent") == "" {
		t.Errorf("sent %v", h)
	}
	if err := do(t, client, http.MethodGet, "http://u:secret@a.example/"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// The header of an answer is bounded.
func TestHeaderIsBounded(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
			_ = c.Close()
		}
	}()
	client := egress.New(egress.Options{Configured: []string{"http://" + ln.Addr().String()}}).Client()
	if err := do(t, client, http.MethodGet, "http://"+ln.Addr().String()); err == nil || !strings.Contains(err.Error(), "header") {
		t.Error(err)
	}
}
