package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// callback waits on the loopback for the browser to come back from a login.
type callback struct {
	url    string
	host   string
	server *http.Server

	mu sync.Mutex
	// state is that of the login that is waited for; empty is none.
	state string
	// answer takes the query of its answer, once.
	answer chan url.Values
}

const callbackPath = "/callback"

// listen opens a port for one login; 0 is any.
func listen(ctx context.Context, port int) (*callback, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("the answer of the login cannot be waited for: %w", err)
	}
	c := &callback{host: ln.Addr().String(), answer: make(chan url.Values, 1)}
	c.url = "http://" + c.host + callbackPath
	const little = 10 * time.Second
	c.server = &http.Server{Handler: c, ReadTimeout: little, WriteTimeout: little, IdleTimeout: little, MaxHeaderBytes: 16 << 10}
	go func() { _ = c.server.Serve(ln) }()
	return c, nil
}

// close ends waiting. The page that the browser is given may still go out.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		_ = c.server.Close()
	}
}

// ServeHTTP takes the answer of the login, and nothing else: one with its state, once.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if r.Method != http.MethodGet || r.Host != c.host || r.URL.Path != callbackPath || !c.take(query) {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Connection", "close")
	_, _ = io.WriteString(w, "<!doctype html><title>Toolquay</title><p>Toolquay has the answer. You can close this page.\n")
}

func (c *callback) take(query url.Values) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !sameState(query, c.state) {
		return false
	}
	c.state = ""
	c.answer <- query
	return true
}

func sameState(query url.Values, state string) bool {
	got := query["state"]
	return state != "" && len(got) == 1 && subtle.ConstantTimeCompare([]byte(got[0]), []byte(state)) == 1
}

// fetch has a person visit a URL, and waits for the answer: from the browser, or from the person.
func (c *callback) fetch(ctx context.Context, page string, p Person) (*auth.AuthorizationResult, error) {
	state, err := stateOf(page)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.state = state
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type pasted struct {
		text string
		err  error
	}
	by := make(chan pasted, 1)
	go func() {
		err := p.Visit(ctx, page)
		var text string
		if err == nil {
			text, err = p.Paste(ctx)
		}
		by <- pasted{text, err}
	}()
	select {
	case query := <-c.answer:
		return result(query, state)
	case got := <-by:
		if got.err != nil {
			return nil, got.err
		}
		return parsePasted(got.text, state)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// result reads the answer of an authorization server, which may be an error.
func result(query url.Values, state string) (*auth.AuthorizationResult, error) {
	if code := query.Get("error"); code != "" {
		return nil, fmt.Errorf("the authorization server answered %s", brief(strings.TrimSpace(code+" "+query.Get("error_description"))))
	}
	if query.Get("code") == "" {
		return nil, errors.New("the answer has no code")
	}
	return &auth.AuthorizationResult{Code: query.Get("code"), State: state, Iss: query.Get("iss")}, nil
}

// parsePasted reads what a person pasted: the URL that the browser ended up at, or the code alone.
func parsePasted(text, state string) (*auth.AuthorizationResult, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "?") && text != "" {
		return &auth.AuthorizationResult{Code: text, State: state}, nil
	}
	u, err := url.Parse(text)
	if err != nil || text == "" {
		return nil, errors.New("that is neither a code nor the URL that the browser ended up at")
	}
	if !sameState(u.Query(), state) {
		return nil, errors.New("that URL is the answer of another login")
	}
	return result(u.Query(), state)
}
