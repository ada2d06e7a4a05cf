package engine

import (
	"bytes"
	"strings"
)

// maxLogLine cuts longer lines of a guest's standard output and error, in
// bytes.
const maxLogLine = 4 << 10

// logLines turns what a guest writes to its standard output and error into
// lines.
type logLines struct {
	line  []byte
	words lastWords
	tell  func(line string)
}

// Tell sets what takes the lines that the guest writes to its standard output
// and error, valid UTF-8 and cut to 4 KiB. The default drops them.
func (l *logLines) Tell(tell func(line string)) { l.tell = tell }

// Heard notes a line that the guest logged in another way than by its standard output
// and error, for LastWords.
func (l *logLines) Heard(line string) { l.words.hear(line) }

// LastWords ends the line that the guest is writing and returns what says best why it
// ended: its panic, or the last line that it logged; "" for none.
func (l *logLines) LastWords() string {
	l.flush()
	return l.words.String()
}

func (l *logLines) write(p []byte) {
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		room := max(maxLogLine-len(l.line), 0)
		l.line = append(l.line, line[:min(room, len(line))]...)
		if ended {
			l.flush()
		}
		p = rest
	}
}

func (l *logLines) flush() {
	if len(l.line) == 0 {
		return
	}
	line := string(bytes.ToValidUTF8(l.line, []byte("\uFFFD")))
	l.line = l.line[:0]
	l.words.hear(line)
	if l.tell != nil {
		l.tell(line)
	}
}

// lastWords is what of a guest's lines says best why it ended: its panic with the place
// in its source, as Rust and Go write them, or else the last line.
type lastWords struct {
	last, panic string
	// next is what the lines after the panic's own still have to say.
	next wanted
	// inside says that the last line of a Go stack named a function of the runtime.
	inside bool
}

// wanted is what is missing of a panic.
type wanted uint8

const (
	wantNothing wanted = iota
	// wantMessage: Rust writes it on the line after the place.
	wantMessage
	// wantPlace: Go writes it in the stack, two lines for each function.
	wantPlace
)

// hear takes a line.
func (w *lastWords) hear(line string) {
	w.last = line
	switch {
	case strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: "):
		w.panic, w.next, w.inside = line, wantPlace, false
	case strings.Contains(line, "panicked at "):
		w.panic, w.next = line, wantNothing
		if strings.HasSuffix(line, ":") {
			w.next = wantMessage
		}
	case w.next == wantMessage:
		w.panic += " " + line
		w.next = wantNothing
	case w.next == wantPlace && !strings.HasPrefix(line, "\t"):
		w.inside = strings.HasPrefix(line, "runtime.") || strings.HasPrefix(line, "panic(")
	case w.next == wantPlace && !w.inside && strings.Contains(line, ".go:"):
		place, _, _ := strings.Cut(strings.TrimSpace(line), " +0x")
		w.panic += " at " + place
		w.next = wantNothing
	}
}

func (w *lastWords) String() string {
	if w.panic != "" {
		return w.panic
	}
	return w.last
}
