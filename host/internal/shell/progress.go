package shell

import (
	"bytes"
	"time"

	"github.com/toolquay/toolquay/abi"
)

const (
	// reportAfter is when a command is first reported, and reportEvery how often after that.
	reportAfter = 2 * time.Second
	reportEvery = 250 * time.Millisecond
	// maxReport bounds one report, in bytes. Of more output only the end is reported.
	maxReport = 64 << 10
)

// progress reports a command's output while it runs.
type progress struct {
	out  *store
	tell func(abi.Progress)
	// next brings a value when it is time to send.
	next <-chan time.Time
	// told is how much of the output was reported, and waits says that an incomplete line was
	// left for the next report.
	told  int64
	waits bool
}

// send reports what is new: whole lines, and an incomplete line if it was incomplete at the
// last report too.
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
