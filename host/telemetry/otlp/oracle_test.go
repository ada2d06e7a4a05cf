package otlp_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/toolquay/toolquay/host/telemetry/otlp"
)

// TestSpansAreThoseOfTheSDKsExporter sends the same spans by both, and wants the same
// to arrive.
func TestSpansAreThoseOfTheSDKsExporter(t *testing.T) {
	t.Parallel()
	spans := madeSpans(t)
	ours, theirs := newCollector(t), newCollector(t)
	reference, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(theirs.URL+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(reference.ExportSpans(t.Context(), spans), otlp.ExportSpans(t.Context(), ours.URL+"/v1/traces", spans))
	if err != nil {
		t.Fatal(err)
	}
	if len(ours.spans) == 0 || len(ours.spans) != len(theirs.spans) {
		t.Fatalf("%d resources, want %d", len(ours.spans), len(theirs.spans))
	}
	slices.SortFunc(theirs.spans, func(a, b *traces.ResourceSpans) int { return len(a.ScopeSpans) - len(b.ScopeSpans) }) // of a map
	slices.SortFunc(ours.spans, func(a, b *traces.ResourceSpans) int { return len(a.ScopeSpans) - len(b.ScopeSpans) })
	for i := range theirs.spans {
		if !proto.Equal(ours.spans[i], theirs.spans[i]) {
			t.Errorf("got:\n%v\nwant:\n%v", ours.spans[i], theirs.spans[i])
		}
	}
}

// madeSpans have everything that spans can have.
func madeSpans(t *testing.T) []sdktrace.ReadOnlySpan {
	t.Helper()
	kept := tracetest.NewInMemoryExporter()
	ctx := t.Context()
	for i, service := range []string{"a", "b"} {
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept),
			sdktrace.WithResource(resource.NewWithAttributes("https://example.com/schema", attribute.String("service.name", service))),
			sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
				AttributeValueLengthLimit: -1, AttributeCountLimit: 8, EventCountLimit: 2, LinkCountLimit: 1,
				AttributePerEventCountLimit: 1, AttributePerLinkCountLimit: 1,
			}))
		remote := trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1, 2}, SpanID: trace.SpanID{3}, TraceFlags: trace.FlagsSampled, Remote: true,
		})
		state, err := trace.ParseTraceState("vendor=1")
		if err != nil {
			t.Fatal(err)
		}
		parent, root := provider.Tracer("one", trace.WithInstrumentationVersion("1"), trace.WithInstrumentationAttributes(attribute.Bool("x", true))).
			Start(trace.ContextWithRemoteSpanContext(ctx, remote.WithTraceState(state)), "root", trace.WithSpanKind(trace.SpanKindServer))
		root.SetAttributes(attribute.String("text", "é"), attribute.String("empty", ""), attribute.Int("zero", 0), attribute.Int("less", -5),
			attribute.Bool("no", false), attribute.Float64("half", 0.5), attribute.StringSlice("list", []string{"a", ""}))
		for range 3 {
			root.AddEvent("event", trace.WithAttributes(attribute.Int("a", 1), attribute.Int("b", 2)))
			root.AddLink(trace.Link{SpanContext: remote, Attributes: []attribute.KeyValue{attribute.Int("a", 1), attribute.Int("b", 2)}})
		}
		_, child := provider.Tracer("one").Start(parent, "child", trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(time.Unix(0, 0)))
		child.SetStatus(codes.Error, "why")
		child.SetAttributes(attribute.Int("1", 1), attribute.Int("2", 1), attribute.Int("3", 1), attribute.Int("4", 1), attribute.Int("5", 1),
			attribute.Int("6", 1), attribute.Int("7", 1), attribute.Int("8", 1), attribute.Int("9", 1))
		child.End()
		if i == 1 {
			_, other := provider.Tracer("two", trace.WithSchemaURL("https://example.com/two")).Start(parent, "")
			other.SetStatus(codes.Ok, "")
			other.End()
		}
		root.End()
	}
	return kept.GetSpans().Snapshots()
}

// TestMetricsAreThoseOfTheSDKsExporter does the same with metrics.
func TestMetricsAreThoseOfTheSDKsExporter(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader(sdkmetric.WithTemporalitySelector(func(kind sdkmetric.InstrumentKind) metricdata.Temporality {
		if kind == sdkmetric.InstrumentKindCounter {
			return metricdata.DeltaTemporality
		}
		return metricdata.CumulativeTemporality
	}))
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(resource.NewSchemaless(attribute.String("service.name", "a"))))
	madeMetrics(t, provider)
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	ours, theirs := newCollector(t), newCollector(t)
	reference, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpointURL(theirs.URL+"/v1/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(reference.Export(t.Context(), &collected), otlp.ExportMetrics(t.Context(), ours.URL+"/v1/metrics", &collected))
	if err != nil {
		t.Fatal(err)
	}
	if len(ours.metrics) != 1 || !proto.Equal(ours.metrics[0], theirs.metrics[0]) {
		t.Errorf("got:\n%v\nwant:\n%v", ours.metrics, theirs.metrics)
	}
}

func madeMetrics(t *testing.T, provider *sdkmetric.MeterProvider) {
	t.Helper()
	ctx := context.Background()
	m := provider.Meter("one")
	counter, e1 := m.Int64Counter("count", metric.WithUnit("{call}"), metric.WithDescription("What it is"))
	updown, e2 := m.Int64UpDownCounter("level")
	whole, e3 := m.Int64Histogram("size")
	half, e4 := provider.Meter("two").Float64Histogram("time")
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		t.Fatal(err)
	}
	counter.Add(ctx, 3, named("a"))
	counter.Add(ctx, 0, named("b"))
	updown.Add(ctx, -2)
	for _, v := range []int64{0, 5, 700, 1 << 40} {
		whole.Record(ctx, v, named("a"))
		half.Record(ctx, float64(v)/3)
	}
	half.Record(ctx, -1, named("c"))
}

func named(name string) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("name", name))
}
