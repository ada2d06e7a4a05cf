package otlp

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// notice tells the log that sending has begun to fail, or works again, once each. The
// SDK would tell of every failure on standard error, unless the whole process has
// another handler.
type notice struct {
	what   string
	logger *slog.Logger
	failed atomic.Bool
}

func (n *notice) sent(err error) {
	switch {
	case err != nil && !n.failed.Swap(true):
		n.logger.Warn("telemetry cannot be sent, and is lost while that lasts", "what", n.what, "error", err)
	case err == nil && n.failed.Swap(false):
		n.logger.Info("telemetry is sent again", "what", n.what)
	}
}

// spanExporter sends spans.
type spanExporter struct {
	client *client
	notice *notice
}

var _ sdktrace.SpanExporter = (*spanExporter)(nil)

// ExportSpans sends a batch. Its failures are told here, and nowhere else.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) > 0 {
		e.notice.sent(e.client.send(ctx, encodeSpans(spans)))
	}
	return nil
}

// Shutdown has nothing to do: the client is closed by whoever made it.
func (e *spanExporter) Shutdown(context.Context) error { return nil }

// metricExporter sends metrics.
type metricExporter struct {
	client *client
	notice *notice
}

var _ sdkmetric.Exporter = (*metricExporter)(nil)

// Temporality is cumulative, which survives a request that is lost.
func (e *metricExporter) Temporality(sdkmetric.InstrumentKind) metricdata.Temporality {
	return metricdata.CumulativeTemporality
}

// Aggregation is what the SDK takes by itself.
func (e *metricExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

// Export sends what was collected. Its failures are told here, and nowhere else.
func (e *metricExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	if len(rm.ScopeMetrics) == 0 {
		return nil
	}
	body, err := encodeMetrics(rm)
	if err == nil {
		err = e.client.send(ctx, body)
	}
	e.notice.sent(err)
	return nil
}

// ForceFlush has nothing to do: nothing is held back here.
func (e *metricExporter) ForceFlush(context.Context) error { return nil }

// Shutdown has nothing to do: the client is closed by whoever made it.
func (e *metricExporter) Shutdown(context.Context) error { return nil }
