// Package pipeline takes one tool call from what a model wrote to its one result.
//
// A [Call] goes through stages. Each is a type that holds what is known by then, and adds
// to the core that all of them see:
//
//   - preparing (prepare.go, scheduling.go): which tool, with which input ([Call]'s
//     request), scheduled by which traits;
//   - admitting (admit.go, hooks.go, rehearse.go): whether it may start. A judging
//     (judging.go) says what the call touches, as the file system now is, and its desk is
//     what the gate sees of the session;
//   - invocation (invoke.go): the tool runs. Its world (capabilities.go) takes its
//     capability calls, each of which is performing (performing.go) a plan that was judged;
//   - finishing (outcome.go, changes.go): its result, and its changes of the session.
//
// A performing and a world are judgings; a judging is a desk; a desk is a [gate.Gate] and the
// call's core. So Permit, Decide and Stands are the gate's.
//
// It knows neither the host nor its events: what a call needs of its session is a
// [Session] of values and rooms, and what it needs of its turn and of those who listen are
// the interfaces [Turn] and [Teller].
package pipeline
