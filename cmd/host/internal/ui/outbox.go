package ui

import (
	"fmt"
	"strings"
)

// paragraph is something that is printed for good: a line whose pieces share its
// width, or a text of any number of lines behind a head.
type paragraph struct {
	line       []piece
	head, text string
	// detail says that it can be done without.
	detail bool
}

func (p *paragraph) render(width int, colour bool) string {
	if p.line == nil {
		return block(Yellow, p.head, p.text, colour)
	}
	return style(layout(p.line, width), width, colour) + "\n"
}

// outbox holds what is to be printed for good until the terminal takes it.
type outbox struct {
	queue   []paragraph
	details int
	// lost counts the details that a slow terminal had no time for.
	lost int
}

// maxDetails bounds the details that wait; the oldest go first.
const maxDetails = 1000

func (o *outbox) add(p paragraph) {
	if p.detail {
		if o.details == maxDetails {
			o.loseDetail()
		}
		o.details++
	}
	o.queue = append(o.queue, p)
}

func (o *outbox) loseDetail() {
	for i := range o.queue {
		if o.queue[i].detail {
			o.queue = append(o.queue[:i], o.queue[i+1:]...)
			o.details--
			o.lost++
			return
		}
	}
}

// take empties the outbox into a text.
func (o *outbox) take(width int, colour bool) string {
	var b strings.Builder
	if o.lost > 0 {
		p := paragraph{line: []piece{keeps(Dim, fmt.Sprintf("    (%s left out: the terminal is slow)", count(o.lost, "line")))}}
		b.WriteString(p.render(width, colour))
	}
	for i := range o.queue {
		b.WriteString(o.queue[i].render(width, colour))
	}
	*o = outbox{}
	return b.String()
}
