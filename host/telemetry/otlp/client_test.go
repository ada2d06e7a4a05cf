package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/toolquay/toolquay/internal/testenv"
)

func senderTo(t *testing.T, target *Target, serve http.HandlerFunc) *sender {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	target.URL = server.URL
	s := newSender("traces", target, &Config{Version: "v9"})
	t.Cleanup(s.http.CloseIdleConnections)
	return s
}

// TestAnswers looks at what is made of each kind of answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code              int
		kind, after, body string
		again             bool
		atLeast, less     time.Duration
		want              string
	}{
		"taken":           {code: 200, body: "\x0a\x02\x08\x07"},
		"accepted":        {code: 202},
		"in part":         {code: 200, kind: "application/x-protobuf", body: "\x0a\x0a\x08\x07\x12\x06hushed", want: "took all but 7"},
		"nothing refused": {code: 200, kind: "application/x-protobuf", body: "\x0a\x02\x08\x00"},
		"unavailable":     {code: 503, body: "hush", again: true, want: "answers 503 Service Unavailable"},
		"too many":        {code: 429, after: "7", again: true, atLeast: 7 * time.Second, less: 8 * time.Second, want: "answers 429"},
		"gateway":         {code: 502, after: "soon", again: true, want: "answers 502"},
		"gateway, a date": {code: 504, after: "Fri, 31 Dec 2100 23:59:59 GMT", again: true, atLeast: time.Hour, less: 1 << 62, want: "answers 504"},
		"refused":         {code: 400, after: "7", body: "hush", atLeast: 7 * time.Second, less: 8 * time.Second, want: "answers 400 Bad Request"},
		"broken":          {code: 500, want: "answers 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := senderTo(t, &Target{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				if tt.after != "" {
					w.Header().Set("Retry-After", tt.after)
				}
				w.WriteHeader(tt.code)
				_, _ = io.WriteString(w, tt.body)
			})
			again, after, err := s.once(t.Context(), nil)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if again != tt.again || after < tt.atLeast || after > tt.less || (err == nil) != (tt.want == "") || !strings.Contains(text, tt.want) || strings.Contains(text, "hush") {
				t.Errorf("again %v, after %v, %q", again, after, text)
			}
		})
	}
}

// TestRepeating: each repetition sends the whole body, none is tried that would come too
// late, and one that waits ends with its context.
func TestRepeating(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	var after atomic.Value
	after.Store("0")
	target := &Target{Gzip: true, Headers: map[string]string{"X-Own": "1", "Content-Type": "text/none"}}
	s := senderTo(t, target, func(w http.ResponseWriter, r *http.Request) {
		zipped, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		if body, err := io.ReadAll(zipped); string(body) != "spans" || err != nil {
			t.Errorf("%q, %v", body, err)
		}
		h := r.Header
		if h.Get("Content-Encoding") != "gzip" || h.Get("X-Own") != "1" || h.Get("Content-Type") != "application/x-protobuf" || h.Get("User-Agent") != "OTel-OTLP-Exporter-Toolquay/v9" {
			t.Errorf("%v", h)
		}
		if tries.Add(1) != 2 {
			w.Header().Set("Retry-After", after.Load().(string))
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	body := target.pack(message("spans"))
	if err := s.repeat(t.Context(), body); err != nil || tries.Load() != 2 {
		t.Errorf("%d tries, %v", tries.Load(), err)
	}
	after.Store("7200")
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := s.repeat(ctx, body); err == nil || !strings.Contains(err.Error(), "503") || ctx.Err() != nil || tries.Load() != 3 {
		t.Errorf("%d tries, %v", tries.Load(), err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { failed <- s.repeat(ctx, body) }()
	for end := time.Now().Add(testenv.Patience); tries.Load() < 4 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !bytes.Equal(target.pack(message("spans")), body) {
		t.Error("the body changed")
	}
}

// TestTemporality: the standard variable of the process says it.
func TestTemporality(t *testing.T) {
	for value, want := range map[string][3]metricdata.Temporality{
		"":          {metricdata.CumulativeTemporality, metricdata.CumulativeTemporality, metricdata.CumulativeTemporality},
		"nonsense":  {metricdata.CumulativeTemporality, metricdata.CumulativeTemporality, metricdata.CumulativeTemporality},
		"Delta":     {metricdata.DeltaTemporality, metricdata.CumulativeTemporality, metricdata.DeltaTemporality},
		"lowmemory": {metricdata.DeltaTemporality, metricdata.CumulativeTemporality, metricdata.CumulativeTemporality},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", value)
		e := newMetricExporter(nil)
		got := [3]metricdata.Temporality{e.Temporality(sdkmetric.InstrumentKindCounter), e.Temporality(sdkmetric.InstrumentKindUpDownCounter), e.Temporality(sdkmetric.InstrumentKindObservableCounter)}
		if got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}
