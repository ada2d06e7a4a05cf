package main

import "github.com/toolquay/toolquay/abi"

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
