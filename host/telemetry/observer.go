package telemetry

import (
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/toolquay/toolquay/host"
)

// Options configure an [Observer].
type Options struct {
	// Content records what calls are given and what they answer, with messages that
	// may quote it: file contents, commands, secrets in them.
	Content bool
}

// Observer makes spans and measurements of events. It is safe for concurrent use,
// starts no goroutine and never waits for an exporter, as far as the providers it was
// given do not.
type Observer struct {
	options Options
	tracer  trace.Tracer
	meters  *instruments
	// underway is what has not ended.
	underway underway
}

// The most that is remembered where events that end things are lost, or things do
// not end.
const (
	maxTurns = 1024
	// maxCalls is of one turn; those beyond it are measured, and have no span.
	maxCalls = 4096
	// maxBeside is of capability calls of one name in one call.
	maxBeside = 64
	// maxContent bounds a text that is recorded, in bytes.
	maxContent = 16 << 10
)

// New makes an observer of the providers, whose Observe is for
// [host.Options].Observe.Events. Without one of them nothing of its kind is told. It fails
// where the provider of meters refuses an instrument.
func New(tracers trace.TracerProvider, meters metric.MeterProvider, o Options) (*Observer, error) {
	if tracers == nil {
		tracers = tracenoop.NewTracerProvider()
	}
	if meters == nil {
		meters = metricnoop.NewMeterProvider()
	}
	in, err := newInstruments(meters.Meter(scope))
	if err != nil {
		return nil, err
	}
	return &Observer{
		options: o, tracer: tracers.Tracer(scope), meters: in,
		underway: underway{turns: make(map[string]*turn), calls: make(map[string][]*call)},
	}, nil
}

// Observe takes one event.
func (o *Observer) Observe(e host.Event) {
	if e.Turn == "" {
		return // it is of no span
	}
	switch e.Kind {
	case host.EventLog, host.EventInterruptible, host.EventResult:
		return // nothing of them is told
	case host.EventTurn:
		o.turn(&e)
		return
	case host.EventTurnEnded:
		o.endTurn(&e)
		return
	}
	t := o.turn(&e)
	if t == nil { // it is over
		o.meters.count(&e)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	o.call(t, &e)
}

// Close ends the spans of what has not ended. The observer may be used on.
func (o *Observer) Close() {
	for _, t := range o.underway.takeAll() {
		o.lose(t)
	}
}
