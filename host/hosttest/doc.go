// Package hosttest is for tests of programs that embed package host: a scripted model, a
// scripted person, and a clock that stands still. Nothing in it needs a network or a
// person, so a whole agent loop can be tested on real plugins and real files.
//
// A [Model] plays its turns one after the other and checks the result of every call:
//
//	model := hosttest.NewModel(
//		hosttest.Say("I look at it.", hosttest.Use("Read", map[string]any{"file_path": "a.txt"}).Succeeds("hello")),
//		hosttest.Say("It says hello."),
//	)
//	asker := hosttest.NewAsker(hosttest.Allow(), hosttest.Deny("not this one"))
//	clock := hosttest.NewClock(time.Unix(1_700_000_000, 0))
//	h, err := host.Open(ctx, host.Options{Builtins: true, Clock: clock.Now})
//	...
//	s, err := h.NewSession(host.SessionOptions{Cwd: dir, Asker: asker})
//	...
//	// The program's own loop runs here, with model in the place of its client, such as:
//	for results := []abi.ToolResult(nil); ; {
//		var calls []abi.ToolUse
//		_, err := model.Reply(ctx, results, func(u abi.ToolUse) error {
//			calls = append(calls, u)
//			return nil
//		})
//		if err != nil || len(calls) == 0 {
//			break
//		}
//		results = s.Results(ctx, calls)
//	}
//	if err := errors.Join(model.Err(), asker.Err()); err != nil {
//		t.Error(err)
//	}
//
// The program under test reaches its model through an interface of its own, of which
// [Model.Reply] is an example; another takes a few lines around it. The example
// examples/agent has such a loop, with its tests.
package hosttest
