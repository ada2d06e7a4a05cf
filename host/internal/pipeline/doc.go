// Package pipeline takes one tool call from what a model wrote to its one result.
//
// A [Call] goes through the stages in this order, each of which adds what it found out:
//
//   - request.go, prepare.go: which tool, with which input, scheduled by which traits;
//   - effects.go, commands.go: what the input says it touches, as the file system now is;
//   - admit.go, gate.go: whether it may start, by the rules, its tool, hooks and people;
//   - invoke.go, capabilities.go: the tool runs, and each capability call that it makes is
//     judged on the value that is then acted on;
//   - outcome.go, changes.go: its result, fitted, and its changes of the session.
//
// It knows neither the host nor its events: what a call needs of its session is a
// [Session] of values and rooms, and what it needs of its turn, of those who listen and of
// the person are the interfaces [Turn], [Teller] and [Asker].
package pipeline
