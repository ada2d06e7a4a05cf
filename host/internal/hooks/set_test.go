package hooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// says is a hook that answers always the same.
func says(name string, o hooks.Output) hooks.Hook {
	return hooks.Hook{
		Event: hooks.PreToolUse, Name: name,
		Func: func(context.Context, hooks.Input) (hooks.Output, error) { return o, nil },
	}
}

func compile(t *testing.T, list ...hooks.Hook) *hooks.Set {
	t.Helper()
	set, err := hooks.Compile(list, hooks.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// call is an Input as the host makes it.
func call() hooks.Input {
	return hooks.Input{
		SessionID: "s1", TurnID: "t1", Caller: permissions.Caller{Agent: "a1", Team: "red", Chain: "ch", Parent: "p1", Depth: 2}, Cwd: "/", Mode: permissions.ModeDefault, Tool: "Bash", ToolUseID: "c1",
		ToolInput: json.RawMessage(`{"command":"ls"}`), Plugin: "shell", Binding: "abc",
	}
}

func TestVerdictsAreJoined(t *testing.T) {
	t.Parallel()
	verdicts := []permissions.Verdict{permissions.None, permissions.Allow, permissions.Ask, permissions.Deny}
	for _, a := range verdicts {
		for _, b := range verdicts {
			o := compile(t, says("a", hooks.Output{Verdict: a, Reason: "ra"}), says("b", hooks.Output{Verdict: b, Reason: "rb"})).
				PreToolUse(t.Context(), call())
			if o.Verdict != a.Join(b) {
				t.Errorf("%v and %v: %v", a, b, o.Verdict)
			}
			if named := strings.Contains(o.Reason, `hook "a" says`); named != (o.Verdict != permissions.None && a == o.Verdict) {
				t.Errorf("%v and %v: the reason is %q", a, b, o.Reason)
			}
			answer := o.Answer()
			if (answer == nil) != (o.Verdict == permissions.None) || answer != nil && (answer.Verdict != o.Verdict || answer.Reason != o.Reason) {
				t.Errorf("%v and %v: the evidence is %+v", a, b, answer)
			}
		}
	}
}

func TestEffectsComeInOrder(t *testing.T) {
	t.Parallel()
	slow := func(o hooks.Output) hooks.Hook {
		return hooks.Hook{Event: hooks.PreToolUse, Name: "slow", Func: func(context.Context, hooks.Input) (hooks.Output, error) {
			time.Sleep(20 * time.Millisecond)
			return o, nil
		}}
	}
	o := compile(t,
		slow(hooks.Output{Context: "one", Message: "m1", Stop: true}),
		says("b", hooks.Output{Context: "two", Message: "m2", Stop: true, StopReason: "enough"}),
		says("c", hooks.Output{Context: "one"}),
		says("d", hooks.Output{StopReason: "not meant"}),
	).PreToolUse(t.Context(), call())
	if !reflect.DeepEqual(o.Contexts, []string{"one", "two"}) || !reflect.DeepEqual(o.Messages, []string{`hook "slow": m1`, `hook "b": m2`}) {
		t.Errorf("contexts %q, messages %q", o.Contexts, o.Messages)
	}
	if !o.Stop || o.StopReason != "enough" || o.Verdict != permissions.None || len(o.Records) != 4 {
		t.Errorf("got %+v", o)
	}
}

// edit is a hook that rewrites the command of a call as change says; empty leaves
// it.
func edit(name string, v permissions.Verdict, change func(command string) string) hooks.Hook {
	return hooks.Hook{Event: hooks.PreToolUse, Name: name, Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
		var input struct{ Command string }
		if err := json.Unmarshal(in.ToolInput, &input); err != nil {
			return hooks.Output{}, err
		}
		o := hooks.Output{Verdict: v}
		if changed := change(input.Command); changed != "" {
			o.UpdatedInput = json.RawMessage(`{ "command": "` + changed + `" }`)
		}
		return o, nil
	}}
}

func always(command string) func(string) string { return func(string) string { return command } }

func TestRewriting(t *testing.T) {
	t.Parallel()
	guard := hooks.Hook{Event: hooks.PreToolUse, Name: "guard", Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
		if strings.Contains(string(in.ToolInput), "rm") {
			return hooks.Output{Verdict: permissions.Deny, Reason: "no rm"}, nil
		}
		return hooks.Output{}, nil
	}}
	allowsLs := hooks.Hook{Event: hooks.PreToolUse, Name: "ls", Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
		if string(in.ToolInput) == `{"command":"ls"}` {
			return hooks.Output{Verdict: permissions.Allow}, nil
		}
		return hooks.Output{}, nil
	}}
	quote := edit("quote", permissions.None, func(c string) string {
		if strings.HasPrefix(c, "nice ") {
			return ""
		}
		return "nice " + c
	})
	for _, c := range []struct {
		name    string
		hooks   []hooks.Hook
		want    string
		verdict permissions.Verdict
		records int
	}{
		{"one", []hooks.Hook{edit("a", permissions.None, always("ls -l"))}, "ls -l", permissions.None, 1},
		{"an allow of one's own rewriting", []hooks.Hook{edit("a", permissions.Allow, always("ls -l"))}, "ls -l", permissions.Allow, 1},
		{"the same as it was", []hooks.Hook{edit("a", permissions.Allow, always("ls"))}, "", permissions.Allow, 1},
		{"two the same", []hooks.Hook{quote, quote}, "nice ls", permissions.None, 2},
		{"an allow of what was there before", []hooks.Hook{allowsLs, edit("a", permissions.None, always("id"))}, "id", permissions.None, 3},
		{"an allow with the input as it was", []hooks.Hook{edit("b", permissions.Allow, always("ls")), edit("a", permissions.None, always("id"))}, "id", permissions.Ask, 3},
		{"an allow of both", []hooks.Hook{says("a", hooks.Output{Verdict: permissions.Allow}), quote}, "nice ls", permissions.Allow, 3},
		{"a guard sees what is run", []hooks.Hook{guard, edit("a", permissions.Allow, always("rm x"))}, "rm x", permissions.Deny, 3},
		{"two different", []hooks.Hook{edit("a", permissions.Allow, always("id")), edit("b", permissions.Allow, always("pwd"))}, "id", permissions.Ask, 3},
		{"two different, either way", []hooks.Hook{edit("b", permissions.Allow, always("pwd")), edit("a", permissions.Allow, always("id"))}, "pwd", permissions.Ask, 3},
		{"never done", []hooks.Hook{quote, edit("a", permissions.None, func(c string) string { return c + "x" })}, "nice ls", permissions.Ask, 3},
		{"denied", []hooks.Hook{says("no", hooks.Output{Verdict: permissions.Deny}), quote}, "", permissions.Deny, 2},
		{"not an object", []hooks.Hook{says("a", hooks.Output{Verdict: permissions.Allow, UpdatedInput: json.RawMessage(`"ls"`)})}, "", permissions.Ask, 1},
		{"not JSON", []hooks.Hook{says("a", hooks.Output{Verdict: permissions.Allow, UpdatedInput: json.RawMessage(`{"a":1,"a":2}`)})}, "", permissions.Ask, 1},
	} {
		o := compile(t, c.hooks...).PreToolUse(t.Context(), call())
		want := ""
		if c.want != "" {
			want = `{"command":"` + c.want + `"}`
		}
		if string(o.UpdatedInput) != want || o.Verdict != c.verdict || len(o.Records) != c.records {
			t.Errorf("%s: input %s, %v (%s), %d records", c.name, o.UpdatedInput, o.Verdict, o.Reason, len(o.Records))
		}
	}
}

func TestFunctionsThatFailAsk(t *testing.T) {
	t.Parallel()
	type function = func(context.Context, hooks.Input) (hooks.Output, error)
	boom := errors.New("boom")
	for want, f := range map[string]function{
		"boom": func(context.Context, hooks.Input) (hooks.Output, error) {
			return hooks.Output{Verdict: permissions.Allow}, boom
		},
		"it panicked: ouch": func(context.Context, hooks.Input) (hooks.Output, error) { panic("ouch") },
		"it ended its goroutine": func(context.Context, hooks.Input) (hooks.Output, error) {
			runtime.Goexit()
			return hooks.Output{}, nil
		},
		"verdict 9 is unknown": func(context.Context, hooks.Input) (hooks.Output, error) { return hooks.Output{Verdict: 9}, nil },
	} {
		hook := hooks.Hook{Event: hooks.PreToolUse, Func: f}
		o := compile(t, hook, says("yes", hooks.Output{Verdict: permissions.Allow})).PreToolUse(t.Context(), call())
		if o.Verdict != permissions.Ask || !strings.Contains(o.Reason, want) || o.Records[0].Err == nil || o.Records[0].Exit != -1 {
			t.Errorf("%s: got %v, %q, %+v", want, o.Verdict, o.Reason, o.Records[0])
		}
	}
}

func TestAFunctionThatHangsIsLeftBehind(t *testing.T) {
	t.Parallel()
	release, left := make(chan struct{}), make(chan struct{})
	hook := hooks.Hook{Event: hooks.PreToolUse, Timeout: 20 * time.Millisecond, Func: func(_ context.Context, in hooks.Input) (hooks.Output, error) {
		<-release
		in.ToolInput[0] = '!' // reaches nobody
		close(left)
		return hooks.Output{Verdict: permissions.Allow}, nil
	}}
	in := call()
	o := compile(t, hook).PreToolUse(t.Context(), in)
	if o.Verdict != permissions.Ask || abi.CodeOf(o.Records[0].Err) != abi.CodeTimeout {
		t.Errorf("got %v, %v", o.Verdict, o.Records[0].Err)
	}
	close(release)
	<-left
	if string(in.ToolInput) != `{"command":"ls"}` {
		t.Errorf("the input became %s", in.ToolInput)
	}
}

func TestCancelledHooksAsk(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := compile(t, says("yes", hooks.Output{Verdict: permissions.Allow})).PreToolUse(ctx, call())
	if o.Verdict != permissions.Ask || !errors.Is(o.Records[0].Err, context.Canceled) {
		t.Errorf("got %v, %v", o.Verdict, o.Records[0].Err)
	}
}

func TestHooksRunSideBySide(t *testing.T) {
	t.Parallel()
	const n = 8
	all := make(chan struct{})
	var met atomic.Int32
	hook := hooks.Hook{Event: hooks.PreToolUse, Timeout: testenv.Patience, Func: func(ctx context.Context, _ hooks.Input) (hooks.Output, error) {
		if met.Add(1) == n {
			close(all)
		}
		select {
		case <-all:
			return hooks.Output{}, nil
		case <-ctx.Done():
			return hooks.Output{}, errors.New("the others did not come")
		}
	}}
	var list []hooks.Hook
	for range n {
		list = append(list, hook)
	}
	if o := compile(t, list...).PreToolUse(t.Context(), call()); o.Verdict != permissions.None {
		t.Error(o.Reason)
	}
}

func TestAfterTheCall(t *testing.T) {
	t.Parallel()
	after := func(name string, o hooks.Output) hooks.Hook {
		h := says(name, o)
		h.Event = hooks.PostToolUse
		return h
	}
	in := call()
	in.Result = &abi.ToolResult{Content: []abi.Block{abi.TextBlock("secret")}}
	o := compile(t,
		after("a", hooks.Output{UpdatedOutput: []abi.Block{abi.TextBlock("first")}, Context: "ctx"}),
		after("b", hooks.Output{Verdict: permissions.Deny, Reason: "tests fail", Stop: true, StopReason: "stop"}),
		after("c", hooks.Output{UpdatedOutput: []abi.Block{abi.TextBlock("last")}}),
		after("d", hooks.Output{Verdict: permissions.Ask}),
		says("before", hooks.Output{Verdict: permissions.Deny}),
	).PostToolUse(t.Context(), in)
	if o.Verdict != permissions.None || o.Answer() != nil || !o.Stop || o.StopReason != "stop" || len(o.Records) != 4 {
		t.Errorf("got %+v", o)
	}
	if !reflect.DeepEqual(o.Feedback, []string{`hook "b": tests fail`}) || !reflect.DeepEqual(o.Contexts, []string{"ctx"}) {
		t.Errorf("feedback %q, contexts %q", o.Feedback, o.Contexts)
	}
	if len(o.Messages) != 2 || !strings.Contains(o.Messages[0], `hook "c": it replaced the output`) || !strings.Contains(o.Messages[1], "nothing can be asked") {
		t.Errorf("messages %q", o.Messages)
	}
	if len(o.UpdatedOutput) != 1 || o.UpdatedOutput[0].Text != "last" {
		t.Errorf("output %+v", o.UpdatedOutput)
	}
}

// What else a result says must not let through what a hook took out.
func TestRewriteLeavesNothing(t *testing.T) {
	t.Parallel()
	result := abi.ToolResult{
		ToolUseID: "c1", Content: []abi.Block{abi.TextBlock("secret")}, Structured: json.RawMessage(`"secret"`), IsError: true,
		Error: abi.Errorf(abi.CodeIO, "secret"), Meta: json.RawMessage(`"secret"`), Messages: []abi.Message{{Role: "user", Text: "secret"}},
	}
	var none hooks.Outcome
	if got := none.Rewrite(result); !reflect.DeepEqual(got, result) {
		t.Errorf("nothing was replaced, and it became %+v", got)
	}
	for _, blocks := range [][]abi.Block{{}, {abi.TextBlock("new")}} {
		o := hooks.Outcome{UpdatedOutput: blocks}
		got := o.Rewrite(result)
		want := abi.ToolResult{ToolUseID: "c1", Content: blocks, IsError: true, Error: &abi.Error{Code: abi.CodeIO, Message: "a hook replaced the message"}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v", got)
		}
	}
}

func TestFor(t *testing.T) {
	var none *hooks.Set
	set := compile(t, hooks.Hook{Event: hooks.PreToolUse, Matcher: "Edit|Notebook*|Task", Command: []string{"x"}})
	aliases := []string{"Old", "Task"}
	for _, c := range []struct {
		set  *hooks.Set
		e    hooks.Event
		tool string
		want bool
	}{
		{none, hooks.PreToolUse, "Edit", false},
		{set, hooks.PreToolUse, "Edit", true},
		{set, hooks.PostToolUse, "Edit", false},
		{set, hooks.PreToolUse, "NotebookEdit", true},
		{set, hooks.PreToolUse, "Read", false},
	} {
		if got := c.set.For(c.e, c.tool, nil); got != c.want {
			t.Errorf("%s at %s: %v", c.tool, c.e, got)
		}
	}
	if !set.For(hooks.PreToolUse, "Agent", aliases) {
		t.Error("an alias does not match")
	}
	if n := testing.AllocsPerRun(100, func() {
		_ = none.For(hooks.PreToolUse, "Agent", aliases)
		_ = set.For(hooks.PreToolUse, "Agent", aliases)
	}); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
	if o := none.PreToolUse(t.Context(), call()); !reflect.DeepEqual(o, hooks.Outcome{}) {
		t.Errorf("no hooks came to %+v", o)
	}
}

func TestCompileFaults(t *testing.T) {
	t.Parallel()
	at := permissions.Source{Kind: permissions.SourceUser, File: "/s.toml", Line: 7}
	good := hooks.Hook{Event: hooks.PreToolUse, Shell: "true", Source: at}
	for _, c := range []struct {
		change func(*hooks.Hook)
		want   string
	}{
		{func(h *hooks.Hook) { h.Event = "Before" }, `unknown event "Before"; there are PreToolUse`},
		{func(h *hooks.Hook) { h.Matcher = "a||b" }, `matcher "a||b": a name is missing`},
		{func(h *hooks.Hook) { h.Shell = "" }, "it has 0 of a command"},
		{func(h *hooks.Hook) { h.Command = []string{"x"} }, "it has 2 of a command"},
		{func(h *hooks.Hook) { h.Shell, h.Command = "", []string{} }, "the command has no program"},
		{func(h *hooks.Hook) { h.Shell, h.Command = "", []string{"./check"} }, `"./check" is relative to the session's working directory`},
		{func(h *hooks.Hook) { h.Timeout = -1 }, "must be more than 0"},
		{func(h *hooks.Hook) { h.Dir = "sub" }, "not absolute"},
		{func(h *hooks.Hook) { h.Env = []string{"OK", "A=B"} }, `"A=B" cannot be a variable's name`},
		{func(h *hooks.Hook) { h.Env = []string{"AWS_*"} }, "name the variables one by one"},
	} {
		bad := good
		c.change(&bad)
		set, err := hooks.Compile([]hooks.Hook{good, bad}, hooks.Options{})
		if set != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "(user, /s.toml:7)") {
			t.Errorf("got %v, want %s with its source", err, c.want)
		}
	}
	_, err := hooks.Compile([]hooks.Hook{{Name: "one"}, {Name: "two", Matcher: "("}}, hooks.Options{})
	for _, want := range []string{`"one"`, `"two"`, "unknown event", "'('"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %s", err, want)
		}
	}
	if _, err := hooks.Compile(make([]hooks.Hook, 1001), hooks.Options{}); err == nil {
		t.Error("1001 hooks are not refused")
	}
}
