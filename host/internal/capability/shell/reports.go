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

// reports tell of a command's output while it runs.
type reports struct {
	run   *run
	timer *time.Timer
	// told is how much of the output was told, and waits says that a line that is not
	// whole was left for the next time.
	told  int64
	waits bool
}

func newReports(r *run) *reports { return &reports{run: r, timer: time.NewTimer(reportAfter)} }

func (s *reports) stop() { s.timer.Stop() }

// due brings a value when it is time to send.
func (s *reports) due() <-chan time.Time { return s.timer.C }

// send tells what is new: whole lines, and a line that is not whole when it has not
// become so since the last time.
func (s *reports) send() {
	s.timer.Reset(reportEvery)
	now, _, _ := s.run.out.all.count()
	if now == s.told {
		return
	}
	news, now := s.run.out.all.since(s.told, maxReport)
	if end := bytes.LastIndexByte(news, '\n') + 1; end < len(news) && !s.waits {
		s.waits = true
		now -= int64(len(news) - end)
		news = news[:end]
	} else {
		s.waits = false
		cut := cutAtEnd(news)
		now -= int64(cut)
		news = news[:len(news)-cut]
	}
	s.told = now
	if len(news) > 0 {
		s.run.scope.Report(abi.Progress{Output: string(appendValid(nil, news))})
	}
}
