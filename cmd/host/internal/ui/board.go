package ui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// board holds the calls of a turn as they are shown. Its input is events and the time; it
// knows no terminal.
type board struct {
	printout
	callTree

	find func(name string) *abi.Tool
	// soft reports whether Ctrl-C interrupts, and blocked says that this would not end
	// all that runs.
	soft    func() bool
	blocked bool
	counts  [len(looks)]int
	lists   workList
}

func newBoard(p *Printer, verbose bool) *board {
	return &board{
		printout: printout{live: p.Live, mark: p.Terminal, verbose: verbose},
		callTree: callTree{calls: make(map[callKey]*entry), makers: make(map[makerKey]*entry)},
		find:     func(string) *abi.Tool { return nil }, soft: func() bool { return false },
	}
}

// apply takes in one event.
func (b *board) apply(e *host.Event, now time.Time) {
	b.detail(e)
	switch e.Kind {
	case host.EventQueued:
		b.entry(e, now)
	case host.EventQuestion:
		b.entry(e, now).asking = now
	case host.EventDecided, host.EventAnswered:
		b.update(e, func(c *entry) { c.asking = time.Time{} }) // a person has answered, if one was asked
	case host.EventStarted:
		c := b.entry(e, now)
		c.phase, c.since, c.asking = running, now, time.Time{}
	case host.EventProgress:
		if e.Progress != nil {
			b.update(e, func(c *entry) { c.progress.update(e.Progress, e.Line) })
		}
	case host.EventLog:
		if e.Log != nil && !b.verbose {
			b.update(e, func(c *entry) { c.log.Add(e.Log.Message) }) // it is shown if the call fails
		}
	case host.EventFinished:
		b.finished(e, now)
	case host.EventDiscarded:
		b.voided(e, now)
	case host.EventPersisted, host.EventReplaced:
		b.stored(e)
	case host.EventInterruptible:
		b.blocked = !e.Interruptible
	case host.EventGit, host.EventTask:
		if text := Aside(e); text != "" {
			b.flush()
			b.print(keeps(Dim, b.blank()+indent(e.Depth)), gives(Plain, text))
		}
	case host.EventTodos, host.EventWork:
		b.work(e)
	case host.EventAbandoned:
		b.note(e, Yellow, "what it left behind has not ended")
	case host.EventMessage, host.EventStop:
		b.flush()
		b.above.add(paragraph{head: headOf(e), text: e.Reason + attached(e.Said)})
	}
}

// headOf is what stands before the words of an event.
func headOf(e *host.Event) string {
	if e.Said != nil && e.Said.Plugin != "" {
		return string(e.Kind) + " of " + safe(e.Said.Plugin) + "  "
	}
	return string(e.Kind) + "  "
}

// attached lists the files that belong to a message, a line each.
func attached(said *capability.Said) string {
	if said == nil {
		return ""
	}
	var list strings.Builder
	for _, file := range said.Attachments {
		fmt.Fprintf(&list, "\n[%s, %s]", safe(file.Path), abi.Size(file.Size)) // a name may have lines
	}
	return list.String()
}

// entry is the call of an event, which is a new one unless it is known.
func (b *board) entry(e *host.Event, now time.Time) *entry {
	key := keyOf(e)
	c := b.calls[key]
	if c == nil || c.phase == ended && e.Kind == host.EventQueued { // another call by the same id
		c = &entry{callKey: key, since: now}
		b.add(c)
	}
	c.tool = b.name(e.Tool)
	switch {
	case saysWhat(e.Kind):
		c.title = safe(cmp.Or(e.Line, e.Title))
	case c.title == "":
		c.title = safe(e.Title)
	}
	if t := b.find(e.Tool); t != nil {
		c.activity, c.blocks = t.Activity, t.Interrupt == abi.InterruptBlock
	}
	return c
}

// saysWhat reports whether the line of an event says what the call does.
func saysWhat(kind host.EventKind) bool {
	switch kind {
	case host.EventQueued, host.EventQuestion, host.EventRewritten, host.EventStarted:
		return true
	}
	return false
}

// name is what people call a tool.
func (b *board) name(tool string) string {
	if t := b.find(tool); t != nil && t.Display != "" {
		tool = t.Display
	}
	return safe(tool)
}

// update changes the call of an event, if it is known.
func (b *board) update(e *host.Event, change func(*entry)) {
	if c := b.calls[keyOf(e)]; c != nil {
		change(c)
	}
}

func (b *board) finished(e *host.Event, now time.Time) {
	c := b.entry(e, now)
	if c.phase == ended || e.Result == nil {
		return
	}
	c.elapsed, c.bytes, c.state = e.Elapsed, max(c.bytes, size(e.Result)), stateOf(e.Result)
	c.unbegun = c.phase == queued
	if c.state == ok {
		c.came = safe(e.Line)
	} else {
		c.why = b.reason(c, e)
	}
	b.end(c, now)
}

func (b *board) voided(e *host.Event, now time.Time) {
	why := ""
	if n := len(e.Effects); n > 0 {
		why = "after it had changed " + count(n, "thing")
	}
	if c := b.calls[keyOf(e)]; c != nil && c.phase != ended {
		c.elapsed, c.state, c.why = e.Elapsed, discarded, why
		if c.elapsed == 0 && c.phase == running {
			c.elapsed = now.Sub(c.since)
		}
		b.end(c, now)
		return
	}
	b.note(e, Dim, "its result is discarded")
}

// end takes note that a call is over and prints what can be printed now.
func (b *board) end(c *entry, now time.Time) {
	c.phase, c.until = ended, now
	b.counts[c.state]++
	if c.parent != nil && b.live {
		return // its parent's line comes first
	}
	b.drop(c)
	if len(c.inner) == 0 && b.gathers(c) {
		if !together(b.gathered, c) {
			b.flush()
		}
		b.gathered = append(b.gathered, c)
		return
	}
	b.flush()
	b.printTree(c)
}

// stored takes note of where the whole of a result lies.
func (b *board) stored(e *host.Event) {
	if e.Stored == nil {
		return
	}
	if c := b.calls[keyOf(e)]; c != nil {
		c.kept, c.bytes = safe(e.Stored.Path), max(c.bytes, e.Stored.Bytes)
		return
	}
	if b.live || b.verbose {
		b.note(e, Dim, "its "+Bytes(e.Stored.Bytes)+" are kept in "+e.Stored.Path)
	}
}

// note prints something of a call that was printed before.
func (b *board) note(e *host.Event, style Style, text string) {
	b.flush()
	b.print(keeps(Dim, b.blank()+indent(e.Depth)+b.name(e.Tool)), gives(Dim, titled(e.Title)), gives(style, "  "+text))
}
