package ui

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"

	"golang.org/x/term"
)

// Style is how a piece of a line looks on a terminal that has colours.
type Style string

// The styles, as the parameters of a terminal's SGR sequence.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Span is a piece of a line.
type Span struct {
	Style Style
	Text  string
}

// Printer prints to one stream and escapes all that it is given. It is safe for
// concurrent use.
type Printer struct {
	// Terminal says that the stream is one; Colour that it may be styled; Width
	// is its columns, 0 where there is no limit.
	Terminal bool
	Colour   bool
	Width    int

	mu sync.Mutex
	w  io.Writer
}

// NewPrinter looks at a stream and at the variables NO_COLOR and TERM.
func NewPrinter(f *os.File) *Printer {
	p := &Printer{w: f}
	if p.Terminal = IsTerminal(f); !p.Terminal {
		return p
	}
	p.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		p.Width = width
	}
	return p
}

// Write writes bytes as they are.
func (p *Printer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.w.Write(b)
}

// Printf prints text of any number of lines, escaped.
func (p *Printer) Printf(format string, args ...any) {
	_, _ = io.WriteString(p, Text(fmt.Sprintf(format, args...)))
}

// Line prints one line of spans, each escaped, cut at the terminal's width.
func (p *Printer) Line(spans ...Span) {
	var b strings.Builder
	room := p.Width
	for _, s := range spans {
		text := Line(s.Text)
		if p.Width > 0 {
			if text = cut(text, room); text == "" || room <= 0 {
				continue
			}
			room -= len([]rune(text))
		}
		if p.Colour && s.Style != Plain {
			text = "\x1b[" + string(s.Style) + "m" + text + "\x1b[0m"
		}
		b.WriteString(text)
	}
	_, _ = io.WriteString(p, strings.TrimRight(b.String(), " ")+"\n")
}

// Table prints rows in columns, the first as their heads.
func (p *Printer) Table(rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Line(cell)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a Builder takes everything
	for line := range strings.Lines(b.String()) {
		p.Line(Span{Text: strings.TrimRight(line, " \n")})
	}
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Block prints a head and a text of any number of lines, those after the first
// set in below it.
func (p *Printer) Block(style Style, head, text string) {
	head = Line(head)
	margin := strings.Repeat(" ", len([]rune(head)))
	if p.Colour && style != Plain {
		head = "\x1b[" + string(style) + "m" + head + "\x1b[0m"
	}
	body := strings.ReplaceAll(strings.TrimRight(Text(text), "\n"), "\n", "\n"+margin)
	_, _ = io.WriteString(p, head+body+"\n")
}
