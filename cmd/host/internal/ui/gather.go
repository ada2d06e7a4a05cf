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
func (p *printout) gathers(c *entry) bool {
	switch {
	case !p.live || p.verbose || c.kept != "":
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
func (p *printout) flush() {
	p.printRun(p.gathered)
	p.gathered = nil
}

// printRun prints calls that follow one another: a few each, many as one line.
func (p *printout) printRun(run []*entry) {
	if len(run) >= gatherFrom {
		p.print(p.runLine(run)...)
		return
	}
	for _, c := range run {
		p.print(p.endLine(c)...)
	}
}

// printTree prints the line of a call that ended, and below it those of the calls
// that it made.
func (p *printout) printTree(c *entry) {
	p.print(p.endLine(c)...)
	if c.state == failed {
		lines, _ := c.log.Lines()
		for _, line := range lines {
			p.print(keeps(Dim, p.blank()+indent(c.depth)+line))
		}
	}
	var run []*entry
	for _, in := range c.inner {
		switch {
		case in.phase != ended || !p.live: // has a line of its own
		case len(in.inner) == 0 && p.gathers(in):
			if !together(run, in) {
				p.printRun(run)
				run = nil
			}
			run = append(run, in)
		default:
			p.printRun(run)
			run = nil
			p.printTree(in)
		}
	}
	p.printRun(run)
}

// runLine is the one line of many calls.
func (p *printout) runLine(run []*entry) []piece {
	if run[0].state != ok {
		return p.unbegunLine(run)
	}
	since, until := run[0].since, run[0].until
	var bytes int64
	for _, c := range run {
		if c.since.Before(since) {
			since = c.since
		}
		if c.until.After(until) {
			until = c.until
		}
		bytes += c.bytes
	}
	return []piece{
		p.lead(ok, run[0].depth), keeps(Bold, counted(run)), gives(Dim, titles(run, func(c *entry) string { return c.title })),
		keeps(Dim, "  "+Elapsed(until.Sub(since))), spares(Dim, "  "+Bytes(bytes)),
	}
}

// unbegunLine is the one line of many calls that never began, for one reason.
func (p *printout) unbegunLine(run []*entry) []piece {
	first := run[0]
	return []piece{
		p.lead(first.state, first.depth), keeps(Bold, count(len(run), "call")),
		gives(Dim, titles(run, func(c *entry) string { return c.tool + titled(c.title) })), gives(looks[first.state].style, "  "+first.why),
	}
}

// titles are what calls are about, behind a name.
func titles(run []*entry, of func(*entry) string) string {
	var list strings.Builder
	for _, c := range run {
		if text := of(c); text != "" && list.Len() < maxText {
			list.WriteString(", " + text)
		}
	}
	return titled(clip(strings.TrimPrefix(list.String(), ", "), maxText))
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
