package otlp_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/telemetry/otlp"
	"github.com/toolquay/toolquay/internal/relay"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// lab is a real host whose calls are told of.
type lab struct {
	*otlp.Telemetry
	host    *host.Host
	session *host.Session
	log     *journal
}

// journal is a log that several may write to.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.String()
}

// of waits for so many lines, and wants no more.
func (j *journal) of(t *testing.T, lines int) string {
	t.Helper()
	for end := time.Now().Add(testenv.Patience); strings.Count(j.String(), "\n") < lines && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	log := j.String()
	if strings.Count(log, "\n") != lines {
		t.Errorf("not %d lines: %s", lines, log)
	}
	return log
}

func newLab(t *testing.T, c otlp.Config) *lab {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := &lab{log: &journal{}}
	c.Logger = slog.New(slog.NewTextHandler(l.log, nil))
	if l.Telemetry, err = otlp.Open(c); err != nil {
		t.Fatal(err)
	}
	l.host, err = host.Open(t.Context(), host.Options{
		Builtins: true, Observe: host.ObserveOptions{Events: l.Observe}, Tools: []host.NativeTool{l.outer()},
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Allow: permissions.RuleTexts("Outer")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if l.session, err = l.host.NewSession(host.SessionOptions{ID: "session-1", Cwd: dir}); err != nil {
		t.Fatal(err)
	}
	return l
}

// outer is a tool that reads a file by another call.
func (l *lab) outer() host.NativeTool {
	return host.NewTool(abi.Tool{Name: "Outer", Summary: "Reads", InputSchema: `{"type":"object"}`},
		func(ctx context.Context, _ struct{}) (string, error) {
			r := l.session.Results(ctx, []abi.ToolUse{read("inner", "a.txt")})
			return r[0].Text(), nil
		})
}

func read(id, path string) abi.ToolUse {
	return abi.ToolUse{ID: id, Name: "Read", Input: []byte(`{"file_path":"` + path + `"}`)}
}

// run runs calls, each of which must end with a result.
func (l *lab) run(t *testing.T, uses ...abi.ToolUse) []abi.ToolResult {
	t.Helper()
	results := l.session.Results(t.Context(), uses)
	if len(results) != len(uses) {
		t.Fatalf("%d results of %d calls", len(results), len(uses))
	}
	return results
}

// shutdown lets what is left leave.
func (l *lab) shutdown(t *testing.T, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return l.Shutdown(ctx)
}

// TestCallsReachACollector runs real calls, one of which makes another, and looks at
// what arrives.
func TestCallsReachACollector(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*otlp.Config){
		"plain": func(*otlp.Config) {}, "gzip": func(c *otlp.Config) { c.Traces.Gzip, c.Metrics.Gzip = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			config := otlp.To(c.URL+"/", map[string]string{"Authorization": "Bearer hush"})
			config.Service, config.Version = "lab", "v1"
			change(&config)
			l := newLab(t, config)
			l.run(t, read("call_1", "a.txt"), abi.ToolUse{ID: "call_2", Name: "Outer"}, read("call_3", "missing.txt"),
				abi.ToolUse{ID: "call_4", Name: "made_up_by_a_model"})
			if err := l.shutdown(t, testenv.Patience); err != nil {
				t.Fatal(err)
			}
			checkSpans(t, c)
			checkMetrics(t, c)
			checkRequests(t, c)
			if l.log.String() != "" {
				t.Errorf("the log says %s", l.log)
			}
		})
	}
}

func checkSpans(t *testing.T, c *collector) {
	t.Helper()
	byCall, byID := make(map[string]*traces.Span), make(map[string]*traces.Span)
	var turns, capabilities []*traces.Span
	for _, s := range c.all(t) {
		byID[string(s.SpanId)] = s
		switch id := attrs(s.Attributes)["gen_ai.tool.call.id"]; {
		case id != "":
			byCall[id] = s
		case s.Name == "turn":
			turns = append(turns, s)
		case strings.HasPrefix(s.Name, "capability "):
			capabilities = append(capabilities, s)
		}
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s ends before it starts", s.Name)
		}
		if strings.Contains(s.String(), "hush") || strings.Contains(s.String(), "a.txt") {
			t.Errorf("content is told: %v", s)
		}
	}
	if len(turns) != 1 || len(byCall) != 5 || len(capabilities) < 3 {
		t.Fatalf("%d turns, %d calls, %d capability calls", len(turns), len(byCall), len(capabilities))
	}
	above := func(s *traces.Span) string {
		if parent := byID[string(s.ParentSpanId)]; parent != nil {
			return parent.Name
		}
		return ""
	}
	for id, want := range map[string]string{"call_1": "turn", "call_2": "turn", "call_3": "turn", "inner": "execute_tool Outer"} {
		if got := above(byCall[id]); got != want {
			t.Errorf("%s is below %q, want %q", id, got, want)
		}
	}
	for _, s := range capabilities {
		if above(s) != "execute_tool Read" {
			t.Errorf("%s is below %q", s.Name, above(s))
		}
	}
	if s := byCall["call_3"]; attrs(s.Attributes)["error.type"] != string(abi.CodeNotFound) || s.Status.Code != traces.Status_STATUS_CODE_ERROR {
		t.Errorf("the call that failed: %v", s)
	}
	about := attrs(c.spans[0].Resource.Attributes)
	if about["service.name"] != "lab" || about["service.version"] != "v1" || about["telemetry.sdk.language"] != "go" {
		t.Errorf("the resource is %v", about)
	}
}

func checkMetrics(t *testing.T, c *collector) {
	t.Helper()
	calls := make(map[string]int64)
	for _, p := range c.metric("toolquay.tool.calls").GetSum().GetDataPoints() {
		a := attrs(p.Attributes)
		calls[a["gen_ai.tool.name"]+" "+a["toolquay.outcome"]] = p.GetAsInt()
	}
	for _, r := range c.metrics {
		if strings.Contains(r.String(), "made_up") {
			t.Errorf("a model's word is a label: %v", r)
		}
	}
	if calls["_OTHER error"] != 1 || calls["Read ok"] != 2 || calls["Outer ok"] != 1 || calls["Read error"] != 1 {
		t.Errorf("calls %v", calls)
	}
	for _, name := range []string{"gen_ai.execute_tool.duration", "toolquay.tool.guest_time", "toolquay.tool.queue_time", "toolquay.tool.result_size", "toolquay.capability.duration"} {
		points := c.metric(name).GetHistogram().GetDataPoints()
		if len(points) == 0 || points[0].Count == 0 {
			t.Errorf("%s was not measured", name)
		}
	}
	for _, p := range c.metric("toolquay.tool.running").GetSum().GetDataPoints() {
		if p.GetAsInt() != 0 {
			t.Errorf("running %v", p)
		}
	}
}

func checkRequests(t *testing.T, c *collector) {
	t.Helper()
	for _, r := range c.requests {
		if r.Header.Get("Authorization") != "Bearer hush" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL, r.Header)
		}
	}
}

// TestReceiversThatFail: no call is failed or held up by them, and who shuts down does
// not wait for long.
func TestReceiversThatFail(t *testing.T) {
	t.Parallel()
	gone := &collector{Server: &httptest.Server{URL: "http://127.0.0.1:1"}} // a port that no test is given
	slow, done := newCollector(t), make(chan struct{})
	t.Cleanup(func() { close(done) })
	slow.answer = func(http.ResponseWriter, *http.Request) bool { <-done; return true }
	busy, refusing, elsewhere := newCollector(t), newCollector(t), newCollector(t)
	answering := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			http.Error(w, "no "+r.Header.Get("Authorization"), code)
			return true
		}
	}
	busy.answer, refusing.answer, elsewhere.answer = answering(503), answering(400), answering(307)
	for name, tt := range map[string]struct {
		at  *collector
		log string
	}{
		"gone": {gone, "connection refused"}, "slow": {slow, "context "}, "busy": {busy, "503 Service Unavailable"},
		"refusing": {refusing, "400 Bad Request"}, "elsewhere": {elsewhere, "307 Temporary Redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := otlp.To(tt.at.URL, map[string]string{"Authorization": "hush"})
			l := newLab(t, config)
			// More than the SDK's queue holds.
			const calls = 800
			took := testenv.Took(func() {
				for range calls {
					if r := l.run(t, read("1", "a.txt"))[0]; r.IsError {
						t.Fatal(r.Text())
					}
				}
			})
			if took > testenv.Patience {
				t.Errorf("the calls took %v", took)
			}
			const limit = 2 * time.Second // in which what is left is begun to be sent, also on a busy machine
			testenv.InTime(t, limit+200*time.Millisecond, func() time.Duration {
				return testenv.Took(func() { _ = l.shutdown(t, limit) })
			})
			// What was given up tells so when it has ended.
			if log := l.log.of(t, 2); !strings.Contains(log, tt.log) || strings.Contains(log, "hush") {
				t.Errorf("the log says %s", log)
			}
		})
	}
}

// TestShutdownGivesUp: what is under way when its time is over ends then, and not when
// the request's own time is.
func TestShutdownGivesUp(t *testing.T) {
	t.Parallel()
	c, done := newCollector(t), make(chan struct{})
	t.Cleanup(func() { close(done) })
	c.answer = func(http.ResponseWriter, *http.Request) bool { <-done; return true }
	l := newLab(t, otlp.Config{Traces: otlp.Target{URL: c.URL + "/v1/traces", Timeout: time.Hour}})
	l.run(t, read("1", "a.txt"))
	if err := l.shutdown(t, 50*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("shutting down: %v", err)
	}
	if log := l.log.of(t, 1); !strings.Contains(log, "context canceled") {
		t.Errorf("the log says %s", log)
	}
}

// TestHTTPS trusts a receiver by the certificate that a variable names, and no other.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	secure := httptest.NewTLSServer(c.Config.Handler)
	t.Cleanup(secure.Close)
	trusted := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(trusted, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, certificate := range []string{trusted, ""} {
		vars := map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": secure.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE": certificate, "OTEL_METRICS_EXPORTER": "none",
		}
		config, _, err := otlp.FromEnv(func(name string) string { return vars[name] })
		if err != nil {
			t.Fatal(err)
		}
		l := newLab(t, config)
		l.run(t, read("1", "a.txt"))
		if err := l.shutdown(t, testenv.Patience); err != nil {
			t.Fatal(err)
		}
		log := l.log.String()
		if certificate != "" && (log != "" || len(c.all(t)) == 0) {
			t.Errorf("trusted: %d spans, %s", len(c.all(t)), log)
		}
		if certificate == "" && !strings.Contains(log, "certificate") {
			t.Errorf("not trusted: %s", log)
		}
	}
}

// TestProxy: requests go through the proxy that the configuration names.
func TestProxy(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	config := otlp.To("http://receiver.example.com:4318", nil)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tunnel(t, w, r, c.Listener.Addr().String()) }))
	t.Cleanup(proxy.Close)
	config.Proxy = &url.URL{Scheme: "http", Host: proxy.Listener.Addr().String()}
	l := newLab(t, config)
	l.run(t, read("1", "a.txt"))
	if err := l.shutdown(t, testenv.Patience); err != nil || len(c.all(t)) == 0 {
		t.Errorf("%v, %s", err, l.log)
	}
	for _, r := range c.requests {
		if r.Host != "receiver.example.com:4318" {
			t.Errorf("a request for %s", r.Host)
		}
	}
}

// tunnel answers CONNECT to the receiver by a connection to where it is.
func tunnel(t *testing.T, w http.ResponseWriter, r *http.Request, to string) {
	t.Helper()
	if r.Method != http.MethodConnect || r.Host != "receiver.example.com:4318" {
		t.Errorf("the proxy was asked %s %s", r.Method, r.Host)
	}
	up, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	defer up.Close()
	down, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer down.Close()
	_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(up, down); _ = relay.CloseWrite(up) }()
	_, _ = io.Copy(down, up)
}

// TestABusyReceiverIsTriedAgain: what it refuses for now arrives later.
func TestABusyReceiverIsTriedAgain(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	var mu sync.Mutex
	tried := 0
	c.answer = func(w http.ResponseWriter, _ *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if tried++; tried == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	}
	config := otlp.To(c.URL, nil)
	config.Metrics.URL = ""
	l := newLab(t, config)
	for range 200 { // more than the 512 spans that the SDK does not keep for five seconds
		l.run(t, read("1", "a.txt"))
	}
	c.when(t, "spans", func() bool { return len(c.spans) > 0 })
	if err := l.shutdown(t, testenv.Patience); err != nil || l.log.String() != "" {
		t.Errorf("%v, %s", err, l.log)
	}
}

func TestOpenFaults(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]otlp.Config{
		"telemetry has no endpoint":                   {},
		"the endpoint of telemetry is no URL such as": otlp.To("localhost:4318", nil),
		"the endpoint of telemetry is no URL":         otlp.To("http://[hush", nil),
		"no URL such as http://localhost:4318":        otlp.To("ftp://example.com", nil),
		"has a user, a query or a fragment":           {Metrics: otlp.Target{URL: "http://u:hush@example.com"}},
		"has a user, a query":                         {Traces: otlp.Target{URL: "http://example.com/?hush"}},
	} {
		if _, err := otlp.Open(c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
