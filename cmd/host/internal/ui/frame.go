package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// row is one line of the live region: a call, or many that ended.
type row struct {
	call *entry
	run  []*entry
}

// maxQueued is how many of the calls that wait for their turn have a line, and
// maxInner how many of those that a call made and that ended well.
const (
	maxQueued = 3
	maxInner  = 3
)

// frame is what the live region shows: at most height lines, or none where there
// is nothing to show. start is when the turn began.
func (b *board) frame(start, now time.Time, width, height int) [][]piece {
	work := b.lists.lines(min(maxWork, height/2))
	calls := b.callLines(start, now, width, height-len(work))
	if len(calls) == 0 {
		return nil // the lists are printed for good at the end
	}
	return append(calls, work...)
}

// callLines are the lines of the calls.
func (b *board) callLines(start, now time.Time, width, height int) [][]piece {
	done := doneRows(b.gathered)
	rows, waiting := underWay(b.roots)
	busy := len(rows)+len(waiting) > 0
	rows = append(rows, rowsOf(waiting[:min(len(waiting), maxQueued)])...)
	room := max(height, 1)
	if foot := busy && (room > 1 || len(rows) > 1); foot {
		room--
	}
	if len(done)+len(rows) <= room || !busy {
		rows = append(done, rows...)
	}
	rows = rows[:min(len(rows), room)]
	out := make([][]piece, 0, len(rows)+1)
	for _, r := range rows {
		out = append(out, b.rowLine(r, now, width))
	}
	if busy && len(out) < max(height, 1) {
		out = append(out, b.foot(start, now))
	}
	return out
}

func rowsOf(calls []*entry) []row {
	rows := make([]row, len(calls))
	for i, c := range calls {
		rows[i].call = c
	}
	return rows
}

// doneRows are the rows of calls that ended and whose line waits for others.
func doneRows(gathered []*entry) []row {
	if len(gathered) >= gatherFrom {
		return []row{{run: gathered}}
	}
	return rowsOf(gathered)
}

// waits reports whether nothing has been done for a call yet.
func (c *entry) waits() bool { return c.phase == queued && c.asking.IsZero() }

// underWay are the rows of the calls under way, each followed by those that it made, and
// the calls whose turn has not come.
func underWay(roots []*entry) (rows []row, waiting []*entry) {
	for _, c := range roots {
		switch {
		case c.phase == ended:
		case c.waits():
			waiting = append(waiting, c)
		default:
			rows = c.rows(rows)
		}
	}
	return rows, waiting
}

// rows adds the rows of a call and of those that it made. Of these, what went
// well is put into one row where it would be too much.
func (c *entry) rows(out []row) []row {
	out = append(out, row{call: c})
	well := slices.DeleteFunc(slices.Clone(c.inner), func(in *entry) bool { return in.phase != ended || in.state != ok })
	gather := len(well) > maxInner
	if gather {
		out = append(out, row{run: well})
	}
	for _, in := range c.inner {
		switch {
		case in.phase != ended:
			out = in.rows(out)
		case in.state != ok || !gather:
			out = append(out, row{call: in})
		}
	}
	return out
}

// rowLine is the line of a row.
func (b *board) rowLine(r row, now time.Time, width int) []piece {
	c := r.call
	switch {
	case c == nil:
		return b.runLine(r.run)
	case c.phase == ended:
		return b.endLine(c)
	case !c.asking.IsZero():
		return c.line(keeps(Yellow, "? "), Plain, keeps(Yellow, "  waits for you  "+growing(now.Sub(c.asking))))
	case c.phase == queued:
		return c.line(keeps(Dim, "· "), Dim, keeps(Dim, "  queued"))
	}
	rest := append([]piece{keeps(Dim, "  "+growing(now.Sub(c.since)))}, c.progress.pieces(width)...)
	return c.line(keeps(Cyan, spin(now)+" "), Plain, rest...)
}

// line is the line of a call that has not ended.
func (c *entry) line(mark piece, title Style, rest ...piece) []piece {
	name := Bold
	if title == Dim {
		name = Dim
	}
	return append([]piece{keeps(Plain, indent(c.depth)), mark, keeps(name, c.tool), gives(title, titled(c.title))}, rest...)
}

// foot is the last line of the region: how many calls there are in each state,
// and what Ctrl-C would do.
func (b *board) foot(start, now time.Time) []piece {
	var asking, busy, waiting int
	for _, c := range b.calls {
		switch {
		case c.phase == ended:
		case !c.asking.IsZero():
			asking++
		case c.phase == running:
			busy++
		default:
			waiting++
		}
	}
	var parts []string
	for _, s := range []struct {
		n    int
		says string
	}{{busy, "running"}, {asking, "waiting for you"}, {waiting, "queued"}, {b.ended(), "done"}} {
		if s.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", s.n, s.says))
		}
	}
	return []piece{
		keeps(Dim, "  "+strings.Join(parts, ", ")+"  "+growing(now.Sub(start))),
		gives(Dim, "  "+b.hint()),
	}
}

// ended counts the calls that have.
func (b *board) ended() int {
	n := 0
	for _, c := range b.counts {
		n += c
	}
	return n
}

// hint says what Ctrl-C does.
func (b *board) hint() string {
	blocking := ""
	for _, c := range b.calls {
		if c.phase == running && c.blocks && (blocking == "" || c.tool < blocking) {
			blocking = c.tool
		}
	}
	switch {
	case !b.soft():
		return "Ctrl-C ends the turn"
	case blocking != "":
		return "Ctrl-C interrupts all but " + blocking
	case b.blocked:
		return "Ctrl-C interrupts, but not all of it"
	}
	return "Ctrl-C interrupts"
}
