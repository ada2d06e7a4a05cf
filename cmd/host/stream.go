package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
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
                  {"type":"discard"}, {"type":"answer",...} and, where the
                  message is complete, {"type":"end"}; then the next may follow;
                  {"type":"mode","mode":"plan"} changes the mode,
                  {"type":"background","tool_use_id":"t1"} moves a command to the
                  background, and {"type":"stop","task_id":ID} ends a task there
  anthropic-sse   a streamed response of the Anthropic Messages API, as it is
  openai-sse      one of the OpenAI Chat Completions or Responses API

What happens goes to standard output as JSON Lines, each with its type and time.
The first is of the type session, with its id and the version of this protocol.
With turn, call and elapsed_ms there follow queued, started, progress, log (with
--logs), permission, question, answered, deed (a command made a commit, say), finished
(a call of an MCP server has ended), result (in call order), persisted, replaced,
discarded, interruptible, message, todos and work (a list of work has changed),
worktree (the session has entered a git worktree, or left it), output
and, once for each turn, done; of no turn are error (a part of the input that could not
be read and was passed over), tools (others can be called from the next turn on), plugin
(one cannot be used), mode (it has changed), task (one began or ended in the background), the deed lines of such a task, and
cron (a prompt that the model scheduled came due: give it to the model as a message;
while standard input is open, they come).
Types and keys that you do not know are to be passed over: more may come. With
--output anthropic, say, it is the reply to each message instead, in which a
call that came broken has a result, too.

Where jsonl comes on standard input, and --approval is auto, what the rules leave
open is asked by a line {"type":"permission","approval":ID,...} and answered by
{"type":"answer","question":ID,"answer":"allow"}, or "deny" with a "message", or
"later". A "deny" is of this call alone, and with "end_turn":true of all of the turn
that has not begun; --approval never denies it instead. A tool that needs something
else of the person asks it by {"type":"question","question":ID,...} of the kind form,
choice or plan, which are answered with a "content", or url. The first SIGINT interrupts the
turn as {"type":"interrupt"} does, the next one ends it, a third the process.
`

// streamDriver runs the turns of a stream: one goroutine reads what comes in,
// another writes what comes out.
type streamDriver struct {
	app *app

	file   string
	flags  runFlags
	output message.Format
	// contract finds a tool's contract by its name.
	contract func(name string) *abi.Tool
	keys     *keys
	// asker asks over the stream; nil where somebody else is asked, or nobody.
	asker *streamAsker
	turns streamTurns
	out   streamOut
	// stops are the tasks that are being ended.
	stops sync.WaitGroup
}

func runStream(ctx context.Context, a *app, file string, f runFlags) error {
	output := message.Format(cmp.Or(f.output, string(message.List)))
	in, err := openInput(a, file)
	if err != nil {
		return err
	}
	defer in.Close()
	items, err := stream.Decode(in, stream.Format(f.input))
	if err != nil {
		return usageError("--input: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := &streamDriver{
		app: a, file: file, flags: f, output: output,
		turns: streamTurns{queue: make(chan *streamTurn, maxAhead)},
		out:   streamOut{to: a.out, replies: output != message.List, cancel: cancel},
	}
	schema, err := f.schema.read(ctx, a)
	if err != nil {
		return err
	}
	o, err := a.open(ctx, func(s *setup) {
		s.calls = true
		s.session.OutputSchema = schema
		stageWrites(a, &s.session, f.staged)
		s.session.Asker = d.choose(s)
		s.session.Prompts = d.output == message.List
		s.options.Observe.Events = d.observe
	})
	if err != nil {
		return err
	}
	defer d.out.sayLast()
	defer o.close()
	o.warnBroken()
	o.warnLacking()
	d.turns.session, d.turns.await, d.contract = o.session, o.awaitServers, o.contract
	defer takeBrokenPipes()()
	watchReader(os.Stdout, func() { d.out.fail(hostError(errReaderGone)) })
	a.signals.onInterrupt(d.turns.signalled)
	defer a.signals.onInterrupt(nil)
	if d.output == message.List {
		d.out.print(stream.NewOpening(o.session, readBuild().Version))
		d.printBroken(o.host.Plugins())
	}
	defer o.host.Follow(ctx)()
	keys, end := a.watchKeys(ctx, o.session)
	defer end()
	d.keys = keys
	stop := d.prompt(ctx)
	go func() {
		d.read(ctx, items)
		stop()
	}()
	d.out.await(func() {
		d.write(ctx)
		stop()
		d.out.sayNews()
	}, ctx.Done())
	return d.end(ctx)
}

// inputOpen is how long input has to be open before scheduled prompts come: that of a program which
// writes all it has to say, and waits for no prompt, has ended by then.
const inputOpen = time.Second

// prompt has the lines written of scheduled prompts that come due, until the function that it
// returns is called. Each is told when its line is written.
func (d *streamDriver) prompt(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if d.file != "-" {
			return // nobody answers, so they are left to who does
		}
		select {
		case <-time.After(inputOpen):
		case <-ctx.Done():
			return
		}
		for range d.turns.session.Prompts(ctx) {
			d.out.sayNews()
			if _, failed := d.out.outcome(); failed != nil {
				return
			}
		}
	}()
	return func() {
		cancel()
		<-ended // else one whose line is written would not be written down as told
	}
}

// choose is who is asked what the rules leave open.
func (d *streamDriver) choose(s *setup) host.Asker {
	resume := approvals.Resume{Format: d.output}
	over := d.file == "-" && stream.Format(d.flags.input) == stream.JSONL && d.output == message.List
	if !over || d.app.flags.approval != approveAuto {
		return d.app.asker(s, d.file != "-", resume)
	}
	d.asker = newStreamAsker(func() host.Asker { return d.app.later(s, resume) })
	return d.app.limited(s, d.asker)
}

// end is what the command ends with.
func (d *streamDriver) end(ctx context.Context) error {
	faults, failed := d.out.outcome()
	d.turns.mu.Lock()
	defer d.turns.mu.Unlock()
	switch code := signalCode(ctx); {
	case failed != nil:
		return failed
	case code != exitOK:
		return quiet(code)
	case d.turns.interrupted:
		return quiet(exitSignal + int(syscall.SIGINT))
	case faults > 0:
		return quiet(exitUsage)
	case d.turns.calls == 0:
		return &exitError{exitNoCalls, fmt.Errorf("%s: %w", d.file, message.ErrNoCalls)}
	case d.flags.fail && d.turns.worst != exitOK:
		return quiet(d.turns.worst)
	}
	return d.flags.schema.missing(d.turns.session)
}
