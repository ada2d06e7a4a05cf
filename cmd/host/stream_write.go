package main

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/host/message/stream"
	"github.com/toolquay/toolquay/plugins"
)

// takeBrokenPipes has writing to a reader that went away fail, instead of ending
// the process at once: calls that run are to be ended, not left behind.
func takeBrokenPipes() (restore func()) {
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)
	return func() { signal.Stop(ignored) }
}

// write shows the turns, one after the other, as the session runs them. Where the command
// ends it shows those that are there: what is read may never end.
func (d *streamDriver) write(ctx context.Context) {
	for {
		var t *streamTurn
		select {
		case t = <-d.turns.queue:
		default:
			select {
			case t = <-d.turns.queue:
			case <-ctx.Done():
				select { // one may have come meanwhile
				case t = <-d.turns.queue:
				default:
				}
			}
		}
		if t == nil {
			return
		}
		d.show(t)
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
		timeline = ui.NewTimeline(d.app.err, d.flags.verbose)
		timeline.Describe(d.contract)
		timeline.Interruptible(func() bool { return !t.interrupted.Load() })
	}
	for e := range t.Events() {
		d.keys.event(e)
		if timeline != nil {
			timeline.Event(e)
		}
		if d.asker != nil && e.Kind == host.EventQuestion && d.asker.Carries(e.Question.Kind) {
			d.asker.expect(*e.Question)
			asked = append(asked, e.Question.ID)
		}
		d.turns.count(t, e)
		if d.output != message.List {
			results.add(e)
		} else if line := reporter.Line(e); line != nil {
			d.out.print(line)
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

// timed reports whether a timeline is shown. A program that writes lines reads
// them, too.
func (d *streamDriver) timed() bool {
	talks := d.output == message.List && stream.Format(d.flags.input) == stream.JSONL
	return !d.flags.quiet && (d.flags.verbose || !talks)
}

// finish writes what comes at a turn's end.
func (d *streamDriver) finish(t *streamTurn, r *stream.Reporter, results []abi.ToolResult) {
	m := d.turns.finish(t)
	if d.output == message.List {
		d.out.sayNews() // they came first
		d.out.print(r.Done(m.stopReason, m.discarded))
		return
	}
	if results = withRefused(results, m.refused); m.discarded || len(results) == 0 {
		return // there is nothing to reply
	}
	reply, err := message.Reply(d.output, m.uses, results)
	if err != nil {
		d.out.fail(hostError(err))
		return
	}
	d.out.print(reply)
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

// observe writes the events outside all turns: tools that came or went, and what goes on in
// the background.
func (d *streamDriver) observe(e host.Event) {
	if e.Turn != "" {
		return
	}
	if text := ui.Aside(&e); text != "" && d.timed() {
		d.app.err.Printf("%s\n", text)
	}
	if line := stream.Beside(e); line != nil {
		d.out.bring(line)
	}
}

// printBroken writes a line for each plugin that cannot be used from the start.
func (d *streamDriver) printBroken(set *plugins.Set) {
	for _, p := range set.Plugins() {
		if problem := p.Problem(); problem != nil {
			broken := &host.PluginProblem{Name: p.Name, Path: p.Path, Err: problem}
			d.out.print(stream.NewPlugin(host.Event{Time: time.Now(), Plugin: broken}))
		}
	}
}
