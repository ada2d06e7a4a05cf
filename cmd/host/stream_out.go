package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/message/stream"
)

var (
	errReaderGone = errors.New("writing the output: nobody reads it any more")
	errNotRead    = errors.New("writing the output: it is not being read, so what is left of it is lost")
)

// streamOut writes the lines of a stream. Lines outside all turns are queued, so that their
// writers never wait for the reader of the stream: that reader may be waiting until more of
// its own lines are read.
type streamOut struct {
	to io.Writer
	// replies says that replies are written in place of lines.
	replies bool
	// cancel ends the command.
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	news   streamNews
	faults int
	failed error

	// saying is held while news are written.
	saying sync.Mutex
	// lines counts what was written.
	lines atomic.Int64
}

// print writes one line. Where that fails the turn has no reader any more, and
// ends.
func (o *streamOut) print(v any) {
	if err := printIndented(o.to, v, ""); err != nil {
		o.fail(err)
	}
	o.lines.Add(1)
}

func (o *streamOut) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
		o.cancel(err)
	}
}

// outcome is how many faults the input had, and what writing failed with, if it did.
func (o *streamOut) outcome() (faults int, failed error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.faults, o.failed
}

// fault writes a line about input that could not be read.
func (o *streamOut) fault(item stream.Item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.faults++
	o.add(stream.NewFault(item), item.Line)
}

// bring has a line written, soon.
func (o *streamOut) bring(line any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(line, 0)
}

// add is bring for a caller who holds the lock; at is the line of the input.
func (o *streamOut) add(line any, at int) {
	if !o.replies && o.news.add(line, at) {
		go o.sayNews() // with those that come until then
	}
}

// sayNews writes the news that were not written yet.
func (o *streamOut) sayNews() {
	o.saying.Lock()
	defer o.saying.Unlock()
	o.mu.Lock()
	lines := o.news.take()
	o.mu.Unlock()
	for _, line := range lines {
		o.print(line)
	}
}

// sayLast writes the last lines, which the end of the session brought. It writes none after a
// failed write: without a reader a write would block for ever.
func (o *streamOut) sayLast() {
	if _, failed := o.outcome(); failed != nil {
		return
	}
	ended := make(chan struct{})
	close(ended)
	o.await(o.sayNews, ended)
}

// patience is how long a command that is to end waits for who reads its lines, from
// one line to the next.
const patience = 3 * time.Second

// await has all written, and waits for that until nobody reads it though the command is to
// end.
func (o *streamOut) await(write func(), ended <-chan struct{}) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		write()
	}()
	select {
	case <-written:
		return
	case <-ended:
	}
	for before := int64(-1); before < o.lines.Load(); {
		before = o.lines.Load()
		select {
		case <-written:
			return
		case <-time.After(patience):
		}
	}
	o.fail(hostError(errNotRead))
}

// maxNews is how many lines are kept for who reads them too slowly. Those beyond it
// are counted, but for scheduled prompts: none is told before the one before is written.
const maxNews = 1000

// streamNews are lines that are of no turn and were not written yet.
type streamNews struct {
	lines []any
	// dropped are those that were not kept, and last is the input's line of the last.
	dropped, last int
}

// add keeps a line, and reports whether it is the first.
func (n *streamNews) add(line any, at int) bool {
	if _, prompt := line.(stream.Cron); len(n.lines) >= maxNews && !prompt {
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
