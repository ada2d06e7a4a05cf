package otlp

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// encodeSpans writes an ExportTraceServiceRequest.
func encodeSpans(spans []sdktrace.ReadOnlySpan) []byte {
	var m message
	for _, resource := range groups(spans, func(s sdktrace.ReadOnlySpan) attribute.Distinct { return s.Resource().Equivalent() }) {
		m.sub(1, func(m *message) {
			of := resource[0].Resource()
			m.resource(1, of)
			for _, scope := range groups(resource, sdktrace.ReadOnlySpan.InstrumentationScope) {
				m.sub(2, func(m *message) { m.scopeSpans(scope[0].InstrumentationScope(), scope) })
			}
			m.text(3, of.SchemaURL())
		})
	}
	return m
}

// groups puts together what has the same key, in the order in which keys appear.
func groups[T any, K comparable](list []T, key func(T) K) [][]T {
	var out [][]T
	at := make(map[K]int)
	for _, v := range list {
		k := key(v)
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], v)
	}
	return out
}

func (m *message) scopeSpans(scope instrumentation.Scope, spans []sdktrace.ReadOnlySpan) {
	m.scope(1, scope)
	for _, s := range spans {
		m.sub(2, func(m *message) { m.span(s) })
	}
	m.text(3, scope.SchemaURL)
}

func (m *message) span(s sdktrace.ReadOnlySpan) {
	m.identity(s.SpanContext())
	m.text(3, s.SpanContext().TraceState().String())
	if parent := s.Parent().SpanID(); parent.IsValid() {
		m.raw(4, parent[:])
	}
	m.text(5, s.Name())
	m.number(6, uint64(s.SpanKind())) // the numbers are the same
	m.time(7, s.StartTime())
	m.time(8, s.EndTime())
	m.attributes(9, s.Attributes())
	m.count(10, s.DroppedAttributes())
	for _, e := range s.Events() {
		m.sub(11, func(m *message) {
			m.time(1, e.Time)
			m.text(2, e.Name)
			m.attributes(3, e.Attributes)
			m.count(4, e.DroppedAttributeCount)
		})
	}
	m.count(12, s.DroppedEvents())
	for _, l := range s.Links() {
		m.sub(13, func(m *message) {
			m.identity(l.SpanContext)
			m.attributes(4, l.Attributes)
			m.count(5, l.DroppedAttributeCount)
			m.flags(6, flagsOf(l.SpanContext, l.SpanContext))
		})
	}
	m.count(14, s.DroppedLinks())
	m.sub(15, func(m *message) {
		m.text(2, s.Status().Description)
		m.number(3, statusOf(s.Status().Code))
	})
	m.flags(16, flagsOf(s.SpanContext(), s.Parent()))
}

func (m *message) identity(c trace.SpanContext) {
	traceID, spanID := c.TraceID(), c.SpanID()
	m.raw(1, traceID[:])
	m.raw(2, spanID[:])
}

// statusOf is a status by the numbers of the protocol, which has Ok before Error.
func statusOf(c codes.Code) uint64 {
	switch c {
	case codes.Ok:
		return 1
	case codes.Error:
		return 2
	}
	return 0
}

// flagsOf are a span's flags, with whether its parent is in another process.
func flagsOf(c, parent trace.SpanContext) uint32 {
	const known, remote = 0x100, 0x200
	flags := uint32(c.TraceFlags()) | known
	if parent.IsRemote() {
		flags |= remote
	}
	return flags
}
