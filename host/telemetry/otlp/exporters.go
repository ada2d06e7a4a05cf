package otlp

import (
	"context"
	"os"
	"strings"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// spanExporter sends spans. Failures are for the sender's log: the SDK would tell of
// each on standard error, unless the whole process has another handler.
type spanExporter struct{ *sender }

var _ sdktrace.SpanExporter = spanExporter{}

// ExportSpans sends a batch.
func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) > 0 {
		e.send(ctx, encodeSpans(spans))
	}
	return nil
}

// Shutdown does nothing: the SDK calls it when nothing is under way any more.
func (e spanExporter) Shutdown(context.Context) error { return nil }

// metricExporter sends metrics.
type metricExporter struct {
	*sender
	sdkmetric.TemporalitySelector
}

var _ sdkmetric.Exporter = metricExporter{}

// newMetricExporter makes an exporter with the temporality that the standard variable
// of the process asks for.
func newMetricExporter(s *sender) metricExporter {
	e := metricExporter{s, sdkmetric.DefaultTemporalitySelector}
	switch strings.ToLower(os.Getenv(prefix + "METRICS_TEMPORALITY_PREFERENCE")) {
	case "delta":
		e.TemporalitySelector = sdkmetric.DeltaTemporalitySelector
	case "lowmemory":
		e.TemporalitySelector = sdkmetric.LowMemoryTemporalitySelector
	}
	return e
}

// Temporality is that of an instrument.
func (e metricExporter) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return e.TemporalitySelector(k)
}

// Aggregation is the SDK's own: histograms have the bounds that package telemetry gives.
func (e metricExporter) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

// Export sends what was collected, if anything was.
func (e metricExporter) Export(ctx context.Context, rm *metricdata.ResourceMetrics) error {
	if len(rm.ScopeMetrics) > 0 {
		e.send(ctx, encodeMetrics(rm))
	}
	return nil
}

// ForceFlush does nothing: nothing is kept.
func (e metricExporter) ForceFlush(context.Context) error { return nil }

// Shutdown does nothing: the SDK calls it when nothing is under way any more.
func (e metricExporter) Shutdown(context.Context) error { return nil }
