package otlp_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolquay/toolquay/internal/testenv"
)

// collector is a receiver of OTLP over HTTP, in this process and over a real
// connection.
type collector struct {
	*httptest.Server
	// answer, if set, replaces the answer to a request, and says that it has.
	answer func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	changed  chan struct{}
	requests []*http.Request
	spans    []*trace.ResourceSpans
	metrics  []*metrics.ResourceMetrics
	faults   []string
}

func newCollector(tb testing.TB) *collector {
	tb.Helper()
	c := &collector{changed: make(chan struct{})}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	tb.Cleanup(c.Close)
	return c
}

func (c *collector) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.requests = append(c.requests, r)
	answer := c.answer
	c.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	content, err := body(r)
	if err == nil {
		err = c.take(r.URL.Path, content)
	}
	if err != nil {
		c.fault(r.URL.Path + ": " + err.Error())
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

func body(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	zipped, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zipped)
}

// take decodes a request by the definitions of OpenTelemetry: TracesData and MetricsData
// have the fields of requests.
func (c *collector) take(path string, body []byte) error {
	switch path {
	case "/v1/traces":
		var in trace.TracesData
		if err := proto.Unmarshal(body, &in); err != nil {
			return err
		}
		c.note(func() { c.spans = append(c.spans, in.ResourceSpans...) })
	case "/v1/metrics":
		var in metrics.MetricsData
		if err := proto.Unmarshal(body, &in); err != nil {
			return err
		}
		c.note(func() { c.metrics = append(c.metrics, in.ResourceMetrics...) })
	default:
		c.fault("a request for " + path)
	}
	return nil
}

func (c *collector) fault(text string) { c.note(func() { c.faults = append(c.faults, text) }) }

// note changes what was collected, and tells those who wait.
func (c *collector) note(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// when waits until something holds of what was collected.
func (c *collector) when(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	end := time.After(testenv.Patience)
	for {
		c.mu.Lock()
		ok, changed := holds(), c.changed
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-end:
			tb.Fatalf("waiting for %s: %v", what, c.faults)
		}
	}
}

// all are the spans collected so far.
func (c *collector) all(tb testing.TB) []*trace.Span {
	tb.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*trace.Span
	for _, r := range c.spans {
		for _, s := range r.ScopeSpans {
			out = append(out, s.Spans...)
		}
	}
	if len(c.faults) > 0 {
		tb.Errorf("the collector refused: %q", c.faults)
	}
	return out
}

// metric is the last state of a metric that was collected, or nil.
func (c *collector) metric(name string) *metrics.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	var last *metrics.Metric
	for _, r := range c.metrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				if m.Name == name {
					last = m
				}
			}
		}
	}
	return last
}

// attrs are attributes by key, as text.
func attrs(list []*common.KeyValue) map[string]string {
	out := make(map[string]string)
	for _, a := range list {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[a.Key] = v.StringValue
		default:
			out[a.Key] = a.Value.String()
		}
	}
	return out
}
