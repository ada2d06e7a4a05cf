package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
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

What happens goes to standard output as JSON Lines, each with its type and time.
The first is of the type session, with its id and the version of this protocol.
With turn, call and elapsed_ms there follow started, progress, log (with --logs),
permission, deed (a command made a commit, say), result (in call order), persisted,
replaced, discarded, interruptible, message and, once for each turn, done; of no turn
are error (a part of the input that could not be read and was passed over), tools
(others can be called from the next turn on), plugin (one cannot be used), task (one began or ended in the
background) and the deeds of such a task.
Types and keys that you do not know are to be passed over: more may come. With
--output anthropic, say, it is the reply to each message instead, in which a
call that came broken has a result, too.

Where jsonl comes on standard input, and --approval is auto, what the rules leave
open is asked by a line {"type":"permission","approval":ID,...} and answered by
{"type":"permission","approval":ID,"answer":"allow"}, or "deny" with a "message", or
"later". A "deny" is of this call alone, and with "end_turn":true of all of the turn
that has not begun; --approval never denies it instead. The first SIGINT interrupts the
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
	waiting     streamLoad
	news        streamNews
	faults      int
	interrupted bool
	failed      error
	worst       int

	// saying is held while news are written.
	saying sync.Mutex
	// lines counts what was written.
	lines atomic.Int64
}

// streamTurn is a turn, and what became of the message it is of.
type streamTurn struct {
	*host.Stream

	number int
	// uses are the ids and names of its calls.
	uses []abi.ToolUse
	// sizes are the bytes of its calls' inputs.
	sizes []int
	// refused are the faults that cost calls of the message, where a reply is made.
	refused     []stream.Item
	stopReason  string
	discarded   bool
	interrupted atomic.Bool
}

// maxAhead is how many turns may wait for those before them; then nothing more is
// read.
const maxAhead = 64

func runStream(ctx context.Context, a *app, file string, f runFlags) error {
	d := &streamDriver{app: a, file: file, flags: f, output: message.List, turns: make(chan *streamTurn, maxAhead)}
	if f.output != "" {
		d.output = message.Format(f.output)
	}
	in, err := openStream(a, file)
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
		stageWrites(a, &s.session, f.staged)
		s.session.Asker = d.choose(s)
		s.options.Observe.Events = d.observe
	})
	if err != nil {
		return err
	}
	defer d.sayLast()
	defer o.close()
	o.follow(ctx)
	o.warnBroken()
	d.session, d.contract = o.session, o.contract
	defer takeBrokenPipes()()
	watchReader(os.Stdout, func() { d.fail(hostError(errReaderGone)) })
	a.signals.onInterrupt(d.signalled)
	defer a.signals.onInterrupt(nil)
	if d.output == message.List {
		d.print(stream.NewOpening(o.session, readBuild().Version))
		d.printBroken(o.host.Plugins())
	}
	defer o.host.Follow(ctx)()
	go d.read(ctx, items)
	written := make(chan struct{})
	go func() {
		defer close(written)
		d.write(ctx)
		d.sayNews()
	}()
	d.await(written, ctx.Done())
	return d.end(ctx)
}

// openStream opens the input. Standard input is not closed: who reads it may wait
// for it until the process ends.
func openStream(a *app, file string) (io.ReadCloser, error) {
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
