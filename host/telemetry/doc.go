// Package telemetry tells OpenTelemetry what the calls of a host do: spans for turns,
// calls, capability calls and waits for a person, and metrics of all of them.
//
//	o, err := telemetry.New(tracers, meters, telemetry.Options{})
//	...
//	defer o.Close()
//	h, err := host.Open(ctx, host.Options{Observe: o.Observe, ...})
//
// It knows the API of OpenTelemetry alone, so that it works with whatever the
// embedder exports by. Those who have nothing yet find an exporter in package
// telemetry/otlp.
//
// # Spans
//
// A turn is a span "turn" with the calls of the model below it, named
// "execute_tool NAME" by the semantic conventions for generative AI. Below a call are
// "capability NAME" for what it asked of the host, "ask person" while somebody was
// asked, and the calls it made in turn. Turns and calls say their session
// (gen_ai.conversation.id), turn, agent, team, chain and parent call. Calls of an MCP server's
// tools say which (toolquay.mcp.server, toolquay.mcp.tool) and mcp.method.name. Decisions, hooks, progress, results kept in
// files and other moments are events of these spans; of a call's progress only the
// first, second, fourth, eighth report and so on, which leaves room for the others. A
// call that failed has an error.type, which is a code of package abi, or "tool_error"
// for a failure of the tool's own.
//
// # Metrics
//
//	toolquay.tool.calls            calls, by tool, outcome and error.type
//	gen_ai.execute_tool.duration   seconds a call ran, by tool, outcome and error.type
//	toolquay.tool.queue_time       seconds until a call's turn came, by tool
//	toolquay.tool.person_time      seconds a call waited for a person, by tool, where it did
//	toolquay.tool.guest_time       seconds of that in the tool itself, by tool
//	toolquay.tool.capability_time  seconds of that in capability calls, by tool
//	toolquay.tool.running          calls that run now, by tool
//	toolquay.tool.result_size      bytes of a result, by tool
//	toolquay.tool.persisted        bytes of results put into files, by tool
//	toolquay.tool.abandoned        calls that left something behind without end, by tool
//	toolquay.capability.calls      capability calls, by capability, outcome and error.type
//	toolquay.capability.duration   seconds a capability call took, by capability
//	toolquay.decisions             permission decisions, by verdict and layer
//
// Their attributes are names that plugins and the host know, never ids, paths, inputs
// or what a model or a guest made up: that is "_OTHER".
//
// # Content
//
// What calls are given and what they answer is not recorded, nor are messages that may
// quote it, unless [Options].Content asks for it.
package telemetry
