package otlp

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// ExportSpans sends spans at once.
func ExportSpans(ctx context.Context, url string, spans []sdktrace.ReadOnlySpan) error {
	c := newClient(ctx, Target{URL: url}, &Config{Timeout: DefaultTimeout})
	return (&spanExporter{c, &notice{logger: slog.New(slog.DiscardHandler)}}).ExportSpans(ctx, spans)
}

// ExportMetrics sends metrics at once.
func ExportMetrics(ctx context.Context, url string, rm *metricdata.ResourceMetrics) error {
	c := newClient(ctx, Target{URL: url}, &Config{Timeout: DefaultTimeout})
	return (&metricExporter{c, &notice{logger: slog.New(slog.DiscardHandler)}}).Export(ctx, rm)
}
