package fs

import (
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// lineText is the text that a read by lines answers with, and what the answer says of it.
type lineText struct {
	args  abi.LineArgs
	label label
	out   []byte
	chars int64
	ok    abi.LinesOK
}

// timedOut reports whether a read ended for want of time, and has the answer say so: it
// has what was read by then.
func (t *lineText) timedOut(err error) bool {
	if abi.CodeOf(err) != abi.CodeTimeout {
		return false
	}
	t.ok.More, t.ok.TimedOut = true, true
	return true
}

// guess is how long the text will be, where that is known well enough.
func (t *lineText) guess(size int64) int64 {
	n := size + size/4
	if t.args.Limit > 0 {
		n = min(n, min(t.args.Limit, 1<<20)*48)
	}
	return min(n, t.args.MaxChars+utf8.UTFMax, 16<<20)
}

// cost is how many code points a line of n takes.
func (t *lineText) cost(n int64) int64 {
	if t.ok.Count > 0 {
		n++
	}
	if t.args.Number {
		n += int64(len(t.label.text()))
	}
	return n
}
