package telemetry

import (
	"math/bits"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// call takes an event of a call. The caller holds the turn's mutex.
func (o *Observer) call(t *turn, e *host.Event) {
	c := t.calls[e.Index]
	if c == nil {
		if e.Kind == host.EventQueued && !t.over && len(t.calls) < maxCalls {
			o.queued(t, e)
			return
		}
		o.meters.count(e)
		if !t.over && e.Kind != host.EventProgress {
			o.moment(t.span, e)
		}
		return
	}
	switch e.Kind {
	case host.EventStarted:
		c.tool, c.running = e.Tool, true
		o.meters.started(c.tool)
		o.moment(c.span, e)
	case host.EventDecided:
		o.decided(c, e)
	case host.EventQuestion:
		c.answered(e.Time)
		_, c.asking = o.tracer.Start(c.ctx, "ask person", trace.WithTimestamp(e.Time), trace.WithAttributes(about(e)...))
	case host.EventRewritten, host.EventAnswered:
		c.answered(e.Time)
		o.moment(c.span, e)
	case host.EventCapability:
		o.capability(c, e)
	case host.EventProgress:
		// Others are left out, for they would drive out of the span what came before.
		if c.reports++; bits.OnesCount(c.reports) == 1 {
			o.moment(c.span, e)
		}
	case host.EventFinished:
		o.finished(t, c, e)
	case host.EventDiscarded:
		o.meters.discarded(c.tool)
		o.moment(c.span, e)
		c.span.SetAttributes(keyOutcome.String(outcomeDiscarded))
		o.endCall(t, e.Index, c, trace.WithTimestamp(e.Time))
	case host.EventPersisted, host.EventReplaced:
		o.meters.stored(c.tool, e)
		o.moment(c.span, e)
	case host.EventAbandoned:
		o.meters.gone(c.tool)
		o.moment(c.span, e)
	default:
		o.moment(c.span, e)
	}
}

// queued begins the span of a call.
func (o *Observer) queued(t *turn, e *host.Event) {
	c := &call{id: e.CallID, session: e.Session, chain: e.Chain, depth: e.Depth, tool: toolOf(e)}
	attrs := []attribute.KeyValue{
		keyOperation.String("execute_tool"), keyTool.String(clip(e.Tool)), keyCallID.String(clip(e.CallID)), keyDepth.Int(e.Depth),
	}
	attrs = append(append(attrs, from(e)...), of(e)...)
	if o.options.Content {
		attrs = append(attrs, keyTitle.String(clip(e.Title)), keyArguments.String(clip(string(e.Input))))
	}
	c.ctx, c.span = o.tracer.Start(t.ctx, "execute_tool "+c.tool, trace.WithTimestamp(e.Time), trace.WithAttributes(attrs...))
	o.underway.add(t, e.Index, c)
}

// of says whose tool a call is of. A server's runs elsewhere, which the conventions call an
// extension.
func of(e *host.Event) []attribute.KeyValue {
	s := e.Server
	if s.Name == "" {
		return []attribute.KeyValue{keyToolType.String("function")}
	}
	attrs := []attribute.KeyValue{keyToolType.String("extension"), keyServer.String(clip(s.Name))}
	if s.Tool == "" { // it is no tool of the server's that is called: ReadMcpResource
		return append(attrs, keyMethod.String("resources/read"))
	}
	return append(attrs, keyMethod.String("tools/call"), keyServerTool.String(clip(s.Tool)))
}

// from says where an event happens, and who makes the calls.
func from(e *host.Event) []attribute.KeyValue {
	attrs := []attribute.KeyValue{
		keyConversation.String(e.Session), keyTurn.String(e.Turn), keyAgent.String(e.Agent), keyChain.String(e.Chain),
	}
	if e.Team != "" {
		attrs = append(attrs, keyTeam.String(e.Team))
	}
	if e.Parent != "" {
		attrs = append(attrs, keyParent.String(clip(e.Parent)))
	}
	return attrs
}

// toolOf is the name of an event's tool, unless a model may have made it up: a call
// has an input once its tool was found.
func toolOf(e *host.Event) string {
	if e.Kind == host.EventQueued && e.Input == nil {
		return other
	}
	return e.Tool
}

// decided notes when a capability call was allowed: what it takes counts from there.
func (o *Observer) decided(c *call, e *host.Event) {
	o.meters.decided(e)
	o.moment(c.span, e)
	c.answered(e.Time)
	if e.Capability == "" || e.Decision == nil || e.Decision.Verdict != permissions.Allow {
		return
	}
	if c.allowed == nil {
		c.allowed = make(map[string][]time.Time)
	}
	if begun := c.allowed[e.Capability]; len(begun) < maxBeside {
		c.allowed[e.Capability] = append(begun, e.Time)
	}
}

// took is how long a capability call took that ends now: since it was allowed, or no
// time where it was not. Of several with one name the first allowed counts as the
// first to end, which leaves their sum what it is.
func (c *call) took(e *host.Event) time.Duration {
	begun := c.allowed[e.Capability]
	if len(begun) == 0 {
		return 0
	}
	c.allowed[e.Capability] = begun[1:]
	return max(e.Time.Sub(begun[0]), 0)
}

// answered ends the wait for a person.
func (c *call) answered(at time.Time) {
	if c.asking != nil {
		c.asking.End(trace.WithTimestamp(at))
		c.asking = nil
	}
}

// capability tells of a capability call that ended.
func (o *Observer) capability(c *call, e *host.Event) {
	c.answered(e.Time) // where nobody answered
	code := errorCode(e.Err)
	name := capabilityName(e.Capability, code)
	took := c.took(e)
	o.meters.called(name, code, took)
	_, span := o.tracer.Start(c.ctx, "capability "+name,
		trace.WithTimestamp(e.Time.Add(-took)), trace.WithAttributes(keyCapability.String(name)))
	fail(span, code, e.Err, o.options.Content)
	span.End(trace.WithTimestamp(e.Time))
}

// finished ends the span of a call.
func (o *Observer) finished(t *turn, c *call, e *host.Event) {
	code := codeOf(e.Result)
	o.meters.finished(c.tool, code, e)
	attrs := []attribute.KeyValue{keyOutcome.String(outcomeOf(code))}
	if k := e.Clocks; k != nil {
		attrs = append(attrs, keyQueued.Float64(k.Queued.Seconds()), keyPerson.Float64(k.Person.Seconds()),
			keyRunning.Float64(k.Running.Seconds()), keyGuest.Float64(k.Guest.Seconds()), keyCapTime.Float64(k.Capability.Seconds()))
	}
	if o.options.Content && e.Result != nil {
		attrs = append(attrs, keyResult.String(clip(e.Result.Text())))
	}
	c.span.SetAttributes(attrs...)
	var err error
	if e.Result != nil && e.Result.Error != nil {
		err = e.Result.Error
	}
	fail(c.span, code, err, o.options.Content)
	o.endCall(t, e.Index, c, trace.WithTimestamp(e.Time))
}

// fail marks a span as that of a failure, where there is a code. What an error says
// may quote what the call was given.
func fail(span trace.Span, code string, err error, content bool) {
	if code == "" {
		return
	}
	text := code
	if content && err != nil {
		text = clip(err.Error())
	}
	span.SetAttributes(keyErrorType.String(code))
	span.SetStatus(codes.Error, text)
}

// endCall ends a call's span and lets go of the call.
func (o *Observer) endCall(t *turn, place int, c *call, at ...trace.SpanEndOption) {
	if c.running {
		o.meters.stopped(c.tool)
	}
	if c.asking != nil {
		c.asking.End(at...)
	}
	c.span.End(at...)
	o.underway.forget(t, place, c)
}
