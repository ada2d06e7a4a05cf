package otlp

import (
	"fmt"
	"math"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// encodeMetrics writes an ExportMetricsServiceRequest. Of kinds of metric there are
// those that package telemetry makes; the host's have no exemplars.
func encodeMetrics(rm *metricdata.ResourceMetrics) ([]byte, error) {
	var m message
	var unknown error
	m.sub(1, func(m *message) {
		m.resource(1, rm.Resource)
		for i := range rm.ScopeMetrics {
			of := &rm.ScopeMetrics[i]
			m.sub(2, func(m *message) {
				m.scope(1, of.Scope)
				for j := range of.Metrics {
					m.sub(2, func(m *message) {
						if err := m.metric(&of.Metrics[j]); err != nil {
							unknown = err
						}
					})
				}
				m.text(3, of.Scope.SchemaURL)
			})
		}
		m.text(3, rm.Resource.SchemaURL())
	})
	return m, unknown
}

func (m *message) metric(of *metricdata.Metrics) error {
	m.text(1, of.Name)
	m.text(2, of.Description)
	m.text(3, of.Unit)
	switch data := of.Data.(type) {
	case metricdata.Sum[int64]:
		m.sub(7, func(m *message) { m.sum(&data) })
	case metricdata.Histogram[int64]:
		m.sub(9, func(m *message) { histogram(m, &data) })
	case metricdata.Histogram[float64]:
		m.sub(9, func(m *message) { histogram(m, &data) })
	default:
		return fmt.Errorf("the metric %s is a %T, which is not sent", of.Name, data)
	}
	return nil
}

func (m *message) sum(data *metricdata.Sum[int64]) {
	for i := range data.DataPoints {
		p := &data.DataPoints[i]
		m.sub(1, func(m *message) {
			m.time(2, p.StartTime)
			m.time(3, p.Time)
			m.always(6, uint64(p.Value))
			m.attributes(7, p.Attributes.ToSlice())
		})
	}
	m.number(2, temporality(data.Temporality))
	m.flag(3, data.IsMonotonic)
}

func histogram[N int64 | float64](m *message, data *metricdata.Histogram[N]) {
	for i := range data.DataPoints {
		p := &data.DataPoints[i]
		m.sub(1, func(m *message) {
			m.time(2, p.StartTime)
			m.time(3, p.Time)
			m.fixed(4, p.Count)
			m.float(5, float64(p.Sum))
			m.packed(6, len(p.BucketCounts), func(i int) uint64 { return p.BucketCounts[i] })
			m.packed(7, len(p.Bounds), func(i int) uint64 { return math.Float64bits(p.Bounds[i]) })
			m.attributes(9, p.Attributes.ToSlice())
			if least, ok := p.Min.Value(); ok {
				m.float(11, float64(least))
			}
			if most, ok := p.Max.Value(); ok {
				m.float(12, float64(most))
			}
		})
	}
	m.number(2, temporality(data.Temporality))
}

// temporality is by the numbers of the protocol, which has delta first.
func temporality(t metricdata.Temporality) uint64 {
	if t == metricdata.DeltaTemporality {
		return 1
	}
	return 2
}
