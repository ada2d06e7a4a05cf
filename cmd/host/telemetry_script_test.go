package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver receives what the command sends of telemetry in one script, and keeps it
// as lines.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	lines []string
	slow  chan struct{}
}

// collectorKey is where a script's collector is kept.
type collectorKey struct{}

// startCollector VARIABLE [slow] starts a collector and puts its URL into a variable.
// A slow one never answers.
func startCollector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: collector variable [slow]")
	}
	c := &receiver{slow: make(chan struct{})}
	if len(args) == 1 {
		close(c.slow)
	} else {
		ts.Defer(func() { close(c.slow) })
	}
	c.Server = httptest.NewServer(c)
	ts.Defer(c.CloseClientConnections)
	ts.Setenv(args[0], c.URL)
	kept, _ := ts.Value(collectorKey{}).(*[]*receiver)
	*kept = append(*kept, c)
}

// collected REGEXP wants a line of it to have been collected.
func collected(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: collected regexp")
	}
	matches := regexp.MustCompile(args[0]).MatchString
	kept, _ := ts.Value(collectorKey{}).(*[]*receiver)
	var lines []string
	for _, c := range *kept {
		c.mu.Lock()
		lines = append(lines, c.lines...)
		c.mu.Unlock()
	}
	if slices.ContainsFunc(lines, matches) == neg {
		ts.Fatalf("of %s was collected:\n%s", args[0], strings.Join(lines, "\n"))
	}
}

// ServeHTTP takes one request.
func (c *receiver) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = c.take(r, body)
	}
	if err != nil {
		c.add("fault %v", err)
	}
	<-c.slow
}

func (c *receiver) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

func (c *receiver) take(r *http.Request, body []byte) error {
	c.add("request %s authorization=%s", r.URL.Path, r.Header.Get("Authorization"))
	if strings.HasSuffix(r.URL.Path, "/v1/metrics") {
		var in metrics.MetricsData
		if err := proto.Unmarshal(body, &in); err != nil {
			return err
		}
		for _, m := range in.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range m.GetSum().GetDataPoints() {
				c.add("metric %s %s = %d", m.Name, attributes(p.Attributes), p.GetAsInt())
			}
		}
		return nil
	}
	var in trace.TracesData
	if err := proto.Unmarshal(body, &in); err != nil {
		return err
	}
	c.add("resource %s", attributes(in.ResourceSpans[0].Resource.Attributes))
	for _, s := range in.ResourceSpans[0].ScopeSpans[0].Spans {
		c.add("span %s trace=%x parent=%x %s", s.Name, s.TraceId, s.ParentSpanId, attributes(s.Attributes))
	}
	return nil
}

// attributes shows those that are texts.
func attributes(list []*common.KeyValue) string {
	var out []string
	for _, a := range list {
		out = append(out, a.Key+"="+a.Value.GetStringValue())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
