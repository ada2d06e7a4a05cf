package otlp

import (
	"context"
	"math"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// the expected resource and scope of both kinds.
var (
	about     = resource.NewWithAttributes("https://example.com/resource", attribute.String("service.name", "s"))
	scope     = instrumentation.Scope{Name: "scope", Version: "v2", SchemaURL: "https://example.com/scope", Attributes: attribute.NewSet(attribute.String("a", "b"))}
	wantAbout = &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", "s")}}
	wantScope = &commonpb.InstrumentationScope{Name: "scope", Version: "v2", Attributes: []*commonpb.KeyValue{text("a", "b")}}
)

// decoded decodes a message by OpenTelemetry's definitions, and wants no field that
// they do not have.
func decoded[M proto.Message](t *testing.T, from message, into, want M) {
	t.Helper()
	if err := proto.Unmarshal(from, into); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(into, want) {
		t.Errorf("got  %v\nwant %v", into, want)
	}
}

func TestEncodeSpans(t *testing.T) {
	t.Parallel()
	state, err := trace.ParseTraceState("k=v")
	if err != nil {
		t.Fatal(err)
	}
	own := trace.SpanContextConfig{TraceID: trace.TraceID{1, 2, 15: 16}, SpanID: trace.SpanID{1, 7: 8}, TraceFlags: trace.FlagsSampled, TraceState: state}
	above := own
	above.SpanID, above.Remote = trace.SpanID{9}, true
	start := time.Unix(1_700_000_000, 5)
	spans := tracetest.SpanStubs{
		{
			Name: "bad \xff", SpanContext: trace.NewSpanContext(own), Parent: trace.NewSpanContext(above), SpanKind: trace.SpanKindClient,
			StartTime: start, EndTime: start.Add(time.Second), Resource: about, InstrumentationScope: scope,
			Attributes: []attribute.KeyValue{
				attribute.String("s", ""), attribute.Int64("n", -5), attribute.Float64("f", 0.5), attribute.Bool("yes", true), attribute.Bool("no", false),
				attribute.StringSlice("list", []string{"a", "b"}),
			},
			Events: []sdktrace.Event{{Name: "e", Time: start.Add(1), Attributes: []attribute.KeyValue{attribute.String("k", "v")}, DroppedAttributeCount: 300}},
			Status: sdktrace.Status{Code: codes.Error, Description: "why"}, DroppedAttributes: 1, DroppedEvents: 2,
		},
		{Name: "second", SpanContext: trace.NewSpanContext(own), SpanKind: trace.SpanKindInternal, StartTime: start, EndTime: start, Status: sdktrace.Status{Code: codes.Ok}},
	}.Snapshots()
	value := func(key string, v *commonpb.AnyValue) *commonpb.KeyValue {
		return &commonpb.KeyValue{Key: key, Value: v}
	}
	nanos := uint64(1_700_000_000_000_000_005)
	trace, id := own.TraceID[:], own.SpanID[:]
	decoded(t, encodeSpans(spans), &tracepb.TracesData{}, &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: wantAbout, SchemaUrl: "https://example.com/resource",
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: wantScope, SchemaUrl: "https://example.com/scope",
			Spans: []*tracepb.Span{
				{
					TraceId: trace, SpanId: id, TraceState: "k=v", ParentSpanId: above.SpanID[:], Name: "bad \uFFFD", Kind: tracepb.Span_SPAN_KIND_CLIENT,
					StartTimeUnixNano: nanos, EndTimeUnixNano: nanos + 1e9, Flags: 0x301,
					Attributes: []*commonpb.KeyValue{
						text("s", ""), value("n", &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: -5}}),
						value("f", &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: 0.5}}),
						value("yes", &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}}),
						value("no", &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{}}), text("list", `["a","b"]`),
					},
					Events: []*tracepb.Span_Event{{Name: "e", TimeUnixNano: nanos + 1, Attributes: []*commonpb.KeyValue{text("k", "v")}, DroppedAttributesCount: 300}},
					Status: &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: "why"}, DroppedAttributesCount: 1, DroppedEventsCount: 2,
				},
				{
					TraceId: trace, SpanId: id, TraceState: "k=v", Name: "second", Kind: tracepb.Span_SPAN_KIND_INTERNAL, StartTimeUnixNano: nanos,
					EndTimeUnixNano: nanos, Flags: 0x101, Status: &tracepb.Status{Code: tracepb.Status_STATUS_CODE_OK},
				},
			},
		}},
	}}})
}

// TestEncodeMetrics measures with each kind of instrument that package telemetry has.
func TestEncodeMetrics(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader(sdkmetric.WithTemporalitySelector(sdkmetric.DeltaTemporalitySelector))
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about)).
		Meter("scope", metric.WithInstrumentationVersion("v2"), metric.WithSchemaURL("https://example.com/scope"), metric.WithInstrumentationAttributes(attribute.String("a", "b")))
	counter, err1 := meters.Int64Counter("counter", metric.WithUnit("By"), metric.WithDescription("counts"))
	running, err2 := meters.Int64UpDownCounter("running")
	times, err3 := meters.Float64Histogram("times", metric.WithExplicitBucketBoundaries(0.5, 1))
	sizes, err4 := meters.Int64Histogram("sizes", metric.WithExplicitBucketBoundaries(10))
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, with := context.Background(), metric.WithAttributes(attribute.String("k", "v"))
	counter.Add(ctx, 300, with)
	running.Add(ctx, -1)
	times.Record(ctx, 0.25, with)
	times.Record(ctx, math.Pi)
	sizes.Record(ctx, 0)
	sizes.Record(ctx, 7)
	var rm metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &rm); err != nil {
		t.Fatal(err)
	}
	begun, at := uint64(1_600_000_000_000_000_000), uint64(1_700_000_000_000_000_000)
	setTimes(&rm, time.Unix(0, int64(begun)), time.Unix(0, int64(at)))
	kv := []*commonpb.KeyValue{text("k", "v")}
	const delta, cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA, metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	sum := func(s *metricspb.Sum) *metricspb.Metric_Sum { return &metricspb.Metric_Sum{Sum: s} }
	point := func(v float64, bounds []float64, counts []uint64, attrs []*commonpb.KeyValue) *metricspb.HistogramDataPoint {
		return &metricspb.HistogramDataPoint{StartTimeUnixNano: begun, TimeUnixNano: at, Count: 1, Sum: &v, Min: &v, Max: &v, ExplicitBounds: bounds, BucketCounts: counts, Attributes: attrs}
	}
	histogram := func(points ...*metricspb.HistogramDataPoint) *metricspb.Metric_Histogram {
		return &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{AggregationTemporality: delta, DataPoints: points}}
	}
	sized := point(7, []float64{10}, []uint64{2, 0}, nil)
	sized.Count, sized.Min = 2, proto.Float64(0)
	decoded(t, encodeMetrics(&rm), &metricspb.MetricsData{}, &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: wantAbout, SchemaUrl: "https://example.com/resource",
		ScopeMetrics: []*metricspb.ScopeMetrics{{
			Scope: wantScope, SchemaUrl: "https://example.com/scope",
			Metrics: []*metricspb.Metric{
				{Name: "counter", Unit: "By", Description: "counts", Data: sum(&metricspb.Sum{AggregationTemporality: delta, IsMonotonic: true, DataPoints: []*metricspb.NumberDataPoint{
					{StartTimeUnixNano: begun, TimeUnixNano: at, Attributes: kv, Value: &metricspb.NumberDataPoint_AsInt{AsInt: 300}},
				}})},
				{Name: "running", Data: sum(&metricspb.Sum{AggregationTemporality: cumulative, DataPoints: []*metricspb.NumberDataPoint{
					{StartTimeUnixNano: begun, TimeUnixNano: at, Value: &metricspb.NumberDataPoint_AsInt{AsInt: -1}},
				}})},
				{Name: "times", Data: histogram(point(0.25, []float64{0.5, 1}, []uint64{1, 0, 0}, kv), point(math.Pi, []float64{0.5, 1}, []uint64{0, 0, 1}, nil))},
				{Name: "sizes", Data: histogram(sized)},
			},
		}},
	}}})
}

// setTimes makes the times of all measurements known, and puts those with attributes first.
func setTimes(rm *metricdata.ResourceMetrics, begun, at time.Time) {
	for i := range rm.ScopeMetrics[0].Metrics {
		switch data := rm.ScopeMetrics[0].Metrics[i].Data.(type) {
		case metricdata.Sum[int64]:
			for j := range data.DataPoints {
				data.DataPoints[j].StartTime, data.DataPoints[j].Time = begun, at
			}
		case metricdata.Histogram[int64]:
			for j := range data.DataPoints {
				data.DataPoints[j].StartTime, data.DataPoints[j].Time = begun, at
			}
		case metricdata.Histogram[float64]:
			if p := data.DataPoints; p[0].Attributes.Len() == 0 {
				p[0], p[1] = p[1], p[0]
			}
			for j := range data.DataPoints {
				data.DataPoints[j].StartTime, data.DataPoints[j].Time = begun, at
			}
		}
	}
}

// TestRejected reads answers that say how much was not taken.
func TestRejected(t *testing.T) {
	t.Parallel()
	long := append([]byte{0x0a, 0x84, 0x02, 0x08, 0xac, 0x02, 0x12, 0xff, 0x01}, make([]byte, 255)...)
	for _, tt := range []struct {
		answer []byte
		want   uint64
	}{
		{nil, 0}, {[]byte("{}"), 0}, {[]byte{0x0a}, 0}, {[]byte{0x0a, 0}, 0}, {[]byte{0x0a, 2, 0x08}, 0},
		{[]byte{0x0a, 2, 0x08, 7}, 7}, {long, 300}, {[]byte{0x0a, 3, 0x12, 1, 'a'}, 0},
	} {
		if got := rejected(tt.answer); got != tt.want {
			t.Errorf("%x: %d, want %d", tt.answer, got, tt.want)
		}
	}
}
