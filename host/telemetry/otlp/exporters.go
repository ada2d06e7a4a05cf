package otlp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// spanExporter is the SDK's exporter of spans, with failures told as a sender does.
type spanExporter struct {
	*otlptrace.Exporter
	*sender
}

var _ sdktrace.SpanExporter = (*spanExporter)(nil)

// newSpanExporter makes an exporter. Every option is given, so that variables of the
// process have no say in what the configuration says.
func newSpanExporter(c *Config) (*spanExporter, error) {
	t, s := &c.Traces, newSender("traces", &c.Traces, c)
	compression := otlptracehttp.NoCompression
	if t.Gzip {
		compression = otlptracehttp.GzipCompression
	}
	e, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(t.URL),
		otlptracehttp.WithHeaders(t.Headers),
		otlptracehttp.WithEncoding(otlptracehttp.EncodingProtobuf),
		otlptracehttp.WithCompression(compression),
		otlptracehttp.WithTLSClientConfig(t.TLS),
		otlptracehttp.WithHTTPClient(s.http),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig(t.retries())),
	)
	if err != nil {
		return nil, err
	}
	return &spanExporter{e, s}, nil
}

// ExportSpans sends a batch.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	e.send(ctx, func(ctx context.Context) error { return e.Exporter.ExportSpans(ctx, spans) })
	return nil
}

// Shutdown does nothing: the SDK calls it when nothing is under way any more.
func (e *spanExporter) Shutdown(context.Context) error { return nil }

// end gives up what is under way.
func (e *spanExporter) end(ctx context.Context) { _ = e.Exporter.Shutdown(ctx) }

// metricExporter is the same for metrics.
type metricExporter struct {
	*otlpmetrichttp.Exporter
	*sender
}

var _ sdkmetric.Exporter = (*metricExporter)(nil)

func newMetricExporter(c *Config) (*metricExporter, error) {
	t, s := &c.Metrics, newSender("metrics", &c.Metrics, c)
	compression := otlpmetrichttp.NoCompression
	if t.Gzip {
		compression = otlpmetrichttp.GzipCompression
	}
	e, err := otlpmetrichttp.New(context.Background(),
		otlpmetrichttp.WithEndpointURL(t.URL),
		otlpmetrichttp.WithHeaders(t.Headers),
		otlpmetrichttp.WithCompression(compression),
		otlpmetrichttp.WithTLSClientConfig(t.TLS),
		otlpmetrichttp.WithHTTPClient(s.http),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig(t.retries())),
	)
	if err != nil {
		return nil, err
	}
	return &metricExporter{e, s}, nil
}

// Export sends what was collected, if anything was.
func (e *metricExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	if len(rm.ScopeMetrics) > 0 {
		e.send(ctx, func(ctx context.Context) error { return e.Exporter.Export(ctx, rm) })
	}
	return nil
}

// sender sends one kind of telemetry. It tells the log that this has begun to fail, or
// works again, once each; the SDK would tell of every failure on standard error, unless
// the whole process has another handler.
type sender struct {
	what   string
	logger *slog.Logger
	failed atomic.Bool
	http   *http.Client
	limit  time.Duration
}

func newSender(what string, t *Target, c *Config) *sender {
	return &sender{what: what, logger: c.Logger, http: t.client(c.Proxy), limit: t.limit()}
}

// send sends a request, in the time that one may take.
func (s *sender) send(ctx context.Context, export func(context.Context) error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	err := export(ctx)
	switch {
	case err != nil && !s.failed.Swap(true):
		s.logger.Warn("telemetry cannot be sent, and is lost while that lasts", "what", s.what, "error", err)
	case err == nil && s.failed.Swap(false):
		s.logger.Info("telemetry is sent again", "what", s.what)
	}
}

// limit bounds a request with its repetitions.
func (t *Target) limit() time.Duration { return cmp.Or(t.Timeout, DefaultTimeout) }

// retries are the fields of both exporters' RetryConfig.
type retries struct {
	Enabled         bool
	InitialInterval time.Duration
	MaxInterval     time.Duration
	MaxElapsedTime  time.Duration
}

// retries say when a request is sent again that a receiver was too busy for.
func (t *Target) retries() retries {
	return retries{Enabled: true, InitialInterval: 500 * time.Millisecond, MaxInterval: 30 * time.Second, MaxElapsedTime: t.limit()}
}
