package main

import (
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
	"github.com/toolquay/toolquay/host/message/stream"
	"github.com/toolquay/toolquay/plugins"
)

// maxNews is how many lines are kept for who reads them too slowly. Those beyond it
// are counted.
const maxNews = 1000

// streamNews are lines that are of no turn and were not written yet. Whoever brings
// one does not wait for who reads the lines, who may be waiting for more to be read
// here.
type streamNews struct {
	lines []any
	// dropped are those that were not kept, and last is the input's line of the last.
	dropped, last int
}

// add keeps a line, and reports whether it is the first.
func (n *streamNews) add(line any, at int) bool {
	if len(n.lines) == maxNews {
		n.dropped, n.last = n.dropped+1, at
		return false
	}
	n.lines = append(n.lines, line)
	return len(n.lines) == 1
}

// take hands out what was kept.
func (n *streamNews) take() []any {
	lines := n.lines
	if n.dropped > 0 {
		err := abi.Errorf(abi.CodeTooLarge, "%d more lines like those before are left out: they came faster than they were read", n.dropped)
		lines = append(lines, stream.NewFault(stream.Item{Line: n.last, Err: err}))
	}
	*n = streamNews{}
	return lines
}

// fault tells of what could not be read: among the lines, and on standard error
// where the lines are not all that is shown.
func (d *streamDriver) fault(item stream.Item) {
	if d.timed() {
		d.err.Printf("toolquay: %s, line %d: %v\n", d.file, item.Line, item.Err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults++
	d.bring(stream.NewFault(item), item.Line)
}

// observe tells of what is of no turn: tools that came or went, and what goes on in the
// background.
func (d *streamDriver) observe(e host.Event) {
	if e.Turn != "" {
		return
	}
	if text := ui.Aside(&e); text != "" && d.timed() {
		d.err.Printf("%s\n", text)
	}
	var line any
	switch e.Kind {
	case host.EventTools:
		line = stream.NewTools(e)
	case host.EventPlugin:
		line = stream.NewPlugin(e)
	case host.EventTask:
		line = stream.NewTask(e)
	case host.EventDeed:
		line = stream.NewDeed(e)
	default:
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bring(line, 0)
}

// printBroken tells of plugins that cannot be used from the start.
func (d *streamDriver) printBroken(set *plugins.Set) {
	for _, p := range set.Plugins() {
		if problem := p.Problem(); problem != nil {
			broken := &host.PluginProblem{Name: p.Name, Path: p.Path, Err: problem}
			d.print(stream.NewPlugin(host.Event{Time: time.Now(), Plugin: broken}))
		}
	}
}

// bring has a line written, soon. The caller holds the lock.
func (d *streamDriver) bring(line any, at int) {
	if d.output == message.List && d.news.add(line, at) {
		go d.sayNews() // with those that come until then
	}
}

// sayNews writes the news that were not written yet.
func (d *streamDriver) sayNews() {
	d.saying.Lock()
	defer d.saying.Unlock()
	d.mu.Lock()
	lines := d.news.take()
	d.mu.Unlock()
	for _, line := range lines {
		d.print(line)
	}
}

// sayLast writes what the end of the session has brought, unless nobody reads it: then
// whoever writes waits for ever.
func (d *streamDriver) sayLast() {
	d.mu.Lock()
	failed := d.failed != nil
	d.mu.Unlock()
	if failed {
		return
	}
	written, ended := make(chan struct{}), make(chan struct{})
	close(ended)
	go func() {
		defer close(written)
		d.sayNews()
	}()
	d.await(written, ended)
}
