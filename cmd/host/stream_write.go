package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/host/message/stream"
)

var (
	errReaderGone = errors.New("writing the output: nobody reads it any more")
	errNotRead    = errors.New("writing the output: it is not being read, so what is left of it is lost")
)

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
	reporter.Answerable, reporter.Logs = d.asker != nil, d.flags.logs
	var results turnResults
	var asked []string
	var timeline *ui.Timeline
	if d.timed() {
		timeline = ui.NewTimeline(d.err, d.flags.verbose)
		timeline.Describe(d.contract)
		timeline.Interruptible(func() bool { return !t.interrupted.Load() })
	}
	for e := range t.Events() {
		if timeline != nil {
			timeline.Event(e)
		}
		if d.asker != nil && e.Kind == host.EventNeedsApproval {
			d.asker.expect(*e.Approval)
			asked = append(asked, e.Approval.ID)
		}
		d.count(t, e)
		if d.output != message.List {
			results.add(e)
		} else if line := reporter.Line(e); line != nil {
			d.print(line)
		}
	}
	if timeline != nil {
		timeline.End()
	}
	if d.asker != nil {
		d.asker.end(asked...) // before the turn is told to be done
	}
	d.finish(t, reporter, results.list)
}

// count notes that a call has ended, and how.
func (d *streamDriver) count(t *streamTurn, e host.Event) {
	if e.Kind != host.EventResult && e.Kind != host.EventDiscarded {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting.give(t, e.Index)
	if e.Result != nil {
		d.worst = worseCode(d.worst, resultCode(e.Result))
	}
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
	stopReason, discarded, refused, uses := t.stopReason, t.discarded, t.refused, t.uses
	d.mu.Unlock()
	if d.output == message.List {
		d.sayNews() // they came first
		d.print(r.Done(stopReason, discarded))
		return
	}
	if results = withRefused(results, refused); discarded || len(results) == 0 {
		return // there is nothing to reply
	}
	reply, err := message.Reply(d.output, uses, results)
	if err != nil {
		d.fail(hostError(err))
		return
	}
	d.print(reply)
}

// withRefused adds results for the calls that faults cost, unless another call of
// the same id has one.
func withRefused(results []abi.ToolResult, refused []stream.Item) []abi.ToolResult {
	answered := make(map[string]bool, len(results))
	for i := range results {
		answered[results[i].ToolUseID] = true
	}
	for _, item := range refused {
		if id := item.Call.ID; !answered[id] {
			answered[id] = true
			text := strings.ReplaceAll(item.Err.Error(), "</tool_use_error", `<\/tool_use_error`) // as in package host
			text = "<tool_use_error>" + text + "</tool_use_error>"
			results = append(results, abi.ToolResult{ToolUseID: id, Content: []abi.Block{abi.TextBlock(text)}, IsError: true})
		}
	}
	return results
}

// print writes one line. Where that fails the turn has no reader any more, and
// ends.
func (d *streamDriver) print(v any) {
	if err := d.printLine(v); err != nil {
		d.fail(err)
	}
	d.lines.Add(1)
}

func (d *streamDriver) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failed == nil {
		d.failed = err
		d.cancel(err)
	}
}

// patience is how long a command that is to end waits for who reads its lines, from
// one line to the next.
const patience = 3 * time.Second

// await waits until all is written, or nobody reads it though the command is to end.
func (d *streamDriver) await(written, ended <-chan struct{}) {
	select {
	case <-written:
		return
	case <-ended:
	}
	for before := int64(-1); before < d.lines.Load(); {
		before = d.lines.Load()
		select {
		case <-written:
			return
		case <-time.After(patience):
		}
	}
	d.fail(hostError(errNotRead))
}
