package turn

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

const (
	// reportEvery is how far apart a call's reports are passed on at least.
	reportEvery = 100 * time.Millisecond
	// maxTail bounds Told.Tail, and maxOutput the output that one event brings,
	// in bytes. Of more the end is kept.
	maxTail   = 16 << 10
	maxOutput = 256 << 10
)

// Told is how far a call has come: its newest report, and its output so far.
type Told struct {
	abi.Progress
	// Tail is the end of the whole output so far, at most 16 KiB of it; Lines and Bytes
	// count all of it.
	Tail  string
	Lines int64
	Bytes int64
}

// Progress thins out what a call reports: at most one every 100 ms, with the newest that
// there is, and the last one before the call's result. It is safe for concurrent use.
type Progress struct {
	tell func(*Told)

	mu sync.Mutex
	// next is when the next event may be told of, and held the one that waits for
	// then; nil where none does. timer is set when one does.
	next  time.Time
	held  *abi.Progress
	timer *time.Timer
	over  bool

	output ending // of the held one, and what was told before it and held too
	tail   ending
	lines  int64
	bytes  int64
}

// NewProgress makes one that calls tell, never twice at a time.
func NewProgress(tell func(*Told)) *Progress { return &Progress{tell: tell} }

// Report takes what a call reports.
func (p *Progress) Report(now *abi.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.send() // what is held back may be due already, if its timer is late
	p.keep(now.Output)
	newest := *now
	p.held = &newest
	p.send()
}

// send tells what is held back if it is due, or else sets the timer for it. The caller holds
// the mutex.
func (p *Progress) send() {
	if p.held == nil {
		return
	}
	wait := time.Until(p.next)
	switch {
	case wait <= 0:
		p.flush()
	case p.timer == nil:
		p.timer = time.AfterFunc(wait, p.due)
	}
}

// keep adds to the output so far.
func (p *Progress) keep(output string) {
	if output == "" {
		return
	}
	p.lines += int64(strings.Count(output, "\n"))
	p.bytes += int64(len(output))
	p.output.add(output, maxOutput)
	p.tail.add(output, maxTail)
}

// ending is the end of a text that comes in pieces. It moves what it keeps only when
// that has doubled.
type ending []byte

// add adds a piece of a text of which the last most bytes are wanted. It keeps a few
// more, to begin with a whole code point.
func (e *ending) add(piece string, most int) {
	most += utf8.UTFMax
	kept := append(*e, piece[max(0, len(piece)-most):]...)
	if len(kept) > 2*most {
		kept = append(kept[:0], kept[len(kept)-most:]...)
	}
	*e = kept
}

// last is the end of the text, of at most most bytes.
func (e ending) last(most int) string {
	return last(string(e[max(0, len(e)-most-utf8.UTFMax):]), most)
}

// last is the end of a text, of at most n bytes, from the beginning of a code point.
func last(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for i := 0; i < len(text) && i < utf8.UTFMax; i++ {
		if utf8.RuneStart(text[i]) {
			return text[i:]
		}
	}
	return text
}

// due is what the timer calls. Where the timer is late, what it was set for was told already,
// and something newer may be held back, which is not due yet.
func (p *Progress) due() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = nil
	p.send()
}

// flush tells the newest, if it was not told. The caller holds the mutex, so that
// what is told is told in order.
func (p *Progress) flush() {
	if p.held == nil {
		return
	}
	told := &Told{Progress: *p.held, Tail: p.tail.last(maxTail), Lines: p.lines, Bytes: p.bytes}
	told.Output = p.output.last(maxOutput)
	p.held, p.output = nil, p.output[:0]
	p.next = time.Now().Add(reportEvery)
	p.tell(told)
}

// End passes on what was held back, and takes no more.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if !p.over {
		p.flush()
	}
	p.over = true
}

// UnlessOver does something, unless the call has ended, and reports whether it did. The
// End of the call waits for it.
func (p *Progress) UnlessOver(do func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return false
	}
	do()
	return true
}

// Ended reports whether End was called.
func (p *Progress) Ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}
