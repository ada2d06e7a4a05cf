package otlp

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/host/internal/egress"
)

const (
	// maxAnswer bounds what is read of an answer, so that the connection can be used again.
	maxAnswer = 64 << 10
	// firstWait is how long the first repetition waits, about. Each waits half as long
	// again as the one before it.
	firstWait = 500 * time.Millisecond
	maxWait   = 30 * time.Second
)

// sender sends one kind of telemetry. It tells the log that this has begun to fail, or
// works again, once each.
type sender struct {
	what    string
	target  *Target
	headers http.Header
	logger  *slog.Logger
	failed  atomic.Bool
	http    *http.Client
	// ended is done when what is under way is given up.
	ended context.Context //nolint:containedctx // it is that of no call
	end   context.CancelFunc
}

// newSender makes a sender. It follows no redirect: what goes with a request is meant
// for the receiver alone.
func newSender(what string, t *Target, c *Config) *sender {
	s := &sender{what: what, target: t, logger: c.Logger, headers: make(http.Header)}
	s.headers.Set("User-Agent", "OTel-OTLP-Exporter-Toolquay/"+cmp.Or(c.Version, "unknown"))
	for name, value := range t.Headers {
		s.headers.Set(name, value)
	}
	s.headers.Set("Content-Type", "application/x-protobuf")
	if t.Gzip {
		s.headers.Set("Content-Encoding", "gzip")
	}
	s.ended, s.end = context.WithCancel(context.Background())
	way := egress.New(egress.Options{Configured: []string{t.URL}, Proxy: c.Proxy, Named: c.Named})
	transport := way.Transport()
	transport.TLSClientConfig, transport.MaxIdleConns = t.TLS, 1
	s.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// send sends a message, in the time that a target has for one.
func (s *sender) send(ctx context.Context, m message) {
	ctx, cancel := context.WithTimeout(ctx, s.target.limit())
	defer cancel()
	defer context.AfterFunc(s.ended, cancel)() //nolint:contextcheck // it ends with the sender, too
	err := s.repeat(ctx, s.target.pack(m))
	switch {
	case err != nil && !s.failed.Swap(true):
		s.logger.Warn("telemetry cannot be sent, and is lost while that lasts", "what", s.what, "error", err)
	case err == nil && s.failed.Swap(false):
		s.logger.Info("telemetry is sent again", "what", s.what)
	}
}

// limit bounds a message's time with its repetitions.
func (t *Target) limit() time.Duration { return cmp.Or(t.Timeout, DefaultTimeout) }

// pack compresses a message where the target wants that.
func (t *Target) pack(m message) []byte {
	if !t.Gzip {
		return m
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(m) // into memory
	_ = z.Close()
	return b.Bytes()
}

// repeat sends a body until the receiver takes it, or refuses it for good, or ctx is done.
func (s *sender) repeat(ctx context.Context, body []byte) error {
	for wait := firstWait; ; wait = min(wait*3/2, maxWait) {
		again, after, err := s.once(ctx, body)
		if err == nil || !again {
			return err
		}
		after = max(after, wait/2+rand.N(wait)) //nolint:gosec // no secret
		if end, ok := ctx.Deadline(); ok && time.Until(end) < after {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(after):
		}
	}
}

// busy are the answers after which a body is sent again.
var busy = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// once sends a body. Where the receiver is too busy for it, it says so, and after what
// time to come again. An error says an answer's status alone: what else is in it, such
// as the request with its headers, would end in the log.
func (s *sender) once(ctx context.Context, body []byte) (again bool, after time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.target.URL, bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	r.Header = maps.Clone(s.headers)
	answer, err := s.http.Do(r)
	if err != nil {
		return false, 0, err
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // the status counts
	if answer.StatusCode/100 != 2 {
		return slices.Contains(busy, answer.StatusCode), retryAfter(answer.Header), fmt.Errorf("the receiver %s answers %s", s.target.URL, answer.Status)
	}
	if n := rejected(text); n > 0 && answer.Header.Get("Content-Type") == "application/x-protobuf" {
		return false, 0, fmt.Errorf("the receiver %s took all but %d", s.target.URL, n)
	}
	return false, 0, nil
}

// retryAfter is how long a receiver wants to be left alone.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return time.Until(at)
	}
	return 0
}

// rejected is how many spans or measurements an answer says were not taken: the first
// field of a message, which is the first field of the answer.
func rejected(answer []byte) uint64 {
	partial, ok := bytes.CutPrefix(answer, []byte{1<<3 | wireBytes})
	_, n := binary.Uvarint(partial)
	if !ok || n <= 0 {
		return 0
	}
	count, ok := bytes.CutPrefix(partial[n:], []byte{1<<3 | wireVarint})
	if !ok {
		return 0
	}
	v, _ := binary.Uvarint(count)
	return v
}
