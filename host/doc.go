// Package host is what other programs embed: it puts plugins, permissions and
// the scheduler together and runs an agent's tool calls.
//
//	h, err := host.Open(ctx, host.Options{Builtins: true})
//	...
//	defer h.Close(ctx)
//	s, err := h.NewSession(host.SessionOptions{Cwd: dir})
//	...
//	for event := range s.Run(ctx, calls) {
//		if event.Kind == host.EventResult {
//			fmt.Println(event.Result.Text())
//		}
//	}
//
// A [Host] holds what is shared: plugins, native tools, capabilities, rules. A
// [Session] is one conversation's state: its working directory, its rules and
// mode, what plugins keep for it. Both are safe for concurrent use. Nothing is
// read from the environment, the home directory or any well-known place unless
// the options name it; package host/config makes options of a user's own settings,
// plugins and projects.
//
// # One call
//
// On submission a call's tool is looked up, its input made canonical and held
// against the tool's schema, and its traits are found out. The scheduler then
// says when its turn comes. Only then, on the session as it is at that moment,
// do deny rules, the tool's own validation, the hooks, the permission rules and, in
// the mode auto, a judge speak, and a person if need be; the decision is logged
// before it takes effect; then a slot is taken and the tool runs. Whatever it does
// to the world is a capability call and passes the second gate (see gate.go).
// Every call ends in exactly one result, and results leave in call order.
package host
