package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

// pathSchema, commandSchema and hostSchema are what the tools below take.
const (
	pathSchema    = `{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path"],"additionalProperties":false}`
	commandSchema = `{"type":"object","properties":{"command":{"type":"string"},"dangerouslyDisableSandbox":{}},"required":["command"]}`
	hostSchema    = `{"type":"object","properties":{"host":{"type":"string"}},"required":["host"]}`
)

// ran counts the calls of tools that came to run, with their inputs.
type ran struct {
	mu     sync.Mutex
	inputs []string
}

func (r *ran) note(c *host.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inputs = append(r.inputs, string(c.Input))
}

func (r *ran) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.inputs)
}

func text(s string) abi.ToolResult { return abi.ToolResult{Content: []abi.Block{abi.TextBlock(s)}} }

// chainTools are a tool that reads, one that writes, a shell and one for the
// network.
func (r *ran) chainTools() []host.NativeTool {
	return []host.NativeTool{r.get(), r.put(), r.shell(runLine), r.fetch()}
}

func (r *ran) get() host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "Get", Summary: "Reads", InputSchema: pathSchema, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue,
			Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: "read"}},
		},
		Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
			r.note(c)
			b, err := os.ReadFile(inCwd(c, field(c, "path")))
			return text(string(b)), err
		},
	}
}

func (r *ran) put() host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "Put", Summary: "Writes", InputSchema: pathSchema,
			Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: "write"}},
		},
		Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
			r.note(c)
			return text("written"), os.WriteFile(inCwd(c, field(c, "path")), []byte(field(c, "text")), 0o600)
		},
	}
}

// shell is a shell tool whose lines are run by run.
func (r *ran) shell(run func(ctx context.Context, cwd, line string) (string, error)) host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "Bash", Summary: "Runs", InputSchema: commandSchema,
			ReadOnly: abi.TraitDerived, ConcurrencySafe: abi.TraitDerived, Destructive: abi.TraitDerived,
			Fields: []abi.Field{{Name: "command", Kind: abi.FieldCommand}},
		},
		Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
			r.note(c)
			out, err := run(ctx, c.Cwd, field(c, "command"))
			return text(out), err
		},
	}
}

func (r *ran) fetch() host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "WebFetch", Summary: "Fetches", InputSchema: hostSchema,
			Fields: []abi.Field{{Name: "host", Kind: abi.FieldHost}},
		},
		Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
			r.note(c)
			return text("fetched"), nil
		},
	}
}

func field(c *host.Call, name string) string {
	var s string
	_ = json.Unmarshal(fieldsOf(c.Input)[name], &s) // the schema says that it is a string, if it is there
	return s
}

func fieldsOf(input json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(input, &fields) // canonical, and an object
	return fields
}

func inCwd(c *host.Call, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Cwd, path)
}

// runLine runs a line by sh. No test may give it one that does harm.
func runLine(ctx context.Context, cwd, line string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = cwd
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// notRun is the shell for lines that must not be run.
func notRun(context.Context, string, string) (string, error) { return "not run", nil }

// asking is an asker that is a function.
type asking func(ctx context.Context, q host.Approval) (host.Reply, error)

func (asking) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (a asking) Ask(ctx context.Context, question host.Question) (host.Reply, error) {
	q := *question.Approval
	return a(ctx, q)
}

func yes() *asker { return &asker{reply: host.Reply{Answer: host.AnswerAllow}} }
func no() *asker {
	return &asker{reply: host.Reply{Answer: host.AnswerDeny, Message: "not that"}}
}

// hookSet compiles hooks.
func hookSet(tb testing.TB, list ...hooks.Hook) *hooks.Set {
	tb.Helper()
	set, err := host.CompileHooks(list, host.HookOptions{Environ: os.Environ()})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// says is a hook before calls that always answers the same.
func says(o hooks.Output) hooks.Hook {
	return hooks.Hook{Event: hooks.PreToolUse, Func: func(context.Context, hooks.Input) (hooks.Output, error) { return o, nil }}
}

// rules are those of a project.
func rules(deny, ask, allow string) []permissions.RuleSet {
	texts := func(s string) []permissions.RuleText {
		if s == "" {
			return nil
		}
		return permissions.RuleTexts(strings.Split(s, " | ")...)
	}
	return []permissions.RuleSet{{
		Source: permissions.SourceUser, Deny: texts(deny), Ask: texts(ask), Allow: texts(allow),
	}}
}

// of are the events of a kind.
func of(events []host.Event, kind host.EventKind) []host.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e host.Event) bool { return e.Kind != kind })
}

// turnOf runs calls together and returns their results, in call order, and all
// that happened. Every call must have exactly one result.
func turnOf(tb testing.TB, s *host.Session, uses ...abi.ToolUse) ([]abi.ToolResult, []host.Event) {
	tb.Helper()
	events := slices.Collect(s.Run(tb.Context(), uses))
	var results []abi.ToolResult
	for i, e := range of(events, host.EventResult) {
		if e.Index != i {
			tb.Fatalf("the result of call %d left as number %d", e.Index, i)
		}
		results = append(results, *e.Result)
	}
	if len(results) != len(uses) {
		tb.Fatalf("%d calls had %d results", len(uses), len(results))
	}
	return results, events
}

// logged keeps the decisions that it is given, or fails.
type logged struct {
	mu      sync.Mutex
	err     error
	entries []audit.Entry
}

func (l *logged) Append(e audit.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.entries = append(l.entries, e)
	return nil
}

// all are the entries in short: verdict, layer, who.
func (l *logged) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, e := range l.entries {
		out = append(out, strings.TrimSpace(strings.Join([]string{e.Capability, e.Verdict.String(), string(e.Layer), e.By}, " ")))
	}
	return out
}

var errDisk = errors.New("no space left on device")

// within fails the test if do takes longer.
func within(tb testing.TB, limit time.Duration, what string, do func()) {
	tb.Helper()
	start := time.Now()
	do()
	if took := time.Since(start); took > limit {
		tb.Errorf("%s took %v, over %v", what, took, limit)
	}
}

// soon waits for a condition that comes about elsewhere.
func soon(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(testenv.Patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("not in time: %s", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
