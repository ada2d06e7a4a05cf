package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/serve"
	"github.com/toolquay/toolquay/internal/testenv"
)

const (
	tokenA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// twoTokens is a file of the tokens a and b.
const twoTokens = "[[token]]\nname = \"a\"\ntoken = \"" + tokenA + "\"\n\n[[token]]\nname = \"b\"\ntoken = \"" + tokenB + "\"\n"

// writeTokens makes a file of tokens.
func writeTokens(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// world is a server under test, and what was mounted in it.
type world struct {
	url  string
	addr string
	logs *logs
	stop func() error

	mu      sync.Mutex
	mounted []string
	closed  []string
	// answer is what the handler of each token does.
	answer func(token string, w http.ResponseWriter, r *http.Request)
}

// logs takes what the server logs.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// handler is the handler of one token.
type handler struct {
	world *world
	token string
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.world.answer(h.token, w, r)
}

func (h *handler) Close(context.Context) error {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	h.world.closed = append(h.world.closed, h.token)
	return nil
}

func (w *world) mount(t *serve.Token) (http.Handler, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mounted = append(w.mounted, t.Name)
	return &handler{w, t.Name}, nil
}

// happened returns what was mounted and closed, in order.
func (w *world) happened() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprint(w.mounted, w.closed)
}

// name answers with the token's name, the path and the body.
func name(token string, w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s %s %v", token, r.Method, r.URL.Path, body, err)
	fmt.Fprint(w, strings.Join(append(r.Header["Authorization"], r.Header["Origin"]...), " "))
}

// start serves at /mcp, on the loopback, until the test is over.
func start(t *testing.T, o serve.Options) *world {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{addr: l.Addr().String(), logs: new(logs), answer: name}
	o.Mounts = map[string]serve.Mount{"/mcp": w.mount}
	o.Logger = slog.New(slog.NewTextHandler(w.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.TokenFile == "" && !o.NoToken {
		o.TokenFile = writeTokens(t, twoTokens)
	}
	s, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.url = s.URL(l.Addr())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	w.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(testenv.Patience):
			return errors.New("the server does not end")
		}
	})
	t.Cleanup(func() {
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// until waits for a state.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(testenv.Patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
	}
}

// reply is an answer that was read.
type reply struct {
	status int
	header http.Header
	body   string
}

// code is the code of an error of the server's own.
func (r reply) code() string {
	var doc struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(r.body), &doc) != nil || doc.Error.Message == "" {
		return ""
	}
	return doc.Error.Code
}

// do sends a request; each has a connection of its own.
func do(t *testing.T, method, url string, body io.Reader, header ...string) reply {
	t.Helper()
	r, err := send(t.Context(), method, url, body, header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return r
}

func send(ctx context.Context, method, url string, body io.Reader, header ...string) (reply, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return reply{}, err
	}
	for _, line := range header {
		key, value, _ := strings.Cut(line, ": ")
		r.Header.Add(key, value)
		if key == "Host" {
			r.Host = value
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	a, err := client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return reply{a.StatusCode, a.Header, string(text)}, err
}

func bearer(token string) string { return "Authorization: Bearer " + token }

func TestEachTokenHasItsHandler(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{})
	for _, tt := range []struct{ method, path, token, body, want string }{
		{"POST", "/mcp", tokenA, "x", "a POST / x <nil>"},
		{"POST", "/mcp/", tokenA, "", "a POST /  <nil>"},
		{"POST", "/mcp/one/two", tokenB, "y", "b POST /one/two y <nil>"},
		{"GET", "/mcp?q=1", tokenB, "", "b GET /  <nil>"},
	} {
		got := do(t, tt.method, w.url+tt.path, strings.NewReader(tt.body), bearer(tt.token))
		if got.status != 200 || got.body != tt.want {
			t.Errorf("%s %s: %d %q, want %q", tt.method, tt.path, got.status, got.body, tt.want)
		}
	}
	if got := w.happened(); got != "[a b] []" {
		t.Errorf("mounted and closed: %s", got)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if got := w.happened(); got != "[a b] [a b]" && got != "[a b] [b a]" {
		t.Errorf("mounted and closed: %s", got)
	}
	if text := w.logs.String(); !strings.Contains(text, "token=a method=POST path=/mcp") || strings.Contains(text, tokenA) {
		t.Errorf("the log names no token, or holds one:\n%s", text)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	w := start(t, serve.Options{})
	for _, tt := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"GET", "/healthz", 200, ""},
		{"HEAD", "/healthz", 200, ""},
		{"POST", "/healthz", 405, "wrong_method"},
		{"GET", "/", 404, "not_found"},
		{"GET", "/mcpx", 404, "not_found"},
		{"GET", "/x/../mcp", 404, "not_found"},
		{"GET", "//mcp", 404, "not_found"},
		{"GET", "/%6dcp", 401, "no_token"},
	} {
		got := do(t, tt.method, w.url+tt.path, http.NoBody)
		if got.status != tt.status || got.code() != tt.code {
			t.Errorf("%s %s: %d %s, want %d %s", tt.method, tt.path, got.status, got.body, tt.status, tt.code)
		}
	}
}

// TestMountFails has a token whose handler cannot be made be tried anew with its next request.
func TestMountFails(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tries := 0
	s, err := serve.New(serve.Options{NoToken: true, Mounts: map[string]serve.Mount{"/": func(*serve.Token) (http.Handler, error) {
		if tries++; tries == 1 {
			return nil, errors.New("secret reason")
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/panic" {
				panic("secret fault")
			}
			fmt.Fprint(w, r.URL.Path)
		}), nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	url := s.URL(l.Addr())
	if got := do(t, "GET", url+"/a", nil); got.status != 500 || got.code() != "failed" || strings.Contains(got.body, "secret") {
		t.Errorf("where it cannot be made: %d %s", got.status, got.body)
	}
	if got := do(t, "GET", url+"/a", nil); got.status != 200 || got.body != "/a" {
		t.Errorf("the next time: %d %s", got.status, got.body)
	}
	if got, err := send(t.Context(), "GET", url+"/panic", nil); err == nil {
		t.Errorf("a handler that panics answered %d %s", got.status, got.body)
	}
	if got := do(t, "GET", url+"/b", nil); got.status != 200 {
		t.Errorf("after a panic: %d %s", got.status, got.body)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	good := writeTokens(t, tokenA)
	for _, tt := range []struct {
		name, want string
		o          serve.Options
	}{
		{"neither", "name a file of tokens, or say that no token is needed", serve.Options{}},
		{"both", "name a file of tokens, or say that no token is needed", serve.Options{NoToken: true, TokenFile: good}},
		{"no file", "no token file " + good + "x; to make one: (umask 077; openssl rand -hex 32 > " + good + "x)", serve.Options{TokenFile: good + "x"}},
		{"a host with a port", `host "a.example:1": write a name or an address without port`, serve.Options{NoToken: true, Hosts: []string{"a.example:1"}}},
		{"a host with a pattern", `host "*.example.com": write a name`, serve.Options{NoToken: true, Hosts: []string{"*.example.com"}}},
		{"an origin with a path", `origin "https://a.example/x": `, serve.Options{NoToken: true, Origins: []string{"https://a.example/x"}}},
		{"an origin of files", `origin "file://a": `, serve.Options{NoToken: true, Origins: []string{"file://a"}}},
		{"the null origin", `origin "null": `, serve.Options{NoToken: true, Origins: []string{"null"}}},
		{"half of TLS", "TLS needs both files", serve.Options{NoToken: true, CertFile: "c.pem"}},
		{"no certificate", "TLS certificate c.pem with key k.pem: ", serve.Options{NoToken: true, CertFile: "c.pem", KeyFile: "k.pem"}},
		{"a mount point", `mount point "mcp": write a path such as /mcp`, serve.Options{NoToken: true, Mounts: map[string]serve.Mount{"mcp": nil}}},
		{"its own path", `mount point "/healthz"`, serve.Options{NoToken: true, Mounts: map[string]serve.Mount{"/healthz": nil}}},
	} {
		if _, err := serve.New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// elsewhere is a listener that says to be at another address, and gets no connections.
type elsewhere struct {
	net.Listener
	ip string
}

func (e elsewhere) Addr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(e.ip), Port: 80} }

func TestAddressesThatAreNotLoopback(t *testing.T) {
	t.Parallel()
	file := writeTokens(t, tokenA)
	for _, tt := range []struct {
		ip, want string
		o        serve.Options
	}{
		{"127.0.0.9", "", serve.Options{NoToken: true}},
		{"::1", "", serve.Options{NoToken: true}},
		{"0.0.0.0", "clients need tokens", serve.Options{NoToken: true}},
		{"::", "clients need tokens", serve.Options{NoToken: true, InsecureHTTP: true}},
		{"192.0.2.1", "tokens would be sent in the clear", serve.Options{TokenFile: file}},
		{"192.0.2.1", "", serve.Options{TokenFile: file, InsecureHTTP: true}},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s, err := serve.New(tt.o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err = s.Serve(ctx, elsewhere{l, tt.ip})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.ip, err, tt.want)
		}
	}
}
