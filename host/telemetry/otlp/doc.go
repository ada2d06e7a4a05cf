// Package otlp sends the spans and metrics of package telemetry to a receiver of the
// OpenTelemetry protocol (OTLP over HTTP with Protocol Buffers), such as a Collector.
//
//	t, err := otlp.Open(otlp.To("http://localhost:4318", nil))
//	...
//	defer t.Shutdown(ctx)
//	h, err := host.Open(ctx, host.Options{Observe: t.Observe, ...})
//
// Spans and metrics are made, batched, queued and sent by OpenTelemetry's SDK and its
// exporters. Calls never wait for the receiver: where it is down or slow, what does not
// fit into the SDK's queue is lost, and the log is told once. No redirect is followed,
// and no answer of a receiver is logged.
//
// The exporters link gRPC into the program, some 12 MB, though they do not speak it
// here. Who wants to do without, or has other receivers, gives providers of their own
// to telemetry.New.
//
// [FromEnv] reads the standard variables of exporters. What they leave open, such as
// the sampler, the sizes of queues, the temporality of metrics and further attributes
// of the resource, the SDK itself takes from the standard OTEL_ variables of the
// process.
package otlp
