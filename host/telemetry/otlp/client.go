package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxAnswer bounds what is read of a receiver's answer.
const maxAnswer = 64 << 10

// The waits before a request is sent again: doubling, from the first to the longest.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second
)

// client sends requests to one place.
type client struct {
	target  Target
	timeout time.Duration
	gzip    bool
	http    *http.Client
	// stopped ends what is under way.
	stopped context.Context //nolint:containedctx // the client's own life
	// last is closed when nothing is worth being sent again any more: who shuts down
	// is not kept waiting for a receiver that is not there.
	last chan struct{}
}

// newClient makes a client. It follows no redirect: what goes with a request is meant
// for the receiver alone.
func newClient(stopped context.Context, t Target, c *Config) *client {
	transport := c.Transport
	if transport == nil {
		transport = &http.Transport{
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        1,
			IdleConnTimeout:     90 * time.Second,
			TLSHandshakeTimeout: 10 * time.Second,
		}
	}
	return &client{
		target: t, timeout: c.Timeout, gzip: c.Gzip, stopped: stopped, last: make(chan struct{}),
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// send sends a request until it is taken, refused, or the time for it is over.
func (c *client) send(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	defer context.AfterFunc(c.stopped, cancel)() //nolint:contextcheck // either ends it
	if c.gzip {
		body = compress(body)
	}
	for wait := firstWait; ; wait = min(2*wait, longestWait) {
		err := c.post(ctx, body)
		busy, again := errors.AsType[*retryable](err)
		if !again || ctx.Err() != nil {
			return err
		}
		if !c.pause(ctx, max(wait, busy.after)) {
			return err
		}
	}
}

// pause waits, and reports false where there is not the time for that.
func (c *client) pause(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	case <-c.last:
		return false
	}
}

// retryable is a failure that may pass.
type retryable struct {
	error
	// after is how long the receiver wants to be left alone.
	after time.Duration
}

func (r *retryable) Unwrap() error { return r.error }

func (c *client) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.target.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range c.target.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // the receiver is named already
		}
		return &retryable{error: fmt.Errorf("reaching %s: %w", c.target.place(), err)}
	}
	defer answer.Body.Close()
	// So that the connection can be used again; what it says is for nobody here.
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxAnswer))
	return c.judge(answer)
}

func (c *client) judge(answer *http.Response) error {
	if answer.StatusCode/100 == 2 {
		return nil
	}
	err := fmt.Errorf("%s answers %s", c.target.place(), answer.Status)
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		return &retryable{error: err, after: time.Duration(min(max(seconds, 0), 3600)) * time.Second}
	}
	return err
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	// Neither fails: both write to memory.
	_, _ = w.Write(body)
	_ = w.Close()
	return b.Bytes()
}

func (c *client) close() { c.http.CloseIdleConnections() }
