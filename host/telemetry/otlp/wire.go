package otlp

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	"google.golang.org/protobuf/encoding/protowire"
)

// message is a Protocol Buffers message that is being written. Fields of a value that
// is the default are left out, as proto3 has it; field numbers are those of
// opentelemetry-proto 1.x.
type message []byte

func (m *message) text(field protowire.Number, s string) {
	if s != "" {
		*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
	}
}

func (m *message) raw(field protowire.Number, b []byte) {
	if len(b) > 0 {
		*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
	}
}

func (m *message) number(field protowire.Number, v uint64) {
	if v != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
	}
}

// count is a number of things that were left out.
func (m *message) count(field protowire.Number, n int) {
	m.number(field, uint64(min(max(n, 0), math.MaxUint32)))
}

func (m *message) flag(field protowire.Number, v bool) { m.number(field, protowire.EncodeBool(v)) }

// always writes eight bytes, be they the default: of a field whose presence tells
// something.
func (m *message) always(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

func (m *message) fixed(field protowire.Number, v uint64) {
	if v != 0 {
		m.always(field, v)
	}
}

func (m *message) float(field protowire.Number, v float64) { m.always(field, math.Float64bits(v)) }

func (m *message) time(field protowire.Number, t time.Time) {
	if !t.IsZero() {
		m.fixed(field, uint64(max(0, t.UnixNano())))
	}
}

func (m *message) flags(field protowire.Number, v uint32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, field, protowire.Fixed32Type), v)
}

// packed writes a list of eight bytes each.
func (m *message) packed(field protowire.Number, n int, at func(i int) uint64) {
	if n == 0 {
		return
	}
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendVarint(*m, uint64(n)*8)
	for i := range n {
		*m = protowire.AppendFixed64(*m, at(i))
	}
}

// sub writes a message within the message, be it empty.
func (m *message) sub(field protowire.Number, write func(*message)) {
	var inner message
	write(&inner)
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), inner)
}

// attributes writes a list of KeyValue.
func (m *message) attributes(field protowire.Number, attrs []attribute.KeyValue) {
	for _, a := range attrs {
		m.sub(field, func(m *message) {
			m.text(1, string(a.Key))
			m.sub(2, func(m *message) { m.value(a.Value) })
		})
	}
}

// value writes an AnyValue. Of its kinds the zero is told, too.
func (m *message) value(v attribute.Value) {
	switch v.Type() {
	case attribute.BOOL:
		*m = protowire.AppendVarint(protowire.AppendTag(*m, 2, protowire.VarintType), protowire.EncodeBool(v.AsBool()))
	case attribute.INT64:
		*m = protowire.AppendVarint(protowire.AppendTag(*m, 3, protowire.VarintType), uint64(v.AsInt64()))
	case attribute.FLOAT64:
		m.float(4, v.AsFloat64())
	case attribute.STRINGSLICE:
		m.sub(5, func(m *message) {
			for _, s := range v.AsStringSlice() {
				m.sub(1, func(m *message) { m.value(attribute.StringValue(s)) })
			}
		})
	default: // a string, or what is told as one
		*m = protowire.AppendString(protowire.AppendTag(*m, 1, protowire.BytesType), v.String())
	}
}

func (m *message) resource(field protowire.Number, r *resource.Resource) {
	m.sub(field, func(m *message) { m.attributes(1, r.Attributes()) })
}

func (m *message) scope(field protowire.Number, s instrumentation.Scope) {
	m.sub(field, func(m *message) {
		m.text(1, s.Name)
		m.text(2, s.Version)
		m.attributes(3, s.Attributes.ToSlice())
	})
}
