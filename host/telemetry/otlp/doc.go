// Package otlp sends the spans and metrics of package telemetry to a receiver of the
// OpenTelemetry protocol (OTLP over HTTP with Protocol Buffers), such as a Collector.
//
//	t, err := otlp.Open(otlp.To("http://localhost:4318", nil))
//	...
//	defer t.Shutdown(ctx)
//	h, err := host.Open(ctx, host.Options{Observe: t.Observe, ...})
//
// The spans and metrics are made, batched and queued by OpenTelemetry's SDK. Calls
// never wait for the receiver: where it is down or slow, what does not fit into the
// SDK's queue is lost, and the log is told once.
//
// It writes the protocol itself, where the SDK's own exporters link gRPC into programs
// that never speak it. Who wants those, or other receivers, gives their providers to
// telemetry.New.
//
// [FromEnv] reads the standard variables of exporters. What they leave open, such as
// the sampler, the sizes of queues and further attributes of the resource, the SDK
// itself takes from the standard OTEL_ variables of the process.
package otlp
