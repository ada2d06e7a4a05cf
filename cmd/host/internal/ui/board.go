package ui

import (
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// board is what is known of the calls of a turn, and what is to be printed of
// them for good. It is told of events and of the time, and knows no terminal.
type board struct {
	// live says that what goes on is shown as it goes on: calls that read and
	// search are gathered, and nested calls wait for the one they belong to.
	live    bool
	verbose bool
	// mark says that states are shown as marks, not as words.
	mark bool
	find func(name string) *abi.Tool

	// calls are those that are not printed yet; makers are the same by what calls
	// that they make know of them; roots are the ones on top, in the order they came.
	calls  map[callKey]*entry
	makers map[makerKey]*entry
	roots  []*entry
	// over counts the roots that ended and are still in the list.
	over int
	// gathered are the last of the calls that ended: if more of their kind follow,
	// they make one line together.
	gathered []*entry
	// soft reports whether Ctrl-C interrupts, and blocked says that this would not end
	// all that runs.
	soft    func() bool
	blocked bool
	counts  [len(looks)]int

	above outbox
}

// callKey tells calls apart. Ids alone do not: a call that is refused because of
// its id has the same one as another.
type callKey struct {
	parent, id   string
	depth, index int
}

// makerKey is what a call knows of the one that made it.
type makerKey struct {
	id    string
	depth int
}

func (k callKey) maker() makerKey { return makerKey{k.id, k.depth} }

func keyOf(e *host.Event) callKey { return callKey{e.Parent, e.CallID, e.Depth, e.Index} }

// phase is where a call is on its way.
type phase int

const (
	queued phase = iota
	running
	ended
)

// entry is one call. Its texts are safe and bounded.
type entry struct {
	callKey
	tool     string // what people call it
	title    string
	activity string
	blocks   bool // it is not interrupted
	parent   *entry
	inner    []*entry

	phase phase
	// since is when it was queued, or from then on when it started, and until when
	// it ended.
	since, until time.Time
	// asking is since when a person is asked, or zero.
	asking   time.Time
	progress progress
	kept     string // where the whole result lies

	state   state
	unbegun bool // it ended before it was started
	elapsed time.Duration
	bytes   int64
	why     string // it did not end well
	log     Tail
}

func newBoard(p *Printer, verbose bool) *board {
	return &board{
		live: p.Live, mark: p.Terminal, verbose: verbose,
		calls: make(map[callKey]*entry), makers: make(map[makerKey]*entry),
		find: func(string) *abi.Tool { return nil }, soft: func() bool { return false },
	}
}

// apply takes in one event.
func (b *board) apply(e *host.Event, now time.Time) {
	b.detail(e)
	switch e.Kind {
	case host.EventQueued:
		b.entry(e, now)
	case host.EventNeedsApproval:
		b.entry(e, now).asking = now
	case host.EventDecided:
		b.answered(e)
	case host.EventStarted:
		b.started(e, now)
	case host.EventProgress:
		b.progressed(e)
	case host.EventLog:
		b.logged(e)
	case host.EventFinished:
		b.finished(e, now)
	case host.EventDiscarded:
		b.voided(e, now)
	case host.EventPersisted, host.EventReplaced:
		b.stored(e)
	case host.EventInterruptible:
		b.blocked = !e.Interruptible
	case host.EventDeed, host.EventTask:
		if text := Aside(e); text != "" {
			b.flush()
			b.print(keeps(Dim, b.blank()+indent(e.Depth)), gives(Plain, text))
		}
	case host.EventAbandoned:
		b.note(e, Yellow, "what it left behind has not ended")
	case host.EventMessage, host.EventStop:
		b.flush()
		b.above.add(paragraph{head: string(e.Kind) + "  ", text: e.Reason})
	}
}

// entry is the call of an event, which is a new one unless it is known.
func (b *board) entry(e *host.Event, now time.Time) *entry {
	key := keyOf(e)
	c := b.calls[key]
	if c == nil || c.phase == ended && e.Kind == host.EventQueued { // another call by the same id
		c = &entry{callKey: key, since: now}
		b.place(c)
		b.calls[key], b.makers[key.maker()] = c, c
	}
	c.tool, c.title = b.name(e.Tool), safe(e.Title)
	if t := b.find(e.Tool); t != nil {
		c.activity, c.blocks = t.Activity, t.Interrupt == abi.InterruptBlock
	}
	return c
}

// place puts a call below the one that made it, if that is still there.
func (b *board) place(c *entry) {
	if c.parent = b.maker(c); c.parent == nil {
		b.roots = append(b.roots, c)
		return
	}
	c.parent.inner = append(c.parent.inner, c)
}

// maker is the call that made another one, or nil.
func (b *board) maker(c *entry) *entry {
	p := b.makers[makerKey{c.callKey.parent, c.depth - 1}]
	if c.depth <= 0 || p == nil || p.phase == ended {
		return nil
	}
	return p
}

// name is what people call a tool.
func (b *board) name(tool string) string {
	if t := b.find(tool); t != nil && t.Display != "" {
		tool = t.Display
	}
	return safe(tool)
}

// maxText bounds a text that is kept for a line, in bytes.
const maxText = 2 << 10

// safe makes a text fit to be kept: one line of bounded length without anything
// hidden.
func safe(text string) string { return Line(clip(text, maxText)) }

func (b *board) started(e *host.Event, now time.Time) {
	c := b.entry(e, now)
	c.phase, c.since, c.asking = running, now, time.Time{}
}

// logged keeps what a call logs, which is shown if it fails.
func (b *board) logged(e *host.Event) {
	if c := b.calls[keyOf(e)]; c != nil && e.Log != nil && !b.verbose {
		c.log.Add(e.Log.Message)
	}
}

// answered takes note that a person has decided, if one was asked.
func (b *board) answered(e *host.Event) {
	if c := b.calls[keyOf(e)]; c != nil {
		c.asking = time.Time{}
	}
}

func (b *board) finished(e *host.Event, now time.Time) {
	c := b.entry(e, now)
	if c.phase == ended || e.Result == nil {
		return
	}
	c.elapsed, c.bytes, c.state = e.Elapsed, max(c.bytes, size(e.Result)), stateOf(e.Result)
	c.unbegun = c.phase == queued
	if c.state != ok {
		c.why = b.reason(c, e.Result)
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

// drop forgets a call and what it made. What of that still goes on stays.
func (b *board) drop(c *entry) {
	if b.calls[c.callKey] == c {
		delete(b.calls, c.callKey)
	}
	if key := c.callKey.maker(); b.makers[key] == c {
		delete(b.makers, key)
	}
	if c.parent == nil {
		b.dropRoot()
	}
	for _, in := range c.inner {
		if in.phase == ended {
			b.drop(in)
			continue
		}
		in.parent = nil
		b.roots = append(b.roots, in)
	}
}

// dropRoot lets go of the roots that ended once they are half of the list, so that
// each costs the same however many there are.
func (b *board) dropRoot() {
	if b.over++; 2*b.over > len(b.roots) {
		b.roots = slices.DeleteFunc(b.roots, func(r *entry) bool { return r.phase == ended })
		b.over = 0
	}
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
