package ui

import "strings"

// Where a model looks around, call after call reads and searches, and nobody wants
// a line for each. Those that follow one another and went well make one line, and so
// do those that never began because of one interrupt or failure.

// gatherFrom is how many calls are worth one line in place of theirs.
const gatherFrom = 5

// kinds are the activities that are gathered, and how their calls are counted.
var kinds = []struct{ activity, one string }{{"read", "read"}, {"search", "search"}}

// gathers reports whether the line of a call that ended can wait for others of
// its kind. What went wrong, and what there is more to say of, has its own.
func (b *board) gathers(c *entry) bool {
	switch {
	case !b.live || b.verbose || c.kept != "":
		return false
	case c.state == interrupted || c.state == cancelled:
		return c.unbegun
	case c.state != ok:
		return false
	}
	for _, k := range kinds {
		if c.activity == k.activity {
			return true
		}
	}
	return false
}

// together reports whether a call can be gathered with those before it: it ended like
// them, and for the same reason.
func together(run []*entry, c *entry) bool {
	return len(run) == 0 || run[0].state == c.state && run[0].why == c.why
}

// flush prints what was gathered.
func (b *board) flush() {
	b.printRun(b.gathered)
	b.gathered = nil
}

// printRun prints calls that follow one another: a few each, many as one line.
func (b *board) printRun(run []*entry) {
	if len(run) >= gatherFrom {
		b.print(b.runLine(run)...)
		return
	}
	for _, c := range run {
		b.print(b.endLine(c)...)
	}
}

// runLine is the one line of many calls.
func (b *board) runLine(run []*entry) []piece {
	if run[0].state != ok {
		return b.unbegunLine(run)
	}
	since, until := run[0].since, run[0].until
	var bytes int64
	var titles strings.Builder
	for _, c := range run {
		if c.since.Before(since) {
			since = c.since
		}
		if c.until.After(until) {
			until = c.until
		}
		bytes += c.bytes
		if c.title != "" && titles.Len() < maxText {
			titles.WriteString(", " + c.title)
		}
	}
	return []piece{
		b.lead(ok, run[0].depth), keeps(Bold, counted(run)), gives(Dim, titled(clip(strings.TrimPrefix(titles.String(), ", "), maxText))),
		keeps(Dim, "  "+Elapsed(until.Sub(since))), spares(Dim, "  "+Bytes(bytes)),
	}
}

// unbegunLine is the one line of many calls that never began, for one reason.
func (b *board) unbegunLine(run []*entry) []piece {
	var titles strings.Builder
	for _, c := range run {
		if titles.Len() < maxText {
			titles.WriteString(", " + c.tool + titled(c.title))
		}
	}
	first := run[0]
	return []piece{
		b.lead(first.state, first.depth), keeps(Bold, count(len(run), "call")),
		gives(Dim, titled(clip(strings.TrimPrefix(titles.String(), ", "), maxText))), gives(looks[first.state].style, "  "+first.why),
	}
}

// counted says how many calls there are of each kind.
func counted(run []*entry) string {
	var parts []string
	others := len(run)
	for _, k := range kinds {
		n := 0
		for _, c := range run {
			if c.activity == k.activity {
				n++
			}
		}
		if others -= n; n > 0 {
			parts = append(parts, count(n, k.one))
		}
	}
	if others > 0 {
		parts = append(parts, count(others, "call"))
	}
	return strings.Join(parts, ", ")
}
