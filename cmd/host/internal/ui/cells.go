package ui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Widths are counted character by character, as most terminals do. Those that
// draw a sequence of characters as one take less room than counted, never more.

// ellipsis stands for what was cut off.
const ellipsis = "…"

// maxMarks is how many marks in a row go onto the character before them. More
// would run over the lines above and below, so they count as characters.
const maxMarks = 2

// meter counts the cells that characters take, one after the other.
type meter struct{ marks int }

func (m *meter) next(r rune) int {
	if r < utf8.RuneSelf {
		m.marks = 0
		return 1
	}
	w := runewidth.RuneWidth(r)
	if w > 0 {
		m.marks = 0
		return w
	}
	if m.marks++; m.marks > maxMarks {
		return 1
	}
	return 0
}

// cells is how many columns a safe text takes.
func cells(s string) int {
	var m meter
	n := 0
	for _, r := range s {
		n += m.next(r)
	}
	return n
}

// fit cuts a safe text to a number of cells. A wide character that would stand
// across the end is left out, and marks go with what they are on.
func fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	dots := runewidth.StringWidth(ellipsis)
	var m meter
	used, keep := 0, 0
	for i, r := range s {
		if used += m.next(r); used > width {
			if dots > width {
				return ""
			}
			return s[:keep] + ellipsis
		}
		if used <= width-dots {
			keep = i + utf8.RuneLen(r)
		}
	}
	return s
}

// clip cuts a text of any kind to a number of bytes, between two characters.
func clip(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size]
}

// maxText bounds a text that is kept for a line, in bytes.
const maxText = 2 << 10

// safe makes a text fit to be kept: one line of bounded length without anything
// hidden.
func safe(text string) string { return Line(clip(text, maxText)) }

// piece is a part of a line that shares the line's width with others. Its text is
// safe: keeps, gives and spares see to that.
type piece struct {
	Span
	// gives says that the piece is cut where the line is too long for all, and
	// spare that it is left out before the others are cut to nothing.
	gives, spare bool
}

func keeps(style Style, text string) piece { return piece{Span: Span{style, Line(text)}} }

func gives(style Style, text string) piece { return piece{Span: Span{style, Line(text)}, gives: true} }

func spares(style Style, text string) piece { return piece{Span: Span{style, Line(text)}, spare: true} }

// layout cuts pieces until they fit into a line: first those that give, the
// longest of them, then all from the end. Without a width they stay whole.
func layout(pieces []piece, width int) []Span {
	limit := unlimited
	if width > 0 {
		limit = room(pieces, width)
		if limit < enough {
			pieces = slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return p.spare })
			limit = room(pieces, width)
		}
	}
	spans := make([]Span, 0, len(pieces))
	for _, p := range pieces {
		if p.gives && limit < unlimited {
			p.Text = fit(p.Text, limit)
		}
		if p.Text != "" {
			spans = append(spans, p.Span)
		}
	}
	return spans
}

const (
	unlimited = int(^uint(0) >> 1)
	// enough is the room that a cut piece needs to tell something, in cells.
	enough = 12
)

// room is the most that a piece may take of those that give: what the others
// leave, shared so that no short one is cut for a longer one.
func room(pieces []piece, width int) int {
	var wants []int
	for _, p := range pieces {
		if n := cells(p.Text); p.gives {
			wants = append(wants, n)
		} else {
			width -= n
		}
	}
	slices.Sort(wants)
	for i, n := range wants {
		if rest := len(wants) - i; n*rest > width {
			return max(width, 0) / rest
		}
		width -= n
	}
	return unlimited
}

// style puts safe spans together as a line of at most width cells; 0 is no limit.
func style(spans []Span, width int, colour bool) string {
	var b strings.Builder
	left := width
	for _, s := range spans {
		text := s.Text
		if width > 0 {
			text = fit(text, left)
			left -= cells(text)
		}
		b.WriteString(s.Style.on(text, colour))
	}
	return strings.TrimRight(b.String(), " ")
}

// on puts a style around a safe text.
func (s Style) on(text string, colour bool) string {
	if !colour || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
