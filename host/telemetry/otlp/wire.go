package otlp

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// message is a message in the encoding of Protocol Buffers. The numbers of fields are
// those of the files opentelemetry/proto/{trace,metrics,common,resource}/v1/*.proto,
// which never change.
type message []byte

// The types of fields on the wire.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

func (m *message) tag(field, wire int) {
	*m = binary.AppendUvarint(*m, uint64(field)<<3|uint64(wire)) //nolint:gosec // both are small
}

func (m *message) number(field int, v uint64) {
	m.tag(field, wireVarint)
	*m = binary.AppendUvarint(*m, v)
}

func (m *message) count(field, n int) { m.number(field, uint64(max(n, 0))) } //nolint:gosec // it is not negative

func (m *message) flag(field int, v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	m.number(field, n)
}

func (m *message) fixed(field int, v uint64) {
	m.tag(field, wireFixed64)
	*m = binary.LittleEndian.AppendUint64(*m, v)
}

func (m *message) float(field int, v float64) { m.fixed(field, math.Float64bits(v)) }

func (m *message) time(field int, t time.Time) { m.fixed(field, uint64(max(t.UnixNano(), 0))) } //nolint:gosec // it is not negative

func (m *message) bytes(field int, v []byte) {
	m.tag(field, wireBytes)
	*m = append(binary.AppendUvarint(*m, uint64(len(v))), v...)
}

// text adds a text in UTF-8: receivers refuse a request with any other.
func (m *message) text(field int, v string) { m.bytes(field, []byte(strings.ToValidUTF8(v, "\uFFFD"))) }

// inner adds a message within this one.
func (m *message) inner(field int, write func(m *message)) {
	var in message
	write(&in)
	m.bytes(field, in)
}

// fixeds adds a packed list.
func (m *message) fixeds(field int, list []uint64) {
	m.tag(field, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(8*len(list)))
	for _, v := range list {
		*m = binary.LittleEndian.AppendUint64(*m, v)
	}
}

func (m *message) attributes(field int, list []attribute.KeyValue) {
	for _, a := range list {
		m.inner(field, func(m *message) {
			m.text(1, string(a.Key))
			m.inner(2, func(m *message) { m.value(a.Value) })
		})
	}
}

// value adds what an attribute holds. Of lists there are none here; one would be a text.
func (m *message) value(v attribute.Value) {
	switch v.Type() {
	case attribute.BOOL:
		m.flag(2, v.AsBool())
	case attribute.INT64:
		m.number(3, uint64(v.AsInt64())) //nolint:gosec // that is how negative ones are written
	case attribute.FLOAT64:
		m.float(4, v.AsFloat64())
	default:
		m.text(1, v.String())
	}
}

func putResource(m *message, r *resource.Resource) {
	m.inner(1, func(m *message) { m.attributes(1, r.Attributes()) })
	m.text(3, r.SchemaURL())
}

func putScope(m *message, s instrumentation.Scope) {
	m.inner(1, func(m *message) {
		m.text(1, s.Name)
		m.text(2, s.Version)
		m.attributes(3, s.Attributes.ToSlice())
	})
	m.text(3, s.SchemaURL)
}

// encodeSpans is an ExportTraceServiceRequest. All spans are of one provider and of
// package telemetry's scope. They have no links.
func encodeSpans(spans []sdktrace.ReadOnlySpan) message {
	var m message
	m.inner(1, func(m *message) {
		putResource(m, spans[0].Resource())
		m.inner(2, func(m *message) {
			putScope(m, spans[0].InstrumentationScope())
			for _, s := range spans {
				m.inner(2, func(m *message) { putSpan(m, s) })
			}
		})
	})
	return m
}

// What a span's flags say beside those of the trace.
const (
	flagRemoteKnown = 0x100
	flagRemote      = 0x200
)

func putSpan(m *message, s sdktrace.ReadOnlySpan) {
	own, parent := s.SpanContext(), s.Parent()
	trace, id := own.TraceID(), own.SpanID()
	m.bytes(1, trace[:])
	m.bytes(2, id[:])
	m.text(3, own.TraceState().String())
	flags := uint32(own.TraceFlags()) | flagRemoteKnown
	if parent.HasSpanID() {
		above := parent.SpanID()
		m.bytes(4, above[:])
	}
	if parent.IsRemote() {
		flags |= flagRemote
	}
	m.text(5, s.Name())
	m.count(6, int(s.SpanKind()))
	m.time(7, s.StartTime())
	m.time(8, s.EndTime())
	m.attributes(9, s.Attributes())
	m.count(10, s.DroppedAttributes())
	for _, e := range s.Events() {
		m.inner(11, func(m *message) {
			m.time(1, e.Time)
			m.text(2, e.Name)
			m.attributes(3, e.Attributes)
			m.count(4, e.DroppedAttributeCount)
		})
	}
	m.count(12, s.DroppedEvents())
	m.inner(15, func(m *message) {
		m.text(2, s.Status().Description)
		m.number(3, statusCodes[s.Status().Code])
	})
	m.tag(16, wireFixed32)
	*m = binary.LittleEndian.AppendUint32(*m, flags)
}

// statusCodes are the protocol's, which has other numbers than the API.
var statusCodes = map[codes.Code]uint64{codes.Unset: 0, codes.Ok: 1, codes.Error: 2}

// encodeMetrics is an ExportMetricsServiceRequest.
func encodeMetrics(rm *metricdata.ResourceMetrics) message {
	var m message
	m.inner(1, func(m *message) {
		putResource(m, rm.Resource)
		for _, s := range rm.ScopeMetrics {
			m.inner(2, func(m *message) {
				putScope(m, s.Scope)
				for i := range s.Metrics {
					m.inner(2, func(m *message) { putMetric(m, &s.Metrics[i]) })
				}
			})
		}
	})
	return m
}

// putMetric adds one of the kinds of instruments that package telemetry has. They measure
// outside spans, and so have no exemplars.
func putMetric(m *message, from *metricdata.Metrics) {
	m.text(1, from.Name)
	m.text(2, from.Description)
	m.text(3, from.Unit)
	switch data := from.Data.(type) {
	case metricdata.Sum[int64]:
		m.inner(7, func(m *message) { putSum(m, data) })
	case metricdata.Histogram[int64]:
		m.inner(9, func(m *message) { putHistogram(m, data) })
	case metricdata.Histogram[float64]:
		m.inner(9, func(m *message) { putHistogram(m, data) })
	}
}

// temporalities are the protocol's numbers.
var temporalities = map[metricdata.Temporality]uint64{metricdata.DeltaTemporality: 1, metricdata.CumulativeTemporality: 2}

func putSum(m *message, s metricdata.Sum[int64]) {
	for _, p := range s.DataPoints {
		m.inner(1, func(m *message) {
			m.time(2, p.StartTime)
			m.time(3, p.Time)
			m.fixed(6, uint64(p.Value)) //nolint:gosec // that is how negative ones are written
			m.attributes(7, p.Attributes.ToSlice())
		})
	}
	m.number(2, temporalities[s.Temporality])
	m.flag(3, s.IsMonotonic)
}

func putHistogram[N int64 | float64](m *message, h metricdata.Histogram[N]) {
	for _, p := range h.DataPoints {
		m.inner(1, func(m *message) {
			m.time(2, p.StartTime)
			m.time(3, p.Time)
			m.fixed(4, p.Count)
			m.float(5, float64(p.Sum))
			m.fixeds(6, p.BucketCounts)
			bounds := make([]uint64, len(p.Bounds))
			for i, b := range p.Bounds {
				bounds[i] = math.Float64bits(b)
			}
			m.fixeds(7, bounds)
			m.attributes(9, p.Attributes.ToSlice())
			if v, ok := p.Min.Value(); ok {
				m.float(11, float64(v))
			}
			if v, ok := p.Max.Value(); ok {
				m.float(12, float64(v))
			}
		})
	}
	m.number(2, temporalities[h.Temporality])
}
