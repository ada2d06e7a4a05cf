package telemetry_test

import (
	"context"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/toolquay/toolquay/host/telemetry"
)

// nothing is an exporter that throws away what it is given.
type nothing struct{}

func (nothing) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }

func (nothing) Shutdown(context.Context) error { return nil }

// BenchmarkEvent measures an event of a call as it passes all stages: twelve of them,
// with a capability call and a question.
func BenchmarkEvent(b *testing.B) {
	sdk := []sdktrace.TracerProviderOption{sdktrace.WithBatcher(nothing{})}
	tests := map[string][]sdktrace.TracerProviderOption{
		"sdk":       sdk,
		"unsampled": append(sdk, sdktrace.WithSampler(sdktrace.NeverSample())),
	}
	for name, options := range tests {
		b.Run(name, func(b *testing.B) {
			tracers := sdktrace.NewTracerProvider(options...)
			defer tracers.Shutdown(context.Background())
			o, err := telemetry.New(tracers, sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())), telemetry.Options{})
			if err != nil {
				b.Fatal(err)
			}
			run(b, o)
		})
	}
	b.Run("none", func(b *testing.B) {
		o, err := telemetry.New(nil, nil, telemetry.Options{})
		if err != nil {
			b.Fatal(err)
		}
		run(b, o)
	})
}

func run(b *testing.B, o *telemetry.Observer) {
	b.Helper()
	events := walk("c", "Read", answer("x"))
	now := time.Now()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e := events[i%len(events)]
		e.Session, e.Turn, e.Time = "s", "t", now
		o.Observe(e)
	}
}
