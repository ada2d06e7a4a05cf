package shell

import (
	"bytes"
	"time"

	"github.com/toolquay/toolquay/abi"
)

const (
	// reportAfter is when a command is first told of, and reportEvery how often then.
	reportAfter = 2 * time.Second
	reportEvery = 250 * time.Millisecond
	// maxReport bounds what is told at a time, in bytes; of more the end is.
	maxReport = 64 << 10
)

// progress tells of a command's output while it runs.
type progress struct {
	out  *store
	tell func(abi.Progress)
	// next brings a value when it is time to send.
	next <-chan time.Time
	// told is how much of the output was told, and waits says that a line that is not
	// whole was left for the next time.
	told  int64
	waits bool
}

// send tells what is new: whole lines, and a line that is not whole when it has not
// become so since the last time.
func (p *progress) send() {
	p.next = time.After(reportEvery)
	now, _, _ := p.out.count()
	if now == p.told {
		return
	}
	news, now := p.out.since(p.told, maxReport)
	if end := bytes.LastIndexByte(news, '\n') + 1; end < len(news) && !p.waits {
		p.waits = true
		now -= int64(len(news) - end)
		news = news[:end]
	} else {
		p.waits = false
		cut := cutAtEnd(news)
		now -= int64(cut)
		news = news[:len(news)-cut]
	}
	p.told = now
	if len(news) > 0 {
		p.tell(abi.Progress{Output: string(appendValid(nil, news))})
	}
}
