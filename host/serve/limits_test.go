package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/serve"
	"github.com/toolquay/toolquay/internal/testenv"
)

// soon is a limit in tests that wait for it.
const soon = 300 * time.Millisecond

// dial opens a connection that fails rather than waits for ever.
func dial(t *testing.T, w *world) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(testenv.Patience)); err != nil {
		t.Fatal(err)
	}
	return c
}

// cut waits until the server has closed a connection, and fails if it never does. It returns
// what was sent before.
func cut(t *testing.T, c net.Conn) string {
	t.Helper()
	text, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection was not closed; it got %q", text)
	}
	return string(text)
}

// alive fails unless the server answers.
func alive(t *testing.T, w *world) {
	t.Helper()
	if got := do(t, "POST", w.url+"/mcp", strings.NewReader("x"), bearer(tokenA)); got.status != 200 {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
}

// zeros is a body of a length, made as it is read.
type zeros struct {
	left int64
	read atomic.Int64
}

func (z *zeros) Read(b []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(b)), z.left)
	clear(b[:n])
	z.left -= n
	z.read.Add(n)
	return int(n), nil
}

func TestLargeBodies(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{Limits: serve.Limits{Body: 1 << 20}})
	request := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + tokenA + "\r\nContent-Length: 104857600\r\n"
	for name, more := range map[string]string{"said to be large": "", "that asks first": "Expect: 100-continue\r\n"} {
		c := dial(t, w)
		fmt.Fprint(c, request+more+"\r\n") // and nothing of the body
		if got := cut(t, c); !strings.HasPrefix(got, "HTTP/1.1 413 ") || !strings.Contains(got, `"too_large"`) {
			t.Errorf("%s: %q", name, got)
		}
	}
	// Of a body that does not say how long it is the server reads little more than it takes.
	body := &zeros{left: 100 << 20}
	got, err := send(t.Context(), "POST", w.url+"/mcp", body, bearer(tokenA))
	if err == nil && got.code() != "too_large" || body.read.Load() > 20<<20 {
		t.Errorf("a long body: %d %s %v, of which %d were read", got.status, got.body, err, body.read.Load())
	}
	if got := do(t, "POST", w.url+"/mcp", &zeros{left: 1 << 20}, bearer(tokenA)); got.status != 200 {
		t.Errorf("the largest: %d %.200s", got.status, got.body)
	}
	if got := do(t, "POST", w.url+"/mcp", &zeros{left: 1<<20 + 1}, bearer(tokenA)); got.code() != "too_large" {
		t.Errorf("one byte more: %d %.200s", got.status, got.body)
	}
	if got := do(t, "POST", w.url+"/mcp", &zeros{left: 1 << 17}); got.code() != "no_token" {
		t.Errorf("without a token: %d %.200s", got.status, got.body)
	}
	alive(t, w)
}

func TestLargeHeaders(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{})
	for name, header := range map[string]string{
		"long":    "X: " + strings.Repeat("x", 1<<20) + "\r\n",
		"many":    strings.Repeat("X: x\r\n", 1<<17),
		"endless": strings.Repeat("x", 1<<20),
	} {
		c := dial(t, w)
		go fmt.Fprint(c, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n"+header) // it may be cut meanwhile
		// What was sent beyond the limit may have the answer lost.
		if got := cut(t, c); got != "" && !strings.HasPrefix(got, "HTTP/1.1 431 ") {
			t.Errorf("%s: %.200q", name, got)
		}
	}
	alive(t, w)
}

func TestSlowClients(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{Limits: serve.Limits{HeaderTime: soon}})
	patient := start(t, serve.Options{Limits: serve.Limits{HeaderTime: testenv.Patience, BodyTime: soon, Idle: soon}})
	for name, tt := range map[string]struct{ first, drip, want string }{
		"nothing":        {},
		"half a line":    {first: "GET /he"},
		"header by byte": {first: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", drip: "X: x\r\n"},
		"body by byte": {
			first: "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + tokenA + "\r\nContent-Length: 1000\r\n\r\n",
			drip:  "x", want: `"too_slow"`,
		},
		"no second request": {first: "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", want: `{"status":"ok"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := w
			if tt.want != "" { // the header must come in time, whatever holds it up
				at = patient
			}
			c := dial(t, at)
			fmt.Fprint(c, tt.first)
			over := make(chan struct{})
			defer close(over)
			go func() {
				for tt.drip != "" {
					select {
					case <-over:
						return
					case <-time.After(soon / 20):
						fmt.Fprint(c, tt.drip)
					}
				}
			}()
			if got := cut(t, c); !strings.Contains(got, tt.want) {
				t.Errorf("it got %q, want %s", got, tt.want)
			}
		})
	}
}

func TestClientsThatDoNotRead(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{Limits: serve.Limits{WriteTime: soon}})
	failed := make(chan error, 1)
	w.answer = func(_ string, out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/news" {
			fmt.Fprint(out, "first\n")
			_ = http.NewResponseController(out).Flush()
			time.Sleep(2 * soon) // longer than a write may take
			fmt.Fprint(out, "second\n")
			return
		}
		for piece := make([]byte, 1<<20); ; {
			if _, err := out.Write(piece); err != nil {
				failed <- err
				return
			}
		}
	}
	c := dial(t, w)
	fmt.Fprintf(c, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", tokenA)
	select {
	case err := <-failed:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(testenv.Patience):
		t.Error("the handler still writes to a client that does not read")
	}
	testenv.InTime(t, 3*soon, func() time.Duration { // no write can have been late then
		var got reply
		took := testenv.Took(func() { got, _ = send(t.Context(), "GET", w.url+"/mcp/news", nil, bearer(tokenA)) })
		if took <= 3*soon && got.body != "first\nsecond\n" {
			t.Errorf("a stream with little news got %q", got.body)
		}
		return took
	})
}

func TestManyConnections(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{Limits: serve.Limits{Connections: 8, HeaderTime: 10 * soon}}) // time enough for who is not silent
	for range 15 {
		dial(t, w) // and say nothing
	}
	alive(t, w)
}

func TestManyRequests(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{Limits: serve.Limits{Requests: 3}})
	held, release := make(chan struct{}), make(chan struct{})
	w.answer = func(token string, out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			held <- struct{}{}
			<-release
		}
		name(token, out, r)
	}
	for range 3 {
		go func() { _, _ = send(context.Background(), "GET", w.url+"/mcp/hold", nil, bearer(tokenA)) }()
		<-held
	}
	got := do(t, "POST", w.url+"/mcp", nil, bearer(tokenA))
	if got.status != 429 || got.code() != "too_many_requests" || got.header.Get("Retry-After") == "" {
		t.Errorf("one more: %d %s", got.status, got.body)
	}
	if got := do(t, "POST", w.url+"/mcp", nil, bearer(tokenB)); got.status != 200 {
		t.Errorf("another token: %d %s", got.status, got.body)
	}
	close(release)
	until(t, "room for a request", func() bool { return do(t, "POST", w.url+"/mcp", nil, bearer(tokenA)).status == 200 })
}

func TestOddRequests(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{})
	auth := "Authorization: Bearer " + tokenA + "\r\n"
	for name, tt := range map[string]struct {
		request string
		want    []string // the status line of each answer
	}{
		"version 1.0":             {"POST /mcp HTTP/1.0\r\nHost: localhost\r\n" + auth + "Content-Length: 1\r\n\r\nx", []string{"HTTP/1.0 200 OK"}},
		"version 1.0, no host":    {"GET /mcp HTTP/1.0\r\n" + auth + "\r\n", []string{"HTTP/1.0 403 Forbidden"}},
		"no host":                 {"GET /mcp HTTP/1.1\r\n" + auth + "\r\n", []string{"HTTP/1.1 400 Bad Request: missing required Host header"}},
		"two hosts":               {"GET /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example.com\r\n" + auth + "\r\n", []string{"HTTP/1.1 400 Bad Request"}},
		"a host in the target":    {"GET http://evil.example.com/mcp HTTP/1.1\r\nHost: localhost\r\n" + auth + "Connection: close\r\n\r\n", []string{"HTTP/1.1 403 Forbidden"}},
		"a tunnel":                {"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: localhost\r\n" + auth + "Connection: close\r\n\r\n", []string{"HTTP/1.1 404 Not Found"}},
		"two lengths":             {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + auth + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nxy", []string{"HTTP/1.1 400 Bad Request"}},
		"a bad length":            {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + auth + "Content-Length: -1\r\n\r\n", []string{"HTTP/1.1 400 Bad Request"}},
		"a bad chunk":             {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + auth + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", []string{"HTTP/1.1 400 Bad Request"}},
		"an unknown coding":       {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + auth + "Transfer-Encoding: gzip\r\n\r\n", []string{"HTTP/1.1 501 Not Implemented"}},
		"no HTTP":                 {"hello\r\n\r\n", []string{"HTTP/1.1 400 Bad Request"}},
		"version 2 by preface":    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []string{"HTTP/1.1 403 Forbidden"}},
		"a line break in a token": {"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + tokenA + "\n x\r\nConnection: close\r\n\r\n", []string{"HTTP/1.1 401 Unauthorized"}},
		"one after the other": {
			"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + auth + "Content-Length: 1\r\n\r\nx" +
				"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n" +
				"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			[]string{"HTTP/1.1 200 OK", "HTTP/1.1 401 Unauthorized", "HTTP/1.1 200 OK"},
		},
	} {
		c := dial(t, w)
		fmt.Fprint(c, tt.request)
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // the server may have closed it already
		}
		got := bufio.NewScanner(strings.NewReader(cut(t, c)))
		var lines []string
		for got.Scan() {
			if at := strings.Index(got.Text(), "HTTP/1."); at >= 0 {
				lines = append(lines, got.Text()[at:])
			}
		}
		if strings.Join(lines, "; ") != strings.Join(tt.want, "; ") {
			t.Errorf("%s: %q, want %q", name, lines, tt.want)
		}
	}
	alive(t, w)
}
