// Package vt is a terminal for tests: it takes what a program writes to one and
// tells what a person would see.
package vt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Terminal is a terminal as far as the command uses one. What it does not know,
// and characters that nobody should send, are faults. It is safe for concurrent
// use, but for its public fields, which are to be set before.
type Terminal struct {
	// Reflows says that lines are broken anew where the width changes. A terminal
	// that does not cuts what is beyond the edge.
	Reflows bool
	// Wider are characters that it draws over two columns where others take one.
	Wider string

	mu            sync.Mutex
	width, height int
	// rows are the scrollback and, at its end, the screen: at most height of them.
	rows []*row
	position

	wrap, cursor bool
	rest         []byte // of a sequence or a character
	faults       []string
	writes       []string
}

// position is where the cursor is, y in rows. late says that the next character begins a
// new row: the one before filled its row.
type position struct {
	x, y int
	late bool
}

type row struct {
	cells []cell
	// more says that the line goes on in the next row.
	more bool
}

// cell is a character with its marks; that right of a wide one is empty.
type cell string

// New is an empty terminal.
func New(width, height int) *Terminal {
	return &Terminal{width: width, height: height, rows: []*row{{}}, wrap: true, cursor: true}
}

// Size is how many columns and rows there are.
func (v *Terminal) Size() (width, height int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.width, v.height
}

// Writes are all that was written so far, one by one.
func (v *Terminal) Writes() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.writes)
}

// Rows is how many rows there are, with those that were scrolled away.
func (v *Terminal) Rows() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.rows)
}

func (v *Terminal) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.writes = append(v.writes, string(b))
	v.rest = append(v.rest, b...)
	for len(v.rest) > 0 {
		n := v.step(v.rest)
		if n == 0 {
			break
		}
		v.rest = v.rest[n:]
	}
	return len(b), nil
}

// step takes one character or sequence, and returns its length, or 0 where it is
// not all there.
func (v *Terminal) step(b []byte) int {
	switch {
	case b[0] == '\x1b':
		return v.sequence(b)
	case b[0] == '\n':
		v.down()
		v.x = 0 // the line discipline's doing
		return 1
	case b[0] == '\r':
		v.x, v.late = 0, false
		return 1
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) && r != '\t' {
		v.fault("the character %U", r)
	}
	v.put(r)
	return n
}

func (v *Terminal) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf(format, args...))
}

// top is the row that the screen begins with.
func (v *Terminal) top() int { return max(0, len(v.rows)-v.height) }

func (v *Terminal) down() {
	v.late = false
	if v.y++; v.y == len(v.rows) {
		v.rows = append(v.rows, &row{})
	}
}

func (v *Terminal) cells(r rune) int {
	if strings.ContainsRune(v.Wider, r) {
		return 2
	}
	return runewidth.RuneWidth(r)
}

func (v *Terminal) put(r rune) {
	w := v.cells(r)
	row := v.rows[v.y]
	if w == 0 {
		for i := min(v.x, len(row.cells)) - 1; i >= 0; i-- {
			if row.cells[i] != "" {
				row.cells[i] += cell(r)
				break
			}
		}
		return
	}
	if v.late || v.x+w > v.width {
		if v.wrap {
			row.more = true
			v.down()
			v.x = 0
			row = v.rows[v.y]
		} else {
			v.x = max(0, v.width-w)
		}
	}
	for len(row.cells) < v.x+w {
		row.cells = append(row.cells, " ")
	}
	row.cells[v.x] = cell(r)
	if w == 2 && v.x+1 < len(row.cells) {
		row.cells[v.x+1] = ""
	}
	row.more = false
	v.x += w
	if v.late = v.x >= v.width; v.late {
		v.x = v.width - 1
	}
}

// sequence does what an escape sequence says.
func (v *Terminal) sequence(b []byte) int {
	end := slices.IndexFunc(b, func(c byte) bool { return c >= '@' && c != '[' && c <= '~' })
	if end < 0 {
		return 0
	}
	switch s := string(b[1 : end+1]); {
	case s == "[?25l", s == "[?25h":
		v.cursor = s == "[?25h"
	case s == "[?7l", s == "[?7h":
		v.wrap = s == "[?7h"
	case s == "[K":
		v.rows[v.y].clear(v.x)
	case s == "[J":
		v.rows[v.y].clear(v.x)
		v.rows = v.rows[:v.y+1]
	case strings.HasPrefix(s, "[") && s[len(s)-1] == 'A':
		n, err := strconv.Atoi(s[1 : len(s)-1])
		if err != nil || n < 1 {
			v.fault("the sequence %q", s)
		}
		v.y, v.late = max(v.top(), v.y-n), false
	case strings.HasPrefix(s, "[") && s[len(s)-1] == 'm':
	default:
		v.fault("the sequence %q", s)
	}
	return end + 1
}

// clear clears a row from a column on.
func (r *row) clear(x int) {
	r.cells = r.cells[:min(x, len(r.cells))]
	r.more = false
}

// Resize makes the terminal another size, as somebody does with a mouse.
func (v *Terminal) Resize(width, height int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.width = width
	if v.Reflows {
		v.reflow()
	} else {
		for _, row := range v.rows {
			row.cells = row.cells[:min(len(row.cells), width)]
		}
	}
	v.x, v.late = min(v.x, width-1), false
	// The rows below the cursor are the first to go.
	for v.height = height; v.y < v.top() && len(v.rows) > v.y+1; {
		v.rows = v.rows[:len(v.rows)-1]
	}
}

// reflow breaks lines anew. The cursor stays with the character it is at.
func (v *Terminal) reflow() {
	var rows []*row
	x, y := 0, 0
	for i := 0; i < len(v.rows); i++ {
		at := -1
		var line []cell
		for {
			if i == v.y {
				at = len(line) + v.x
			}
			line = append(line, v.rows[i].cells...)
			if !v.rows[i].more || i+1 == len(v.rows) {
				break
			}
			i++
		}
		start := len(rows)
		rows = append(rows, broken(line, v.width)...)
		if at >= 0 {
			y = min(start+at/v.width, len(rows)-1)
			x = at % v.width
		}
	}
	v.rows, v.x, v.y = rows, x, y
}

func broken(line []cell, width int) []*row {
	var rows []*row
	for len(line) > width {
		n := width
		if line[n] == "" { // the right half of a wide character
			n--
		}
		rows = append(rows, &row{slices.Clone(line[:n]), true})
		line = line[n:]
	}
	return append(rows, &row{slices.Clone(line), false})
}

// Text is all that there is to read, without blanks at the ends of lines. Lines
// that took several rows are one.
func (v *Terminal) Text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var b strings.Builder
	for _, row := range v.rows {
		var line strings.Builder
		for _, c := range row.cells {
			line.WriteString(string(c))
		}
		if row.more {
			b.WriteString(line.String())
			continue
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Err reports what is wrong with the state that a write left.
func (v *Terminal) Err() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case len(v.faults) > 0:
		return fmt.Errorf("faults: %q", v.faults)
	case len(v.rest) > 0:
		return fmt.Errorf("a sequence that does not end: %q", v.rest)
	case !v.cursor:
		return errors.New("the cursor is hidden")
	case !v.wrap:
		return errors.New("lines do not wrap")
	}
	return nil
}
