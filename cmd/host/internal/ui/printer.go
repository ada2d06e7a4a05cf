package ui

import (
	"fmt"
	"io"
	"os"
	"strings"
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
	Cyan   Style = "36"
)

// Span is a piece of a line.
type Span struct {
	Style Style
	Text  string
}

// Printer prints to one stream and escapes all that it is given. It is safe for
// concurrent use.
type Printer struct {
	// Terminal says that the stream is one; Colour that it may be styled; Live
	// that lines on it can be drawn anew; Width is the columns it had at first, 0
	// where there is no limit.
	Terminal bool
	Colour   bool
	Live     bool
	Width    int

	w      io.Writer
	screen *screen
	// size asks for the columns and rows the terminal has now; nil where it is
	// no terminal.
	size func() (width, height int)
	// stops has Ctrl-Z take the live region away until the returned function is
	// called; nil where there is no Ctrl-Z.
	stops func(hold func() (release func())) (end func())
}

// NewPrinter looks at a stream and at the variables NO_COLOR, TERM and CI.
func NewPrinter(f *os.File) *Printer {
	p := &Printer{w: f, screen: &screen{w: f}}
	if p.Terminal = IsTerminal(f); !p.Terminal {
		return p
	}
	dumb := os.Getenv("TERM") == "dumb"
	p.Colour = os.Getenv("NO_COLOR") == "" && !dumb
	p.Live = !dumb && !onCI() && moves(f)
	p.stops = onStop
	p.size = func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0, 0
		}
		return width, height
	}
	p.screen.size = p.Size
	p.Width, _ = p.Size()
	return p
}

// NewPrinters are the printers of standard output and standard error. Where both
// are the terminal they share it, so that neither prints through what the other
// draws.
func NewPrinters(out, err *os.File) (o, e *Printer) {
	o, e = NewPrinter(out), NewPrinter(err)
	if o.Terminal && e.Terminal {
		o.screen = e.screen
	}
	return o, e
}

// onCI reports whether nobody looks: what runs there may have a terminal, whose
// output is kept as text.
func onCI() bool {
	ci := os.Getenv("CI")
	return ci != "" && ci != "false" && ci != "0"
}

// The size of a terminal that does not tell.
const (
	usualWidth  = 80
	usualHeight = 24
)

// Size is how many columns and rows the terminal has now. Without one, the
// columns are Width.
func (p *Printer) Size() (width, height int) {
	if p.size == nil {
		return p.Width, usualHeight
	}
	width, height = p.size()
	if width <= 0 {
		width = usualWidth
	}
	if height <= 0 {
		height = usualHeight
	}
	return width, height
}

// Write writes bytes as they are.
func (p *Printer) Write(b []byte) (int, error) { return p.screen.write(p.w, b) }

// Hold takes what is drawn live off the terminal and keeps it off until release
// is called: somebody is being asked something. It may be held more than once.
func (p *Printer) Hold() (release func()) { return p.screen.hold() }

// Abandon takes what is drawn live off the terminal for good, for a program that
// is about to end in the middle of it. A terminal that takes nothing is not
// waited for.
func (p *Printer) Abandon() { p.screen.abandon() }

// Printf prints text of any number of lines, escaped.
func (p *Printer) Printf(format string, args ...any) {
	_, _ = io.WriteString(p, Text(fmt.Sprintf(format, args...)))
}

// Line prints one line of spans, each escaped, cut at the terminal's width.
func (p *Printer) Line(spans ...Span) {
	width, _ := p.Size()
	p.line(width, spans)
}

// Whole is Line for what somebody must see all of: nothing is cut, and a narrow
// terminal takes more rows for it.
func (p *Printer) Whole(spans ...Span) { p.line(0, spans) }

func (p *Printer) line(width int, spans []Span) {
	line := make([]Span, len(spans))
	for i, s := range spans {
		line[i] = Span{s.Style, Line(s.Text)}
	}
	_, _ = io.WriteString(p, style(line, width, p.Colour)+"\n")
}

// Table prints rows in columns, the first as their heads.
func (p *Printer) Table(rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		safe := make([]string, len(row))
		for i, cell := range row {
			safe[i] = Line(cell)
		}
		fmt.Fprintln(w, strings.Join(safe, "\t"))
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
	_, _ = io.WriteString(p, block(style, head, text, p.Colour))
}

func block(style Style, head, text string, colour bool) string {
	head = Line(head)
	margin := strings.Repeat(" ", cells(head))
	body := strings.ReplaceAll(strings.TrimRight(Text(text), "\n"), "\n", "\n"+margin)
	return style.on(head, colour) + body + "\n"
}
