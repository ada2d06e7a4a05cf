package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message/stream"
)

// maxAhead is how many turns may wait for those before them; then nothing more is
// read.
const maxAhead = 64

// streamTurn is a turn, and what became of the message it is of.
type streamTurn struct {
	*host.Stream
	streamMessage

	number int
	// sizes are the bytes of its calls' inputs.
	sizes       []int
	interrupted atomic.Bool
}

// streamMessage is what is known of a message.
type streamMessage struct {
	// uses are the ids and names of its calls.
	uses []abi.ToolUse
	// refused are the faults that cost calls of the message, where a reply is made.
	refused    []stream.Item
	stopReason string
	discarded  bool
}

// streamTurns are the turns of a stream, from their first calls to their last results.
type streamTurns struct {
	session *host.Session
	// await waits for what a call needs that is still to come.
	await func(context.Context, ...abi.ToolUse)
	// queue has the turns that are to be written.
	queue chan *streamTurn

	mu sync.Mutex
	// open takes calls; nil between messages. unfinished are the turns whose last
	// result has not left.
	open        *streamTurn
	unfinished  []*streamTurn
	begun       int
	calls       int
	waiting     streamLoad
	interrupted bool
	worst       int
}

// turn is the turn that takes calls, which begins with the first of them.
func (s *streamTurns) turn(ctx context.Context) *streamTurn {
	s.mu.Lock()
	t := s.open
	s.mu.Unlock()
	if t != nil {
		return t
	}
	t = &streamTurn{Stream: s.session.Stream(ctx)}
	s.mu.Lock()
	s.begun++
	t.number = s.begun
	s.open = t
	s.unfinished = append(s.unfinished, t)
	s.mu.Unlock()
	select {
	case s.queue <- t:
	case <-ctx.Done():
	}
	return t
}

// add begins a call, unless too much waits.
func (s *streamTurns) add(ctx context.Context, use abi.ToolUse) error {
	if s.between() {
		s.await(ctx, use) // a turn keeps the tools that it begins with
	}
	t := s.turn(ctx)
	s.mu.Lock()
	s.calls++
	t.uses = append(t.uses, abi.ToolUse{ID: use.ID, Name: use.Name})
	err := s.waiting.take(t, len(use.Input))
	s.mu.Unlock()
	if err == nil {
		_ = t.Add(use) // it fails only where the command ends
	}
	return err
}

// between reports whether no turn takes calls.
func (s *streamTurns) between() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open == nil
}

// refuse notes a fault that cost a call.
func (s *streamTurns) refuse(ctx context.Context, item stream.Item) {
	t := s.turn(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(t.refused) < maxWaiting {
		t.refused = append(t.refused, item)
	}
}

// close says that the message is complete, if there is one.
func (s *streamTurns) close(stopReason string) {
	s.mu.Lock()
	t := s.open
	s.open = nil
	if t != nil {
		t.stopReason = stopReason
	}
	s.mu.Unlock()
	if t != nil {
		t.Close()
	}
}

// interrupt ends what may be ended of the turns under way, and reports whether
// there was one that had not been interrupted before.
func (s *streamTurns) interrupt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := false
	for _, t := range s.unfinished {
		first = !t.interrupted.Swap(true) || first
		t.Interrupt()
	}
	return first
}

// signalled is interrupt for SIGINT, which shows in the exit code.
func (s *streamTurns) signalled() bool {
	first := s.interrupt()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupted = s.interrupted || first
	return first
}

// discard makes void the message that is being written, or else the last one if
// its turn has not ended.
func (s *streamTurns) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.unfinished); n > 0 {
		s.unfinished[n-1].discarded = true
		s.unfinished[n-1].Discard()
	}
	s.open = nil
}

// count notes that a call has ended, and how.
func (s *streamTurns) count(t *streamTurn, e host.Event) {
	if e.Kind != host.EventResult && e.Kind != host.EventDiscarded {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting.give(t, e.Index)
	if e.Result != nil {
		s.worst = worseCode(s.worst, resultCode(e.Result))
	}
}

// finish notes that a turn's last result has left, and returns what became of its message.
func (s *streamTurns) finish(t *streamTurn) streamMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unfinished = slices.DeleteFunc(s.unfinished, func(u *streamTurn) bool { return u == t })
	return t.streamMessage
}

// The most that may wait for who reads the results: calls whose results have not
// left, and the bytes of their inputs. Further ones are refused, and not waited for:
// an interrupt may stand behind them.
const (
	maxWaiting      = 10_000
	maxWaitingBytes = 64 << 20
)

// streamLoad is what waits.
type streamLoad struct{ calls, bytes int }

// take counts a call in, unless that would be too much.
func (l *streamLoad) take(t *streamTurn, size int) error {
	switch {
	case l.calls == maxWaiting:
		return abi.Errorf(abi.CodeTooLarge, "the call is not run: %d calls wait for their results to be read; send no more before some were", l.calls)
	case l.bytes+size > maxWaitingBytes:
		return abi.Errorf(abi.CodeTooLarge, "the call is not run: with it the inputs of calls whose results were not read yet would be over %s", abi.Size(maxWaitingBytes))
	}
	l.calls++
	l.bytes += size
	t.sizes = append(t.sizes, size)
	return nil
}

// give counts a call out.
func (l *streamLoad) give(t *streamTurn, index int) {
	if index < len(t.sizes) {
		l.calls--
		l.bytes -= t.sizes[index]
	}
}
