package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host/internal/egress"
	"github.com/toolquay/toolquay/host/internal/judge"
)

// Config says where a model is and how it is reached.
type Config struct {
	// BaseURL is what comes before the protocol's own path: for Anthropic
	// "https://api.anthropic.com", for OpenAI "https://api.openai.com/v1".
	BaseURL string
	// Model is the model's name there.
	Model string
	// Key returns the key to send, or nothing. It is called for each request, so
	// that a key can change; nil is for servers that need none.
	Key func(ctx context.Context) (string, error)
	// Timeout bounds one prompt with all its tries; 0 is [DefaultTimeout]. The
	// context's deadline may come sooner.
	Timeout time.Duration
	// Network says how the server is reached; [egress.Options.Configured] is set to
	// BaseURL.
	Network egress.Options
}

// DefaultTimeout is how long a prompt may take where the configuration does not say.
const DefaultTimeout = time.Minute

// maxBody bounds an answer, in bytes.
const maxBody = 1 << 20

// Client completes prompts at one endpoint. It is safe for concurrent use.
type Client struct {
	config   Config
	endpoint string
	protocol protocol
	http     *http.Client
	wait     time.Duration // before the second try
}

var _ judge.Model = (*Client)(nil)

// protocol is what the two APIs differ in.
type protocol interface {
	// path follows the base URL.
	path() string
	// authorize sets the headers that go with a key, which may be empty.
	authorize(h http.Header, key string)
	// request is the body that asks a model to answer a prompt.
	request(model string, p judge.Prompt) any
	// answer takes the structured answer out of a response.
	answer(body []byte, p judge.Prompt) (string, error)
}

// Anthropic makes a client of a server that speaks the Anthropic Messages API.
func Anthropic(c Config) (*Client, error) { return newClient(c, anthropic{}) }

// OpenAI makes a client of a server that speaks the OpenAI Chat Completions API
// with structured outputs.
func OpenAI(c Config) (*Client, error) { return newClient(c, openAI{}) }

func newClient(c Config, p protocol) (*Client, error) {
	if c.Model == "" {
		return nil, errors.New("the model has no name")
	}
	if c.Timeout < 0 {
		return nil, fmt.Errorf("a time limit of %v; it must be more than 0", c.Timeout)
	}
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	base, err := parseBase(c.BaseURL, c.Key != nil)
	if err != nil {
		return nil, err
	}
	c.Network.Configured = []string{c.BaseURL}
	return &Client{config: c, endpoint: base.JoinPath(p.path()).String(), protocol: p, wait: firstWait, http: &http.Client{
		Transport: egress.New(c.Network).Transport(),
		// The key is for this server, and the call's data are too.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// parseBase checks a base URL. Its user, query and fragment, which may be secrets,
// are in no error.
func parseBase(text string, key bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the base URL cannot be parsed; write one such as https://api.example.com/v1")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("the base URL is not of the form https://host/path")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("the base URL has a user, query or fragment; write https://host/path alone, and give the key apart")
	case u.Scheme == "http" && key && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("the key would go to %s unencrypted; write https", u.Host)
	}
	return u, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Close lets go of connections that are kept for the next prompt.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Complete answers a prompt, as [judge.Model] has it.
func (c *Client) Complete(ctx context.Context, p judge.Prompt) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	var key string
	if c.config.Key != nil {
		var err error
		if key, err = c.config.Key(ctx); err != nil {
			return "", &Error{Kind: KindKey, Err: err}
		}
		if err := checkKey(key); err != nil {
			return "", &Error{Kind: KindKey, Err: err}
		}
	}
	body, err := json.Marshal(c.protocol.request(c.config.Model, p))
	if err != nil {
		return "", &Error{Kind: KindRequest, Err: err}
	}
	raw, err := c.tries(ctx, body, key)
	if err != nil {
		return "", err
	}
	text, err := c.protocol.answer(raw, p)
	if err != nil {
		return "", &Error{Kind: KindAnswer, Err: redacted(err, key)}
	}
	return text, nil
}

// tries makes a request until it succeeds, fails for good, or there is no time for
// another.
func (c *Client) tries(ctx context.Context, body []byte, key string) ([]byte, error) {
	wait := c.wait
	for n := 1; ; n++ {
		raw, failed := c.try(ctx, body, key)
		if failed == nil {
			return raw, nil
		}
		failed.Tries = n
		if !failed.temporary || n == maxTries || !pause(ctx, max(failed.after, jitter(wait))) {
			return nil, failed
		}
		wait *= 2
	}
}

// checkKey refuses what cannot stand in a header. Net/http would name the value in
// its error.
func checkKey(key string) error {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return errors.New("the key has a character that is not plain, such as a line break at its end")
		}
	}
	return nil
}

// try makes one request. The error of one that may be made again is temporary.
func (c *Client) try(ctx context.Context, body []byte, key string) ([]byte, *Error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Kind: KindRequest, Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "toolquay")
	c.protocol.authorize(req.Header, key)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, broken(ctx, err, key)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	switch {
	case res.StatusCode != http.StatusOK:
		return nil, refusal(res, raw, key) // what could be read of it tells most
	case err != nil:
		return nil, broken(ctx, err, key)
	case len(raw) > maxBody:
		return nil, &Error{Kind: KindAnswer, Err: fmt.Errorf("the answer is larger than %d bytes", maxBody)}
	}
	return raw, nil
}
