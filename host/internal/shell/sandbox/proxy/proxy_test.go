package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/shell/sandbox/proxy"
	"github.com/toolquay/toolquay/internal/testenv"
)

func TestSocketIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.Permitted(t, testenv.Unix)
	}
	socket, _ := serve(t, proxy.Options{})
	info, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("the socket's mode is %o", got)
	}
}

func TestForwards(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s host=%s body=%s", r.Method, r.RequestURI, r.Host, text)
		for _, name := range []string{"Proxy-Authorization", "X-Forwarded-For", "Via", "Upgrade", "X-Kept"} {
			if v := r.Header.Get(name); v != "" {
				fmt.Fprintf(w, " %s=%s", name, v)
			}
		}
	}))
	defer origin.Close()
	w := &world{origin: origin.Listener.Addr().String(), names: map[string][]netip.Addr{"site.test": {public}}}
	socket, _ := serve(t, w.options("site.test"))

	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://Site.test.:8080/a;b?x=1;y=%zz", strings.NewReader("hello"))
	req.Header.Set("Proxy-Authorization", "Basic secret")
	req.Header.Set("Upgrade", "websocket")
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("X-Kept", "yes")
	answer, err := webClient(t, socket).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := body(t, answer), "POST /a;b?x=1;y=%zz host=Site.test.:8080 body=hello X-Kept=yes"; got != want {
		t.Errorf("the server saw %q, want %q", got, want)
	}
	if got := w.list(&w.asked); !slices.Equal(got, []string{"site.test:8080"}) {
		t.Errorf("rules were asked for %q", got)
	}
	if got := w.list(&w.dialled); !slices.Equal(got, []string{public.String() + ":8080"}) {
		t.Errorf("dialled %q", got)
	}
}

// A client that keeps its connection is judged at each request.
func TestEachRequestIsJudged(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer origin.Close()
	w := &world{origin: origin.Listener.Addr().String(), names: map[string][]netip.Addr{"a.test": {public}, "b.test": {public}}}
	socket, _ := serve(t, w.options("a.test"))
	conn := connect(t, socket)
	r := bufio.NewReader(conn)
	for _, host := range []string{"a.test", "b.test", "a.test"} {
		fmt.Fprintf(conn, "GET http://%s/ HTTP/1.1\r\nHost: a.test\r\n\r\n", host)
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body(t, answer)
		if want := map[string]int{"a.test": http.StatusOK, "b.test": http.StatusForbidden}[host]; answer.StatusCode != want {
			t.Errorf("%s: %s, want %d", host, answer.Status, want)
		}
	}
	if got := w.list(&w.dialled); len(got) != 2 {
		t.Errorf("dialled %q", got)
	}
}

func TestRefusalsSayWhatWouldAllow(t *testing.T) {
	w := &world{origin: echo(t), names: map[string][]netip.Addr{
		"inner.test": {netip.MustParseAddr("10.0.0.7")}, "site.test": {public},
	}}
	o := w.options("inner.test", "site.test", "localhost")
	o.Ports = []int{80, 443}
	socket, _ := serve(t, o)
	for _, c := range []struct{ url, want string }{
		{"http://other.test/", "WebFetch(domain:other.test)"},
		{"http://inner.test/", "Only a rule that names it"},
		{"http://localhost/", "WebFetch(domain:localhost)"},
		{"http://site.test:22/", "80, 443"},
		{"http://2130706433/", "another form than usual"},
		{"http://user:pw@site.test/", "user information"},
	} {
		conn := connect(t, socket)
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", c.url)
		answer := readAnswer(t, conn)
		text := body(t, answer)
		if answer.StatusCode != http.StatusForbidden || !strings.Contains(text, c.want) || strings.Contains(text, "pw@") {
			t.Errorf("%s: %s %q, want 403 and %q", c.url, answer.Status, text, c.want)
		}
	}
	if got := w.list(&w.dialled); len(got) != 0 {
		t.Errorf("dialled %q", got)
	}
	if got := w.list(&w.denied); len(got) != 6 {
		t.Errorf("told of %d refusals: %q", len(got), got)
	}
}

// Every way to write a host is judged as the rules judge it, by both protocols.
func TestHostsAreReadOneWay(t *testing.T) {
	w := &world{origin: echo(t), names: map[string][]netip.Addr{"site.test": {public}, "xn--bcher-kva.test": {public}}}
	socket, _ := serve(t, w.options("*"))
	long := strings.Repeat("a", 64) + ".test"
	for host, want := range map[string]string{
		"SITE.Test":             "site.test",
		"site.test.":            "site.test",
		"xn--bcher-kva.test":    "xn--bcher-kva.test",
		"8.8.8.8":               "8.8.8.8",
		"site.test..":           "",
		"bücher.test":           "",
		"0x08.8.8.8":            "",
		"134744072":             "",
		"8.8.8.010":             "",
		"127.1":                 "",
		"site.test/x":           "",
		"http://site.test":      "",
		"site.test:80":          "",
		"a@site.test":           "",
		"site.test\x00.evil":    "",
		"site.test evil":        "",
		"site%2etest":           "",
		`site.test\evil`:        "",
		"":                      "",
		"fe80::1%eth0":          "",
		"[2606:2800::1]":        "",
		long:                    "",
		"2606:2800:21f:cb07::1": "2606:2800:21f:cb07::1",
	} {
		before := len(w.list(&w.asked))
		granted := socks(t, connect(t, socket), host, 443) == 0
		asked := w.list(&w.asked)[before:]
		switch {
		case want == "" && (granted || len(asked) > 0):
			t.Errorf("%q: granted %v, rules were asked for %q", host, granted, asked)
		case want != "" && (!granted || len(asked) != 1 || asked[0] != net.JoinHostPort(want, "443")):
			t.Errorf("%q: granted %v, rules were asked for %q", host, granted, asked)
		}
	}
}

// What a name resolves to is looked at, whatever the rules say of the name.
func TestAddressesAreChecked(t *testing.T) {
	local := []string{
		"127.0.0.1", "127.8.9.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "169.254.1.1", "100.64.0.1",
		"100.100.100.200", "224.0.0.1", "255.255.255.255", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
		"fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::", "168.63.129.16", "198.18.0.1",
	}
	w := &world{origin: echo(t), names: map[string][]netip.Addr{"both.test": {netip.MustParseAddr("127.0.0.1"), public}}}
	for i, a := range local {
		w.names[fmt.Sprintf("n%d.test", i)] = []netip.Addr{netip.MustParseAddr(a)}
	}
	socket, _ := serve(t, w.options("*"))
	for i, a := range local {
		for _, host := range []string{fmt.Sprintf("n%d.test", i), a} {
			if got := socks(t, connect(t, socket), host, 80); got != 2 {
				t.Errorf("%s (%s): answer %d, want 2", host, a, got)
			}
		}
	}
	for _, host := range []string{"localhost", "x.localhost", "metadata.google.internal", "printer.local"} {
		if got := socks(t, connect(t, socket), host, 80); got != 2 {
			t.Errorf("%s: answer %d, want 2", host, got)
		}
	}
	if got := w.list(&w.dialled); len(got) != 0 {
		t.Fatalf("dialled %q", got)
	}
	if got := socks(t, connect(t, socket), "both.test", 80); got != 0 {
		t.Errorf("both.test: answer %d", got)
	}
	if got := w.list(&w.dialled); !slices.Equal(got, []string{public.String() + ":80"}) {
		t.Errorf("dialled %q", got)
	}
}

// A local host takes a rule that names it, or its address.
func TestNamedLocalHosts(t *testing.T) {
	w := &world{origin: echo(t), names: map[string][]netip.Addr{
		"dev.test": {netip.MustParseAddr("10.0.0.1")}, "other.test": {netip.MustParseAddr("10.0.0.2")},
		"third.test": {netip.MustParseAddr("10.0.0.3")}, "localhost": {netip.MustParseAddr("127.0.0.1")},
	}}
	o := w.options("*")
	named := []string{"dev.test", "10.0.0.2", "localhost"}
	o.LocalAllowed = func(host string) bool { return slices.Contains(named, host) }
	socket, _ := serve(t, o)
	for host, want := range map[string]byte{
		"dev.test": 0, "other.test": 0, "10.0.0.2": 0, "::ffff:10.0.0.2": 0, "localhost": 0, "third.test": 2, "10.0.0.1": 2,
	} {
		if got := socks(t, connect(t, socket), host, 80); got != want {
			t.Errorf("%s: answer %d, want %d", host, got, want)
		}
	}
}

// TestMachine reaches the machine's own loopback by the name for that, which no look-up can
// lead elsewhere, and only where a rule names it.
func TestMachine(t *testing.T) {
	for named, want := range map[string]byte{proxy.Machine: 0, "localhost": 2, "127.0.0.1": 2} {
		w := &world{origin: echo(t), names: map[string][]netip.Addr{proxy.Machine: {public}}}
		o := w.options("*")
		o.LocalAllowed = func(host string) bool { return host == named }
		socket, _ := serve(t, o)
		if got := socks(t, connect(t, socket), "Host.Toolquay.internal.", 80); got != want {
			t.Errorf("a rule names %s: answer %d, want %d", named, got, want)
		}
		if dialled := w.list(&w.dialled); want == 0 && !slices.Equal(dialled, []string{"127.0.0.1:80"}) || want != 0 && len(dialled) > 0 {
			t.Errorf("a rule names %s: dialled %q", named, dialled)
		}
		if lookups := w.list(&w.lookups); len(lookups) > 0 {
			t.Errorf("looked up %q", lookups)
		}
	}
}

// A name that answers differently each time is looked up once, and what was
// checked is dialled.
func TestRebinding(t *testing.T) {
	w := &world{origin: echo(t)}
	o := w.options("*")
	lookups := 0
	o.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		lookups++
		if lookups%2 == 1 {
			return []netip.Addr{public}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	socket, _ := serve(t, o)
	for _, want := range []byte{0, 2, 0, 2} {
		if got := socks(t, connect(t, socket), "flip.test", 80); got != want {
			t.Errorf("answer %d, want %d", got, want)
		}
	}
	for _, to := range w.list(&w.dialled) {
		if to != public.String()+":80" {
			t.Errorf("dialled %s", to)
		}
	}
}

func TestUnreachable(t *testing.T) {
	w := &world{names: map[string][]netip.Addr{"site.test": {public, netip.MustParseAddr("8.8.4.4")}}}
	o := w.options("*")
	o.Dial = func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		w.note(&w.dialled, to.String())
		return nil, errors.New("nobody there")
	}
	socket, _ := serve(t, o)
	for host, want := range map[string]string{"site.test": "nobody there", "none.test": "no such host"} {
		answer, _ := tunnel(t, connect(t, socket), host+":443")
		if text := body(t, answer); answer.StatusCode != http.StatusBadGateway || !strings.Contains(text, want) {
			t.Errorf("%s: %s %q", host, answer.Status, text)
		}
		if got := socks(t, connect(t, socket), host, 443); got != 4 {
			t.Errorf("%s: SOCKS answer %d, want 4", host, got)
		}
	}
	if got := w.list(&w.dialled); len(got) != 4 {
		t.Errorf("each address is tried: %q", got)
	}
	if got := w.list(&w.denied); len(got) != 0 {
		t.Errorf("it is no refusal: %q", got)
	}
}

// TLS over the tunnel, and a front that is asked for another host.
func TestTunnelsTLS(t *testing.T) {
	origin := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s for %s", r.Host, r.TLS.ServerName)
	}))
	defer origin.Close()
	w := &world{origin: origin.Listener.Addr().String(), names: map[string][]netip.Addr{"site.test": {public}}}
	for _, fronts := range []bool{false, true} {
		o := w.options("site.test", public.String())
		o.FrontsAllowed = fronts
		socket, _ := serve(t, o)
		for _, c := range []struct {
			target, sni string
			fine        bool
		}{
			{"site.test:443", "site.test", true},
			{"SITE.test.:443", "Site.Test", true},
			{"site.test:8443", "hidden.test", fronts},
			{public.String() + ":443", "", true},
			{"site.test:443", "", true}, // it was resolved here: there is none to be had by it but its own
			{public.String() + ":443", "hidden.test", fronts},
		} {
			err := handshake(t, socket, c.target, c.sni)
			if (err == nil) != c.fine {
				t.Errorf("fronts allowed %v, %s asked for %q: %v", fronts, c.target, c.sni, err)
			}
		}
	}
	if got := w.list(&w.denied); len(got) != 2 || !strings.HasPrefix(got[0], "hidden.test 8443 TLS asked for it") {
		t.Errorf("told of %q", got)
	}
}

func handshake(t *testing.T, socket, target, sni string) error {
	t.Helper()
	conn := connect(t, socket)
	answer, _ := tunnel(t, conn, target)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", target, answer.Status)
	}
	c := tls.Client(&dribble{Conn: conn}, &tls.Config{ServerName: sni, InsecureSkipVerify: true})
	defer c.Close()
	if err := c.HandshakeContext(t.Context()); err != nil {
		return err
	}
	fmt.Fprintf(c, "GET / HTTP/1.0\r\nHost: x\r\n\r\n")
	text, err := io.ReadAll(c)
	if err == nil && !strings.Contains(string(text), "x for "+strings.ToLower(sni)) && sni == strings.ToLower(sni) {
		return fmt.Errorf("the server answered %q", text)
	}
	return nil
}

// dribble writes its first bytes one by one, as a client might that hopes that only
// whole records are looked at.
type dribble struct {
	net.Conn
	done bool
}

func (d *dribble) Write(p []byte) (int, error) {
	if d.done {
		return d.Conn.Write(p)
	}
	d.done = true
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// What begins as TLS and is none goes nowhere.
func TestBrokenHello(t *testing.T) {
	got := make(chan []byte, 1)
	w := &world{names: map[string][]netip.Addr{"site.test": {public}}, origin: server(t, func(c net.Conn) {
		text, _ := io.ReadAll(c)
		got <- text
	})}
	socket, _ := serve(t, w.options("site.test"))
	conn := connect(t, socket)
	tunnel(t, conn, "site.test:443")
	_, _ = conn.Write([]byte("\x16\x03\x01\x00\x05hello and more"))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the tunnel stays open")
	}
	if text := <-got; len(text) > 0 {
		t.Errorf("the server got %q", text)
	}
}

// A server that speaks first is heard before the client says anything, and each side
// may be done before the other.
func TestTunnelsBothWays(t *testing.T) {
	w := &world{names: map[string][]netip.Addr{"site.test": {public}}, origin: server(t, func(c net.Conn) {
		fmt.Fprint(c, "220 ready\n")
		text, _ := io.ReadAll(c)
		fmt.Fprintf(c, "%d bytes", len(text))
	})}
	socket, _ := serve(t, w.options("site.test"))
	conn := connect(t, socket)
	_, r := tunnel(t, conn, "site.test:25")
	if line, err := r.ReadString('\n'); line != "220 ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	const size = 3 << 20
	if _, err := conn.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); string(text) != fmt.Sprintf("%d bytes", size) || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// What a client sends right behind CONNECT belongs to the tunnel.
func TestEarlyBytes(t *testing.T) {
	w := &world{names: map[string][]netip.Addr{"site.test": {public}}, origin: echo(t)}
	socket, _ := serve(t, w.options("site.test"))
	conn := connect(t, socket)
	fmt.Fprint(conn, "CONNECT site.test:7 HTTP/1.1\r\n\r\nearly bytes")
	_ = conn.CloseWrite()
	text, err := io.ReadAll(conn)
	if _, tail, _ := strings.Cut(string(text), "\r\n\r\n"); tail != "early bytes" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	w := &world{names: map[string][]netip.Addr{"site.test": {public}}, origin: server(t, func(c net.Conn) {
		for range 20 { // one way only, for longer than the limit
			if _, err := c.Write([]byte(".")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		_, _ = io.Copy(io.Discard, c)
	})}
	o := w.options("site.test")
	o.Idle = 200 * time.Millisecond
	socket, _ := serve(t, o)
	var came []int
	for range 5 { // where one of them is late, it ends rightly
		_, r := tunnel(t, connect(t, socket), "site.test:7")
		text, _ := io.ReadAll(r)
		if came = append(came, len(text)); len(text) == 20 {
			return
		}
	}
	t.Errorf("%d of 20 bytes came before the end", came)
}

func TestConnectionsAreBounded(t *testing.T) {
	w := &world{names: map[string][]netip.Addr{"site.test": {public}}, origin: echo(t)}
	o := w.options("site.test")
	o.Connections = 2
	socket, _ := serve(t, o)
	first, second, third := connect(t, socket), connect(t, socket), connect(t, socket)
	tunnel(t, first, "site.test:7")
	tunnel(t, second, "site.test:7")
	fmt.Fprint(third, "CONNECT site.test:7 HTTP/1.1\r\n\r\n")
	_ = third.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := third.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the third is served beside two: %d, %v", n, err)
	}
	_ = first.Close()
	_ = third.SetReadDeadline(time.Now().Add(testenv.Patience))
	if answer := readAnswer(t, third); answer.StatusCode != http.StatusOK {
		t.Errorf("after the first is done the third gets %s", answer.Status)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	t.Parallel()
	socket, _ := serve(t, proxy.Options{})
	conn := connect(t, socket)
	go func() {
		fmt.Fprint(conn, "GET http://site.test/ HTTP/1.1\r\n")
		for range 1 << 12 {
			if _, err := fmt.Fprintf(conn, "X: %s\r\n", strings.Repeat("x", 100)); err != nil {
				return
			}
		}
	}()
	if answer := readAnswer(t, conn); answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("answered %s", answer.Status)
	}
}

func TestNotAProxyRequest(t *testing.T) {
	socket, _ := serve(t, proxy.Options{})
	for _, line := range []string{"GET / HTTP/1.1", "OPTIONS * HTTP/1.1", "GET ftp://site.test/ HTTP/1.1", "CONNECT site.test HTTP/1.1", "nonsense"} {
		conn := connect(t, socket)
		fmt.Fprintf(conn, "%s\r\nHost: site.test\r\n\r\n", line)
		if answer := readAnswer(t, conn); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", line, answer.Status)
		}
	}
}

// With the context everything ends, whatever state it is in.
func TestEnds(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	w := &world{names: map[string][]netip.Addr{"site.test": {public}}, origin: server(t, func(c net.Conn) { <-hang })}
	socket, end := serve(t, w.options("site.test"))
	silent, half, tunnelled, waiting := connect(t, socket), connect(t, socket), connect(t, socket), connect(t, socket)
	fmt.Fprint(half, "GET http://si")
	tunnel(t, tunnelled, "site.test:7")
	fmt.Fprint(waiting, "GET http://site.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
	for len(w.list(&w.dialled)) < 2 {
		time.Sleep(time.Millisecond)
	}
	end()
	for i, conn := range []net.Conn{silent, half, tunnelled, waiting} {
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d stays open", i)
		}
	}
	if _, err := net.Dial("unix", socket); err == nil {
		t.Error("the socket still answers")
	}
}
