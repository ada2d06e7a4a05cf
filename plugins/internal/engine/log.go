package engine

import (
	"bytes"
)

// maxLogLine cuts longer lines of a guest's standard output and error, in
// bytes.
const maxLogLine = 4 << 10

// logLines turns what a guest writes to its standard output and error into
// lines.
type logLines struct {
	line []byte
	tail string
	tell func(line string)
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
	l.tail = string(bytes.ToValidUTF8(l.line, []byte("\uFFFD")))
	l.line = l.line[:0]
	if l.tell != nil {
		l.tell(l.tail)
	}
}

func (l *logLines) last() string {
	l.flush()
	return l.tail
}
