package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/approvals"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/host/message/stream"
)

const helpStream = `
With --stream the calls are read while the model still writes, and run as soon as
each is complete. --input says how they come (see also the package
host/message/stream):

  jsonl           one JSON object a line: {"type":"tool_use","id":"t1",
                  "name":"Read","input":{...}}, {"type":"interrupt"},
                  {"type":"discard"}, {"type":"permission",...} and, where the
                  message is complete, {"type":"end"}; then the next may follow
  anthropic-sse   a streamed response of the Anthropic Messages API, as it is
  openai-sse      one of the OpenAI Chat Completions or Responses API

What happens goes to standard output as JSON Lines, each with its type, time,
turn, call and elapsed_ms: started, progress, permission, result (in call order),
persisted, replaced, discarded, interruptible, message, error (a part of the input
that could not be read and was passed over) and, once for each turn, done. With
--output anthropic or openai it is the reply to each message instead.

Where jsonl comes on standard input, and --approval is auto, what the rules leave
open is asked by a line {"type":"permission","approval":ID,...} and answered by
{"type":"permission","approval":ID,"answer":"allow"}, or "deny" with a "message",
or "later"; --approval never denies it instead. The first SIGINT interrupts the
turn as {"type":"interrupt"} does, the next one ends it, a third the process.
`

// streamDriver runs the turns of a stream: one goroutine reads what comes in,
// another writes what comes out.
type streamDriver struct {
	*app

	file    string
	flags   runFlags
	output  message.Format
	session *host.Session
	// contract finds a tool's contract by its name.
	contract func(name string) *abi.Tool
	cancel   context.CancelCauseFunc
	// asker asks over the stream; nil where somebody else is asked, or nobody.
	asker *streamAsker
	turns chan *streamTurn

	mu sync.Mutex
	// open takes calls; nil between messages. unfinished are the turns whose last
	// result has not left.
	open        *streamTurn
	unfinished  []*streamTurn
	begun       int
	calls       int
	faults      int
	interrupted bool
	failed      error
	unsaid      []stream.Fault
	worst       int

	// saying is held while faults are written.
	saying sync.Mutex
}

// streamTurn is a turn, and what became of the message it is of.
type streamTurn struct {
	*host.Stream

	number      int
	stopReason  string
	discarded   bool
	interrupted bool
}

// maxAhead is how many turns may wait for those before them; then nothing more is
// read.
const maxAhead = 64

func (a *app) stream(ctx context.Context, file string, f runFlags) error {
	d := &streamDriver{app: a, file: file, flags: f, output: message.List, turns: make(chan *streamTurn, maxAhead)}
	if f.output != "" {
		d.output = message.Format(f.output)
	}
	in, err := a.openStream(file)
	if err != nil {
		return err
	}
	defer in.Close()
	items, err := stream.Decode(in, stream.Format(f.input))
	if err != nil {
		return usageError("--input: %w", err)
	}
	ctx, d.cancel = context.WithCancelCause(ctx)
	defer d.cancel(nil)
	o, err := a.open(ctx, func(s *setup) {
		s.calls = true
		s.session.Asker = d.choose(s)
	})
	if err != nil {
		return err
	}
	defer o.close()
	o.follow(ctx)
	o.warnBroken()
	d.session, d.contract = o.session, o.contract
	defer takeBrokenPipes()()
	watchReader(os.Stdout, func() { d.fail(hostError(errReaderGone)) })
	a.signals.onInterrupt(d.signalled)
	defer a.signals.onInterrupt(nil)
	go d.read(ctx, items)
	d.write(ctx)
	d.sayFaults()
	return d.end(ctx)
}

// openStream opens the input. Standard input is not closed: who reads it may wait
// for it until the process ends.
func (a *app) openStream(file string) (io.ReadCloser, error) {
	if file == "-" {
		if ui.IsTerminal(a.in) {
			a.err.Printf("Reading from the terminal; Ctrl-D ends the input.\n")
		}
		return io.NopCloser(a.in), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return f, nil
}

// choose is who is asked what the rules leave open.
func (d *streamDriver) choose(s *setup) host.Asker {
	resume := approvals.Resume{Format: d.output}
	over := d.file == "-" && stream.Format(d.flags.input) == stream.JSONL && d.output == message.List
	if !over || d.app.flags.approval != approveAuto {
		return d.app.asker(s, d.file != "-", resume)
	}
	d.asker = newStreamAsker(func() host.Asker { return d.later(s, resume) })
	return d.limited(s, d.asker)
}

var errReaderGone = errors.New("writing the output: nobody reads it any more")

// takeBrokenPipes has writing to a reader that went away fail, instead of ending
// the process at once: calls that run are to be ended, not left behind.
func takeBrokenPipes() (restore func()) {
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)
	return func() { signal.Stop(ignored) }
}

// write shows the turns, one after the other, as the session runs them.
func (d *streamDriver) write(ctx context.Context) {
	for {
		select {
		case t, more := <-d.turns:
			if !more {
				return
			}
			d.show(t)
		case <-ctx.Done():
			d.writeRest()
			return
		}
	}
}

// writeRest shows the turns that are there. What is read may never end.
func (d *streamDriver) writeRest() {
	for {
		select {
		case t, more := <-d.turns:
			if !more {
				return
			}
			d.show(t)
		default:
			return
		}
	}
}

// show writes a turn to its end.
func (d *streamDriver) show(t *streamTurn) {
	reporter := stream.NewReporter(t.number)
	reporter.Answerable = d.asker != nil
	var results turnResults
	var timeline *ui.Timeline
	if d.timed() {
		timeline = ui.NewTimeline(d.err, d.flags.verbose)
		timeline.Describe(d.contract)
	}
	for e := range t.Events() {
		if timeline != nil {
			timeline.Event(e)
		}
		if d.asker != nil && e.Kind == host.EventNeedsApproval {
			d.asker.expect(*e.Approval)
		}
		if e.Kind == host.EventResult {
			d.worst = worseCode(d.worst, resultCode(e.Result))
		}
		if d.output != message.List {
			results.add(e)
		} else if line := reporter.Line(e); line != nil {
			d.print(line)
		}
	}
	if timeline != nil {
		timeline.End()
	}
	d.finish(t, reporter, results.list)
}

// timed reports whether a timeline is shown. A program that writes lines reads
// them, too.
func (d *streamDriver) timed() bool {
	talks := d.output == message.List && stream.Format(d.flags.input) == stream.JSONL
	return !d.flags.quiet && (d.flags.verbose || !talks)
}

// finish writes what comes at a turn's end.
func (d *streamDriver) finish(t *streamTurn, r *stream.Reporter, results []abi.ToolResult) {
	d.mu.Lock()
	d.unfinished = slices.DeleteFunc(d.unfinished, func(u *streamTurn) bool { return u == t })
	stopReason, discarded := t.stopReason, t.discarded
	d.mu.Unlock()
	if d.output == message.List {
		d.sayFaults() // they came first
		d.print(r.Done(stopReason, discarded))
		return
	}
	if discarded || len(results) == 0 {
		return // there is nothing to reply
	}
	reply, err := message.Reply(d.output, results)
	if err != nil {
		d.fail(hostError(err))
		return
	}
	d.print(reply)
}

// print writes one line. Where that fails the turn has no reader any more, and
// ends.
func (d *streamDriver) print(v any) {
	if err := d.printLine(v); err != nil {
		d.fail(err)
	}
}

func (d *streamDriver) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = err
		d.cancel(err)
	}
}

// end is what the command ends with.
func (d *streamDriver) end(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch code := signalCode(ctx); {
	case d.failed != nil:
		return d.failed
	case code != exitOK:
		return quiet(code)
	case d.interrupted:
		return quiet(exitSignal + int(syscall.SIGINT))
	case d.faults > 0:
		return quiet(exitUsage)
	case d.calls == 0:
		return &exitError{exitNoCalls, fmt.Errorf("%s: %w", d.file, message.ErrNoCalls)}
	case d.flags.fail:
		return quiet(d.worst)
	}
	return nil
}
