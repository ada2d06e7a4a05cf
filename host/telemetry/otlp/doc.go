// Package otlp sends the spans and metrics of package telemetry to a receiver of the
// OpenTelemetry protocol (OTLP over HTTP with Protocol Buffers), such as a Collector.
//
//	t, err := otlp.Open(otlp.To("http://localhost:4318", nil))
//	...
//	defer t.Shutdown(ctx)
//	h, err := host.Open(ctx, host.Options{Observe: t.Observe, ...})
//
// Spans and metrics are made, batched and queued by OpenTelemetry's SDK, and encoded and
// sent by this package: the SDK's exporters link gRPC into a program. Calls never wait
// for the receiver: where it is down or slow, what does not fit into the SDK's queue is
// lost, and the log is told once. A receiver that is busy (429, 502, 503, 504) is tried
// again, as it asks to, within the time of a request. No redirect is followed, and of a
// receiver's answer its status alone is logged. For other receivers give providers of
// your own to telemetry.New.
//
// [FromEnv] reads the standard variables of exporters. What they leave open, such as
// the sampler, the sizes of queues, the temporality of metrics and further attributes
// of the resource, the SDK itself takes from the standard OTEL_ variables of the
// process.
package otlp
