// Package host is what other programs embed: it runs the tool calls of an agent, with
// plugins, permission rules and a scheduler behind it.
//
//	h, err := host.Open(ctx, host.Options{Builtins: true})
//	...
//	defer h.Close(ctx)
//	s, err := h.NewSession(host.SessionOptions{Cwd: dir})
//	...
//	calls := []abi.ToolUse{{ID: "1", Name: "Bash", Input: []byte(`{"command": "uname -s"}`)}}
//	for event := range s.Run(ctx, calls) {
//		if event.Kind == host.EventResult {
//			fmt.Println(event.Result.Text())
//		}
//	}
//
// A [Host] holds what is shared: plugins, native tools, capabilities, rules. A
// [Session] is one conversation's state: its working directory, its rules and
// mode, what plugins keep for it. Both are safe for concurrent use. No configuration
// is read from the environment, the home directory or any well-known place unless
// the options name it; package host/config makes options of a user's own settings,
// plugins and projects.
//
// # From a model's message to the next
//
//  1. [Session.Definitions] returns the tools to offer the model, in the format of its API;
//     [Session.Request] returns them with the fields that say whether it must call one.
//  2. Package host/message reads the calls out of the model's message. While the message is
//     still being written, package host/message/stream does, for a [Stream].
//  3. [Session.Run] runs the calls and yields events; [Session.Results] returns the results
//     alone.
//  4. Package host/message writes the results as the next message to the model.
//
// # What a program may bring
//
//   - A person: an [Asker], for each session. It is asked for approvals, and where its
//     program's own tools ask ([Call.Ask], capability.Person), to fill in forms and to open
//     URLs. A session without one is headless: what would
//     be asked is denied. Package host/approvals makes askers of functions (approvals.Func),
//     gives them a time limit, keeps questions for later, and lets several agents ask one
//     person.
//   - A shell: [Shell] says how commands run. The program must call [Main] first thing in
//     main, because it is started again to supervise commands.
//   - Its own tools: [NewTool] makes one of a function. Its contract is what a plugin's
//     manifest would say, so its schemas are JSON in strings. It should say which input
//     fields are paths, or that the tool only reads: otherwise each call is asked about.
//   - Rules: package permissions has their language, and permissions/settings the files.
//   - Plugins of others: with [PluginOptions.Workers] they are compiled, and isolated ones run, in
//     child processes, for which the program must call [Main] too. Package plugins/extism runs
//     those of Extism.
//   - A server of the tools for other agents, over MCP: package host/mcp.
//   - An observer of all sessions' events; package host/telemetry makes traces and metrics.
//   - Tests of its own loop: package host/hosttest has a scripted model, person and clock.
//
// The directory examples has whole programs: embed, agent and background.
//
// Some types, such as [ResultOptions], are aliases of types in internal packages, and have their
// fields there: go doc github.com/toolquay/toolquay/host/internal/results.Options.
//
// # One call
//
// On submission a call's tool is looked up, its input is made canonical and checked against
// the tool's schema, and its traits are found. The scheduler then decides when its turn
// comes. Only then, on the session as it is at that moment, these decide: deny rules, the
// tool's own validation, the hooks, the permission rules, in the mode auto a judge, and a
// person if necessary. The decision is logged before it takes effect. Then the call takes a
// slot and its tool runs. Every tool is a plugin, except an embedder's own Go tools
// ([NativeTool]). Everything that a plugin does to the world is a capability call and passes
// the second gate. The calls of Go tools pass the first gate; what they do passes the second
// only through [Call.Do]. Every call ends in exactly one result, and results leave in call
// order.
package host
