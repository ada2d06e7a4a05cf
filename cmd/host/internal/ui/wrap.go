package ui

import (
	"io"
	"strings"
	"unicode/utf8"
)

// minWrap is the narrowest terminal that text is wrapped for, in columns. On narrower
// ones the terminal breaks the lines.
const minWrap = 24

// Wrapped prints one line for somebody who must see all of it, in as many rows as it
// takes: broken between words, with the rows after the first set in by margin columns.
// A word that is longer than a row is broken where it begins or goes on, behind a slash or
// comma, or else anywhere.
func (p *Printer) Wrapped(margin int, spans ...Span) {
	width, _ := p.Size()
	if width > 0 {
		margin = min(margin, width/3)
	}
	var all strings.Builder
	for i := range spans {
		spans[i].Text = Line(spans[i].Text)
		all.WriteString(spans[i].Text)
	}
	var out strings.Builder
	for i, r := range rows(all.String(), width, margin) {
		if i > 0 {
			out.WriteString(strings.Repeat(" ", margin))
		}
		out.WriteString(strings.TrimRight(style(between(spans, r), 0, p.Colour), " ") + "\n")
	}
	_, _ = io.WriteString(p, out.String())
}

// between are the pieces of spans that make a row.
func between(spans []Span, r segment) (out []Span) {
	at := 0
	for _, s := range spans {
		from, to := max(r.from-at, 0), min(r.to-at, len(s.Text))
		if from < to {
			out = append(out, Span{s.Style, s.Text[from:to]})
		}
		at += len(s.Text)
	}
	return out
}

// The gutter of a quoted line: its first row, and those that only go on with it, so that
// nobody takes them for a line of their own.
const (
	gutter     = "  | "
	gutterMore = "    "
)

// Quoted prints a text of any number of lines word for word, each line behind a bar and in
// as many rows as it takes. Styles says how a line looks.
func (p *Printer) Quoted(text string, styles func(line string) Style) {
	width, _ := p.Size()
	var out strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(Text(text), "\n"), "\n") {
		look := styles(line)
		line = untab(line)
		for i, r := range rows(line, width-len(gutter), 0) {
			head := gutter
			if i > 0 {
				head = gutterMore
			}
			out.WriteString(strings.TrimRight(head+look.on(line[r.from:r.to], p.Colour), " ") + "\n")
		}
	}
	_, _ = io.WriteString(p, out.String())
}

// tabStop is how far tabs go, in columns.
const tabStop = 4

// untab writes tabs as the blanks they stand for: behind a gutter they would go less far.
func untab(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	var m meter
	at := 0
	for _, r := range line {
		n := tabStop - at%tabStop
		if r != '\t' {
			n = m.next(r)
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Repeat(" ", n))
		}
		at += n
	}
	return b.String()
}

// segment is a part of a line, in bytes.
type segment struct{ from, to int }

// rows breaks a safe line into rows of at most width columns, those after the first of
// margin less. Between two rows that are broken at a blank it is left out. A width of 0
// is no limit.
func rows(line string, width, margin int) (out []segment) {
	if width < minWrap-len(gutter) {
		return []segment{{0, len(line)}}
	}
	from, limit := 0, width
	for {
		to, next := breakOf(line[from:], limit)
		out = append(out, segment{from, from + to})
		if from += next; from >= len(line) {
			return out
		}
		limit = width - margin
	}
}

// leastPiece is how much of a word that does not fit into a row is worth to begin with it
// in the one before, in bytes.
const leastPiece = 4

// breakOf finds where a row ends, and where the next begins.
func breakOf(rest string, limit int) (to, next int) {
	var m meter
	used, blank, mark := 0, 0, 0
	for i, r := range rest {
		if used += m.next(r); used > limit {
			switch {
			case r == ' ':
				return i, i + 1
			case mark > blank+leastPiece && !fitsRow(rest[blank+1:], limit):
				return mark, mark
			case blank > 0:
				return blank, blank + 1
			case mark > 0:
				return mark, mark
			case i > 0:
				return i, i
			}
			size := utf8.RuneLen(r) // wider than the row
			return size, size
		}
		switch {
		case r == ' ' && strings.TrimLeft(rest[:i], " ") != "":
			blank = i
		case r == '/' || r == ',':
			mark = i + 1
		}
	}
	return len(rest), len(rest)
}

// fitsRow reports whether the first word of a text fits into a row.
func fitsRow(text string, limit int) bool {
	var m meter
	used := 0
	for _, r := range text {
		if r == ' ' {
			break
		}
		if used += m.next(r); used > limit {
			return false
		}
	}
	return true
}
