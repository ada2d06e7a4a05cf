package search

import (
	"bytes"

	"github.com/toolquay/toolquay/abi"
)

// printer puts matches and the lines around them into the answer.
type printer struct {
	window
	plan *contentsPlan
	out  *found

	line    int64 // the number of the line at counted
	counted int
	printed int // the end of what was output, negative if it left the window
	any     bool
	after   int  // lines of context that still follow the last match
	done    bool // nothing more of this file is wanted
}

// show prints the lines from first to last, which match, and their context.
func (p *printer) show(first, last int) {
	p.follow(first)
	if first > p.printed {
		from := p.back(first, p.plan.args.Before, p.printed)
		if p.plan.context() && p.any && from > p.printed {
			p.out.text = append(p.out.text, gap...)
			p.out.end(0)
		}
		p.print(from, first, false)
	}
	p.print(max(first, p.printed), last, true)
	p.after = p.plan.args.After
}

// follow prints the context behind the last match, up to a line.
func (p *printer) follow(limit int) {
	for p.after > 0 && p.printed < limit && !p.done {
		p.print(p.printed, min(lineEnd(p.buf[:p.end], p.printed), limit), false)
		p.after--
	}
}

// back returns where the n-th line before a line starts, but not before limit.
func (p *printer) back(pos, n, limit int) int {
	limit = max(limit, 0)
	for ; n > 0 && pos > limit; n-- {
		pos = max(lineStart(p.buf, pos-1), limit)
	}
	return pos
}

// print outputs the lines between two offsets.
func (p *printer) print(from, to int, match bool) {
	for from < to && !p.done {
		next := lineEnd(p.buf[:p.end], from)
		p.count(from)
		at := p.base
		if at >= 0 {
			at += int64(from)
		}
		p.out.line(p.plan.style, p.line, at, p.buf[from:next], match)
		from = next
		p.printed, p.any = next, true
		if len(p.out.entries) > p.plan.need || len(p.out.text) > maxText {
			p.done, p.out.more = true, true
		}
	}
}

// count brings the line number forward to the line at pos.
func (p *printer) count(pos int) {
	if p.plan.style.numbers && pos > p.counted {
		p.line += int64(bytes.Count(p.buf[p.counted:pos], []byte{'\n'}))
		p.counted = pos
	}
}

// drop takes from the window all before its end but the lines that may become context,
// and returns how much that is.
func (p *printer) drop() int {
	keep := p.end
	if p.plan.mode == abi.ModeContent && p.plan.args.Before > 0 {
		keep = p.back(p.end, p.plan.args.Before, max(p.printed, p.end-maxContext))
		if keep > 0 && p.buf[keep-1] != '\n' {
			keep = min(lineEnd(p.buf[:p.end], keep), p.end) // not from within a line
		}
	}
	p.count(keep)
	p.shift(keep)
	p.counted = max(0, p.counted-keep)
	p.printed -= keep
	return keep
}
