package telemetry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/telemetry"
	"github.com/toolquay/toolquay/permissions"
)

// bench is an observer whose spans and metrics are kept.
type bench struct {
	*telemetry.Observer
	kept   *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
	now    time.Time
}

func newBench(tb testing.TB, o telemetry.Options) *bench {
	tb.Helper()
	b := &bench{kept: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader(), now: time.Unix(1_800_000_000, 0)}
	var err error
	b.Observer, err = telemetry.New(sdktrace.NewTracerProvider(sdktrace.WithSyncer(b.kept)),
		sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader)), o)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// tell tells of events of one turn, a second after the other.
func (b *bench) tell(session, turn string, events ...host.Event) {
	for _, e := range events {
		b.now = b.now.Add(time.Second)
		e.Session, e.Turn, e.Time = session, turn, b.now
		b.Observe(e)
	}
}

// spans are those that have ended, by name.
func (b *bench) spans() map[string]tracetest.SpanStub {
	out := make(map[string]tracetest.SpanStub)
	for _, s := range b.kept.GetSpans() {
		out[s.Name] = s
	}
	return out
}

// metrics are the values of counters, and the counts of histograms, by name and
// attributes.
func (b *bench) metrics(tb testing.TB) map[string]int64 {
	tb.Helper()
	var rm metricdata.ResourceMetrics
	if err := b.reader.Collect(context.Background(), &rm); err != nil {
		tb.Fatal(err)
	}
	out := make(map[string]int64)
	for _, s := range rm.ScopeMetrics {
		for _, m := range s.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					out[m.Name+" "+text(p.Attributes)] = p.Value
				}
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					out[m.Name+" "+text(p.Attributes)] = int64(p.Count)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					out[m.Name+" "+text(p.Attributes)] = int64(p.Count)
				}
			default:
				tb.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	return out
}

func text(set attribute.Set) string {
	var parts []string
	for _, a := range set.ToSlice() {
		parts = append(parts, string(a.Key)+"="+a.Value.String())
	}
	return strings.Join(parts, ",")
}

func attr(s tracetest.SpanStub, key string) string {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

var (
	input = json.RawMessage(`{"file_path":"hush"}`)
	allow = permissions.Finding{Verdict: permissions.Allow, Layer: permissions.LayerRule}
	ask   = permissions.Finding{Verdict: permissions.Ask, Layer: permissions.LayerMode}
)

func decision(f permissions.Finding) *permissions.Decision { return &permissions.Decision{Finding: f} }

// place is where a call stands in its turn, by the number at the end of its id.
func place(id string) int {
	n, _ := strconv.Atoi(id[strings.LastIndexByte(id, '_')+1:])
	return n
}

// walk is a call from its beginning to its end.
func walk(id, tool string, result *abi.ToolResult) []host.Event {
	of := func(e host.Event) host.Event {
		e.CallID, e.Index, e.Tool, e.Title = id, place(id), tool, "hush"
		return e
	}
	return []host.Event{
		of(host.Event{Kind: host.EventQueued, Input: input}),
		of(host.Event{Kind: host.EventDecided, Decision: decision(ask)}),
		of(host.Event{Kind: host.EventQuestion, Question: &host.Question{Title: "hush"}}),
		of(host.Event{Kind: host.EventDecided, Decision: decision(allow)}),
		of(host.Event{Kind: host.EventStarted}),
		of(host.Event{Kind: host.EventProgress, Progress: &host.Progress{Progress: abi.Progress{Message: "hush", Output: "hush"}, Tail: "hush"}}),
		of(host.Event{Kind: host.EventDecided, Capability: "fs.read", Decision: decision(allow)}),
		of(host.Event{Kind: host.EventCapability, Capability: "fs.read"}),
		of(host.Event{Kind: host.EventCapability, Capability: "made.up", Err: abi.Errorf(abi.CodeUndeclared, "hush")}),
		of(host.Event{Kind: host.EventPersisted, Stored: &host.StoredResult{Path: "/hush", Chars: 7, Bytes: 9}}),
		of(host.Event{Kind: host.EventFinished, Result: result, Clocks: &host.Clocks{
			Queued: time.Second, Person: time.Second, Running: 2 * time.Second, Guest: time.Second, Capability: time.Second,
		}}),
		of(host.Event{Kind: host.EventResult, Result: result}),
	}
}

func answer(words string) *abi.ToolResult {
	return &abi.ToolResult{Content: []abi.Block{abi.TextBlock(words)}}
}

func failure(code abi.Code, words string) *abi.ToolResult {
	return &abi.ToolResult{IsError: true, Error: &abi.Error{Code: code, Message: words}, Content: []abi.Block{abi.TextBlock(words)}}
}

// TestSpanOfAForm times a person who fills in a form, and tells nothing of it.
func TestSpanOfAForm(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	form := &host.Question{Kind: host.QuestionForm, Title: "hush", Ask: host.Ask{Form: &host.Form{Message: "hush", Schema: input}}}
	events := []host.Event{
		{Kind: host.EventQueued}, {Kind: host.EventStarted}, {Kind: host.EventQuestion, Question: form},
		{Kind: host.EventProgress, Progress: &host.Progress{}}, {Kind: host.EventAnswered, Question: form, Answer: host.AnswerAllow},
		{Kind: host.EventProgress, Progress: &host.Progress{}}, {Kind: host.EventFinished, Result: answer(""), Clocks: &host.Clocks{}},
	}
	for i := range events {
		events[i].CallID, events[i].Index, events[i].Tool = "call_1", 1, "Read"
	}
	b.tell("s", "t", host.Event{Kind: host.EventTurn})
	b.tell("s", "t", append(events, host.Event{Kind: host.EventTurnEnded})...)
	asked := b.spans()["ask person"]
	if took := asked.EndTime.Sub(asked.StartTime); took != 2*time.Second || strings.Contains(fmt.Sprint(b.kept.GetSpans()), "hush") {
		t.Errorf("the person took %v; %+v", took, b.kept.GetSpans())
	}
}

func TestSpansOfATurn(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	b.tell("s", "t", host.Event{Kind: host.EventTurn})
	b.tell("s", "t", walk("call_1", "Read", answer("hush"))...)
	b.tell("s", "t", host.Event{Kind: host.EventStop, CallID: "call_1", Index: 1, Reason: "hush"}, host.Event{Kind: host.EventTurnEnded})
	spans := b.spans()
	turn, call := spans["turn"], spans["execute_tool Read"]
	if len(spans) != 5 || len(b.kept.GetSpans()) != 5 {
		t.Fatalf("spans %v", spans)
	}
	if turn.Parent.IsValid() || call.Parent.SpanID() != turn.SpanContext.SpanID() {
		t.Error("the call is not below its turn")
	}
	for _, name := range []string{"ask person", "capability fs.read", "capability _OTHER"} {
		if spans[name].Parent.SpanID() != call.SpanContext.SpanID() {
			t.Errorf("%s is not below its call", name)
		}
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Read", "gen_ai.tool.call.id": "call_1",
		"gen_ai.tool.type": "function", "gen_ai.conversation.id": "s", "toolquay.outcome": "ok", "error.type": "",
		"toolquay.clock.running": "2",
	} {
		if got := attr(call, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	took := func(name string) time.Duration { return spans[name].EndTime.Sub(spans[name].StartTime) }
	if took("ask person") != time.Second || took("capability fs.read") != time.Second || took("execute_tool Read") != 10*time.Second {
		t.Errorf("times: %v, %v, %v", took("ask person"), took("capability fs.read"), took("execute_tool Read"))
	}
	if s := spans["capability _OTHER"]; s.Status.Code != codes.Error || attr(s, "error.type") != "undeclared" {
		t.Errorf("a capability call that failed: %+v", s.Status)
	}
	var moments []string
	for _, s := range b.kept.GetSpans() {
		for _, e := range s.Events {
			moments = append(moments, s.Name+" "+e.Name)
		}
	}
	const want = "execute_tool Read decided|execute_tool Read decided|execute_tool Read started|" +
		"execute_tool Read progress|execute_tool Read decided|execute_tool Read persisted|turn stop"
	if got := strings.Join(moments, "|"); got != want {
		t.Errorf("events %s", got)
	}
}

// TestSpanOfAServersCall says which server has the tool, and by which method it is called.
func TestSpanOfAServersCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	events := walk("call_1", "mcp__github__get_issue", answer("x"))
	for i := range events {
		events[i].Server = host.ToolServer{Name: "github", Tool: "get_issue"}
	}
	b.tell("s", "t", events...)
	reads := walk("call_2", "ReadMcpResource", answer("x"))
	for i := range reads {
		reads[i].Server = host.ToolServer{Name: "github"}
	}
	b.tell("s", "t", reads...)
	if got := attr(b.spans()["execute_tool ReadMcpResource"], "mcp.method.name"); got != "resources/read" {
		t.Errorf("reading a resource is %q", got)
	}
	call := b.spans()["execute_tool mcp__github__get_issue"]
	for key, want := range map[string]string{
		"gen_ai.tool.type": "extension", "mcp.method.name": "tools/call", "toolquay.mcp.server": "github", "toolquay.mcp.tool": "get_issue",
	} {
		if got := attr(call, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// TestProgress is told so seldom that it drives nothing else out of a span.
func TestProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	all := walk("call_1", "Read", answer("x"))
	b.tell("s", "t", all[:5]...)
	report := all[5]
	for i := range 1000 {
		report.Progress = &host.Progress{Lines: int64(i + 1)}
		b.tell("s", "t", report)
	}
	report.Index = 9 // of a call that is not known
	b.tell("s", "t", report)
	b.tell("s", "t", all[6:]...)
	b.tell("s", "t", host.Event{Kind: host.EventTurnEnded})
	if turn := b.spans()["turn"]; len(turn.Events) != 0 {
		t.Errorf("events of the turn %v", turn.Events)
	}
	var lines []int64
	call := b.spans()["execute_tool Read"]
	for _, e := range call.Events {
		if e.Name == "progress" {
			lines = append(lines, e.Attributes[0].Value.AsInt64())
		}
	}
	if want := []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}; !slices.Equal(lines, want) || call.DroppedEvents != 0 {
		t.Errorf("progress at lines %v, want %v; %d events dropped", lines, want, call.DroppedEvents)
	}
}

// TestContentIsNotRecorded looks for it in everything that is told.
func TestContentIsNotRecorded(t *testing.T) {
	t.Parallel()
	for _, content := range []bool{false, true} {
		b := newBench(t, telemetry.Options{Content: content})
		b.tell("s", "t", walk("call_1", "Read", failure(abi.CodeNotFound, "hush"))...)
		b.tell("s", "t", host.Event{Kind: host.EventRewritten, CallID: "call_2", Index: 2, Input: input},
			host.Event{Kind: host.EventMessage, Reason: "hush"}, host.Event{Kind: host.EventTurnEnded})
		told := fmt.Sprintf("%+v %v", b.kept.GetSpans(), b.metrics(t))
		if strings.Contains(told, "hush") != content {
			t.Errorf("content %t: %s", content, told)
		}
		call := b.spans()["execute_tool Read"]
		if attr(call, "error.type") != "not_found" || call.Status.Code != codes.Error {
			t.Errorf("%+v", call.Status)
		}
		if got := attr(call, "gen_ai.tool.call.arguments"); content != (got == string(input)) {
			t.Errorf("content %t: arguments %q", content, got)
		}
	}
}

func TestLongContentIsCut(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{Content: true})
	b.tell("s", "t", walk("call_1", "Read", answer("a\xff"+strings.Repeat("é", 20_000)))...)
	got := attr(b.spans()["execute_tool Read"], "gen_ai.tool.call.result")
	if len(got) > 17_000 || !strings.HasPrefix(got, "a\uFFFDé") || !strings.HasSuffix(got, "é...") {
		t.Errorf("%d bytes: %.10q", len(got), got)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	b.tell("s", "t", walk("1", "Read", answer("12345"))...)
	b.tell("s", "t", walk("2", "Read", failure(abi.CodeDenied, "no"))...)
	b.tell("s", "t", walk("3", "Bash", &abi.ToolResult{IsError: true})...)
	b.tell("s", "t", walk("4", "Bash", failure(abi.CodeInterrupted, "so"))[:5]...)
	b.tell("s", "t", host.Event{Kind: host.EventQueued, CallID: "5", Index: 5, Tool: "made up by a model"},
		host.Event{Kind: host.EventFinished, CallID: "5", Index: 5, Tool: "made up by a model", Result: failure(abi.CodeUnknownTool, "none")},
		host.Event{Kind: host.EventQueued, CallID: "6", Index: 6, Tool: "Read", Input: input}, host.Event{Kind: host.EventDiscarded, CallID: "6", Index: 6, Tool: "Read"},
		host.Event{Kind: host.EventAbandoned, CallID: "2", Index: 2, Tool: "Read"})
	want := map[string]int64{
		"toolquay.tool.calls gen_ai.tool.name=Read,toolquay.outcome=ok":                                          1,
		"toolquay.tool.calls error.type=denied,gen_ai.tool.name=Read,toolquay.outcome=denied":                    1,
		"toolquay.tool.calls error.type=tool_error,gen_ai.tool.name=Bash,toolquay.outcome=error":                 1,
		"toolquay.tool.calls error.type=unknown_tool,gen_ai.tool.name=_OTHER,toolquay.outcome=error":             1,
		"toolquay.tool.calls gen_ai.tool.name=Read,toolquay.outcome=discarded":                                   1,
		"gen_ai.execute_tool.duration gen_ai.tool.name=Read,toolquay.outcome=ok":                                 1,
		"gen_ai.execute_tool.duration error.type=denied,gen_ai.tool.name=Read,toolquay.outcome=denied":           1,
		"gen_ai.execute_tool.duration error.type=tool_error,gen_ai.tool.name=Bash,toolquay.outcome=error":        1,
		"toolquay.tool.guest_time gen_ai.tool.name=Read":                                                         2,
		"toolquay.tool.guest_time gen_ai.tool.name=Bash":                                                         1,
		"toolquay.tool.capability_time gen_ai.tool.name=Read":                                                    2,
		"toolquay.tool.capability_time gen_ai.tool.name=Bash":                                                    1,
		"toolquay.tool.queue_time gen_ai.tool.name=Read":                                                         2,
		"toolquay.tool.queue_time gen_ai.tool.name=Bash":                                                         1,
		"toolquay.tool.person_time gen_ai.tool.name=Read":                                                        2,
		"toolquay.tool.person_time gen_ai.tool.name=Bash":                                                        1,
		"toolquay.tool.result_size gen_ai.tool.name=Read":                                                        2,
		"toolquay.tool.result_size gen_ai.tool.name=Bash":                                                        1,
		"toolquay.tool.result_size gen_ai.tool.name=_OTHER":                                                      1,
		"toolquay.tool.persisted gen_ai.tool.name=Read":                                                          18,
		"toolquay.tool.persisted gen_ai.tool.name=Bash":                                                          9,
		"toolquay.tool.running gen_ai.tool.name=Read":                                                            0,
		"toolquay.tool.running gen_ai.tool.name=Bash":                                                            1,
		"toolquay.tool.abandoned gen_ai.tool.name=Read":                                                          1,
		"toolquay.capability.calls toolquay.capability.name=fs.read,toolquay.outcome=ok":                         3,
		"toolquay.capability.calls error.type=undeclared,toolquay.capability.name=_OTHER,toolquay.outcome=error": 3,
		"toolquay.capability.duration toolquay.capability.name=fs.read":                                          3,
		"toolquay.capability.duration toolquay.capability.name=_OTHER":                                           3,
		"toolquay.decisions toolquay.decision.layer=mode,toolquay.decision.verdict=ask":                          4,
		"toolquay.decisions toolquay.decision.layer=rule,toolquay.decision.verdict=allow":                        7,
	}
	got := b.metrics(t)
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %d, want %d", name, got[name], value)
		}
	}
	for name, value := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s = %d was not expected", name, value)
		}
	}
}

// TestNestedCallsAreBelowTheirParent, in the same session and in one that an agent has.
func TestNestedCallsAreBelowTheirParent(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	// Another session's call has the same id.
	b.tell("other", "o", host.Event{Kind: host.EventTurn}, walk("call_1", "Grep", nil)[0])
	main := func(events ...host.Event) {
		for _, e := range events {
			e.Caller = host.Caller{Agent: host.MainAgent, Chain: "s"}
			b.tell("s", "t", e)
		}
	}
	main(host.Event{Kind: host.EventTurn}, walk("call_1", "Agent", nil)[0])
	nested := func(session, turn, parent string, depth int, events ...host.Event) {
		for _, e := range events {
			e.Caller = host.Caller{Agent: "explore-1", Team: "red", Chain: "s", Parent: parent, Depth: depth}
			b.tell(session, turn, e)
		}
	}
	nested("s", "n", "call_1", 1, append([]host.Event{{Kind: host.EventTurn}}, walk("call_9", "Read", answer(""))...)...)
	nested("s", "n", "call_1", 1, host.Event{Kind: host.EventTurnEnded})
	main(walk("call_2", "Task", nil)[0])
	nested("agent", "a", "call_2", 1, walk("call_1", "Bash", answer(""))...)
	nested("agent", "m", "nobody", 1, walk("call_1", "Glob", answer(""))...)
	main(host.Event{Kind: host.EventFinished, CallID: "call_1", Index: 1, Tool: "Agent", Result: answer("")},
		host.Event{Kind: host.EventFinished, CallID: "call_2", Index: 2, Tool: "Task", Result: answer("")}, host.Event{Kind: host.EventTurnEnded})
	b.Close()
	spans := b.spans()
	for child, parent := range map[string]string{
		"execute_tool Read": "execute_tool Agent", "execute_tool Bash": "execute_tool Task", "execute_tool Agent": "turn", "execute_tool Glob": "turn",
	} {
		got := spans[child].Parent.SpanID()
		ok := got == spans[parent].SpanContext.SpanID()
		for _, s := range b.kept.GetSpans() { // several turns have the name
			ok = ok || s.Name == parent && s.SpanContext.SpanID() == got
		}
		if !ok {
			t.Errorf("%s is not below %s", child, parent)
		}
	}
	for key, want := range map[string]string{
		"gen_ai.conversation.id": "agent", "toolquay.turn.id": "a", "gen_ai.agent.id": "explore-1",
		"toolquay.team.id": "red", "toolquay.chain.id": "s", "toolquay.call.parent": "call_2",
	} {
		if got := attr(spans["execute_tool Bash"], key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	turns := 0
	for _, s := range b.kept.GetSpans() {
		if s.Name == "turn" {
			turns++
		}
	}
	if turns != 3 { // s, other, and the one that nobody made
		t.Errorf("%d spans of turns", turns)
	}
}

// TestIdsThatAreThereTwice: a model may give one to two calls, the second of which is
// refused.
func TestIdsThatAreThereTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	first := walk("call_1", "Read", answer(""))
	b.tell("s", "t", first[:5]...)
	b.tell("s", "t", host.Event{Kind: host.EventQueued, CallID: "call_1", Index: 2, Tool: "Bash"},
		host.Event{Kind: host.EventFinished, CallID: "call_1", Index: 2, Tool: "Bash", Result: failure(abi.CodeInvalidInput, "twice")})
	b.tell("s", "t", first[5:]...)
	b.tell("s", "t", host.Event{Kind: host.EventTurnEnded})
	spans := b.spans()
	if attr(spans["execute_tool Read"], "toolquay.outcome") != "ok" || attr(spans["execute_tool _OTHER"], "error.type") != "invalid_input" {
		t.Errorf("%+v", spans)
	}
}

func TestTurnsAreBelowTheEmbeddersSpan(t *testing.T) {
	t.Parallel()
	above := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	b := newBench(t, telemetry.Options{})
	b.tell("s", "t", host.Event{Kind: host.EventTurn, Context: trace.ContextWithSpanContext(t.Context(), above)}, host.Event{Kind: host.EventTurnEnded})
	if s := b.spans()["turn"]; s.Parent.SpanID() != above.SpanID() || s.SpanContext.TraceID() != above.TraceID() {
		t.Errorf("%+v", s.Parent)
	}
}

// TestWhatNeverEndsIsLetGo: turns and calls whose end is never told take bounded
// memory, and their spans are ended and say so.
func TestWhatNeverEndsIsLetGo(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	const turns = 3000
	for i := range turns {
		id := strconv.Itoa(i)
		b.tell("s", id, walk("c", "Read", nil)[:8]...)
	}
	for i := range 6000 {
		b.tell("s", "long", walk(strconv.Itoa(i), "Bash", nil)[:1]...)
	}
	if got := b.Remembered(); got > 1024+2*(1023+4096) { // each call is in two lists
		t.Errorf("%d things are remembered", got)
	}
	b.Close()
	if got := b.Remembered(); got != 0 {
		t.Errorf("%d things are remembered after Close", got)
	}
	ended, lost := 0, 0
	for _, s := range b.kept.GetSpans() {
		if s.Name == "turn" || strings.HasPrefix(s.Name, "execute_tool") {
			ended++
			if attr(s, "toolquay.incomplete") == "true" {
				lost++
			}
		}
	}
	if want := 2*turns + 1 + 4096; ended != want || lost != want {
		t.Errorf("%d spans ended, %d of them incomplete, want %d", ended, lost, want)
	}
	if got := b.metrics(t)["toolquay.tool.running gen_ai.tool.name=Read"]; got != 0 {
		t.Errorf("%d calls run for ever", got)
	}
}

// TestWhatIsOfNoTurn makes no spans of it, and does not mix it with a turn.
func TestWhatIsOfNoTurn(t *testing.T) {
	b := newBench(t, telemetry.Options{})
	b.tell("s", "",
		host.Event{Kind: host.EventTools, Tools: &host.ToolsChange{Added: []string{"Read"}}},
		host.Event{Kind: host.EventTask, CallID: "1", Task: &capability.TaskInfo{ID: "b12345678"}},
		host.Event{Kind: host.EventGit, CallID: "1", Git: &capability.GitEvent{Kind: capability.GitCommit}})
	b.Close()
	if spans := b.spans(); len(spans) > 0 {
		t.Errorf("there are the spans %v", spans)
	}
}

// TestEventsOutOfOrder: what was lost before an event, or comes after the end, does no
// harm.
func TestEventsOutOfOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{})
	all := append([]host.Event{{Kind: host.EventTurn}, {Kind: host.EventTurnEnded}, {}, {Kind: "unheard of"}}, walk("1", "Read", nil)...)
	for _, first := range all {
		for _, second := range all {
			b.tell("s", "t", first, second)
			b.tell("", "", first, second)
		}
	}
	b.tell("s", "t", host.Event{Kind: host.EventTurnEnded})
	if got := b.Remembered(); got != 0 {
		t.Errorf("%d things are remembered", got)
	}
}

// TestHammer tells of many turns at once.
func TestHammer(t *testing.T) {
	t.Parallel()
	b := newBench(t, telemetry.Options{Content: true})
	var wait sync.WaitGroup
	const turns = 50
	at := time.Now()
	for i := range turns {
		wait.Go(func() {
			for j := range 20 {
				for _, e := range append(walk("c_"+strconv.Itoa(j%3), "Read", answer("x")), host.Event{Kind: host.EventTurnEnded}) {
					e.Session, e.Turn, e.Time = "s", strconv.Itoa(i), at
					b.Observe(e)
				}
			}
		})
	}
	wait.Go(func() {
		for range 10 {
			b.metrics(t)
		}
	})
	wait.Wait()
	if got := b.metrics(t)["toolquay.tool.calls gen_ai.tool.name=Read,toolquay.outcome=ok"]; got != turns*20 {
		t.Errorf("%d calls", got)
	}
	if got := b.Remembered(); got != 0 {
		t.Errorf("%d things are remembered", got)
	}
}
