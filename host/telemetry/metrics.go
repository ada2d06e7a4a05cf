package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// The bounds of histograms.
var (
	durations = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 3600}
	sizes     = []float64{100, 1_000, 10_000, 50_000, 100_000, 500_000, 1_000_000, 10_000_000, 100_000_000}
)

// instruments are what is measured. Package comment: their names and attributes.
type instruments struct {
	calls, persisted, abandoned, capabilities, decisions metric.Int64Counter
	running                                              metric.Int64UpDownCounter
	capability                                           metric.Float64Histogram
	size                                                 metric.Int64Histogram
	times                                                times

	// sets are the attributes that were used, so that they are made once. There are
	// as many as tools and capabilities times codes.
	mu   sync.RWMutex
	sets map[labels]metric.MeasurementOption
	// tools are those that ran at least once.
	tools map[string]bool
}

// times measure where the time of calls goes.
type times struct {
	duration, queue, person, guest, within metric.Float64Histogram
}

// labels are the attributes of one measurement; what is empty is left out.
type labels struct {
	tool, capability, outcome, code, verdict, layer string
}

func newInstruments(m metric.Meter) (*instruments, error) {
	in := &instruments{sets: make(map[labels]metric.MeasurementOption), tools: make(map[string]bool)}
	var failed []error
	counter := func(name, unit, about string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(about))
		failed = append(failed, err)
		return c
	}
	seconds := func(name, about string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(durations...))
		failed = append(failed, err)
		return h
	}
	in.calls = counter("toolquay.tool.calls", "{call}", "Calls that ended")
	in.persisted = counter("toolquay.tool.persisted", "By", "Results put into files, as they were too long")
	in.abandoned = counter("toolquay.tool.abandoned", "{call}", "Calls that left something behind which did not end")
	in.capabilities = counter("toolquay.capability.calls", "{call}", "What plugins asked the host to do")
	in.decisions = counter("toolquay.decisions", "{decision}", "Permission decisions")
	in.times.duration = seconds("gen_ai.execute_tool.duration", "How long calls ran")
	in.times.queue = seconds("toolquay.tool.queue_time", "How long calls waited for their turn")
	in.times.person = seconds("toolquay.tool.person_time", "How long calls waited for a person")
	in.times.guest = seconds("toolquay.tool.guest_time", "How long calls were in the tool itself")
	in.times.within = seconds("toolquay.tool.capability_time", "How long calls were in capability calls")
	in.capability = seconds("toolquay.capability.duration", "How long capability calls took")
	var err error
	in.running, err = m.Int64UpDownCounter("toolquay.tool.running", metric.WithUnit("{call}"), metric.WithDescription("Calls that run now"))
	failed = append(failed, err)
	in.size, err = m.Int64Histogram("toolquay.tool.result_size", metric.WithUnit("By"), metric.WithDescription("The size of results"),
		metric.WithExplicitBucketBoundaries(sizes...))
	return in, errors.Join(append(failed, err)...)
}

// with returns the attributes as an option.
func (in *instruments) with(l labels) metric.MeasurementOption {
	in.mu.RLock()
	set, ok := in.sets[l]
	in.mu.RUnlock()
	if ok {
		return set
	}
	var attrs []attribute.KeyValue
	for _, a := range []struct {
		key   attribute.Key
		value string
	}{
		{keyTool, l.tool}, {keyCapability, l.capability}, {keyOutcome, l.outcome},
		{keyErrorType, l.code}, {keyVerdict, l.verdict}, {keyLayer, l.layer},
	} {
		if a.value != "" {
			attrs = append(attrs, a.key.String(a.value))
		}
	}
	set = metric.WithAttributeSet(attribute.NewSet(attrs...))
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sets[l] = set
	return set
}

// background is what measurements are made in: events carry no context.
var background = context.Background()

// started counts a call that runs, and stopped one that does so no more.
func (in *instruments) started(tool string) {
	in.running.Add(background, 1, in.with(labels{tool: tool}))
	if in.known(tool) == other {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.tools[tool] = true
	}
}

// known is a tool's name where the call itself is not known any more, unless a model
// may have made it up.
func (in *instruments) known(tool string) string {
	in.mu.RLock()
	defer in.mu.RUnlock()
	if in.tools[tool] {
		return tool
	}
	return other
}

func (in *instruments) stopped(tool string) {
	in.running.Add(background, -1, in.with(labels{tool: tool}))
}

// finished measures a call that ended, with or without having run.
func (in *instruments) finished(tool, code string, e *host.Event) {
	in.calls.Add(background, 1, in.with(labels{tool: tool, outcome: outcomeOf(code), code: code}))
	byTool := in.with(labels{tool: tool})
	if e.Result != nil {
		in.size.Record(background, size(e.Result), byTool)
	}
	if c := e.Clocks; c != nil {
		in.times.record(c, byTool, in.with(labels{tool: tool, outcome: outcomeOf(code), code: code}))
	}
}

// record measures where a call's time went. What a call has not met is left out.
func (t *times) record(c *host.Clocks, byTool, byOutcome metric.MeasurementOption) {
	t.queue.Record(background, c.Queued.Seconds(), byTool)
	if c.Person > 0 {
		t.person.Record(background, c.Person.Seconds(), byTool)
	}
	if c.Running > 0 {
		t.duration.Record(background, c.Running.Seconds(), byOutcome)
		t.guest.Record(background, c.Guest.Seconds(), byTool)
		t.within.Record(background, c.Capability.Seconds(), byTool)
	}
}

// discarded counts a call whose result is not to leave.
func (in *instruments) discarded(tool string) {
	in.calls.Add(background, 1, in.with(labels{tool: tool, outcome: outcomeDiscarded}))
}

// called measures a capability call.
func (in *instruments) called(name, code string, took time.Duration) {
	in.capabilities.Add(background, 1, in.with(labels{capability: name, outcome: outcomeOf(code), code: code}))
	in.capability.Record(background, took.Seconds(), in.with(labels{capability: name}))
}

func (in *instruments) decided(e *host.Event) {
	if d := e.Decision; d != nil {
		in.decisions.Add(background, 1, in.with(labels{verdict: d.Verdict.String(), layer: string(d.Layer)}))
	}
}

func (in *instruments) stored(tool string, e *host.Event) {
	if e.Stored != nil {
		in.persisted.Add(background, e.Stored.Bytes, in.with(labels{tool: tool}))
	}
}

// gone counts a call that left something behind which did not end.
func (in *instruments) gone(tool string) {
	in.abandoned.Add(background, 1, in.with(labels{tool: tool}))
}

// size is how many bytes a result holds.
func size(r *abi.ToolResult) int64 {
	n := int64(len(r.Structured))
	for i := range r.Content {
		b := &r.Content[i]
		n += int64(len(b.Text)) + int64(len(b.Data))
		if b.Spilled != nil {
			n += b.Spilled.Bytes
		}
	}
	return n
}

// count measures an event of a call that has no span: its turn is over, or was lost,
// or has too many.
func (in *instruments) count(e *host.Event) {
	switch e.Kind {
	case host.EventFinished:
		in.finished(in.known(e.Tool), codeOf(e.Result), e)
	case host.EventCapability:
		code := errorCode(e.Err)
		in.called(capabilityName(e.Capability, code), code, 0)
	case host.EventDecided:
		in.decided(e)
	case host.EventPersisted, host.EventReplaced:
		in.stored(in.known(e.Tool), e)
	case host.EventAbandoned:
		in.gone(in.known(e.Tool))
	}
}
