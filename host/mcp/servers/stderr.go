package servers

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/toolquay/toolquay/internal/visible"
)

const (
	// maxLine bounds a line of standard error in the log, in bytes.
	maxLine = 500
	// maxLines is how many lines go to the log in a minute: others are counted.
	maxLines = 100
	// maxTail is how much is kept of the end of what a program said, in bytes.
	maxTail = 4 << 10
)

// stderrLog logs what a program writes to standard error, and keeps the end of it.
type stderrLog struct {
	log  *slog.Logger
	over chan struct{} // closed when all was read

	mu   sync.Mutex
	kept []byte
}

func newStderrLog(log *slog.Logger) *stderrLog {
	return &stderrLog{log: log, over: make(chan struct{})}
}

// tail is the end of what was said, fit to be shown.
func (l *stderrLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return visible.Text(string(l.kept))
}

// read reads until the end. Of a flood it logs a part.
func (l *stderrLog) read(from io.Reader) {
	defer close(l.over)
	in := bufio.NewReaderSize(from, maxTail)
	var minute time.Time
	lines := 0
	for {
		line, err := in.ReadSlice('\n')
		l.keep(line)
		if now := time.Now(); now.Sub(minute) > time.Minute {
			if left := lines - maxLines; left > 0 {
				l.log.Info("standard error of an MCP server: more lines came than are logged", "lines", left)
			}
			minute, lines = now, 0
		}
		if lines++; len(line) > 0 && lines <= maxLines {
			l.log.Info("standard error of an MCP server", "text", visible.Short(string(trimNewline(line)), maxLine))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func trimNewline(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

func (l *stderrLog) keep(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, line...)
	if over := len(l.kept) - maxTail; over > 0 {
		l.kept = append(l.kept[:0], l.kept[over:]...)
	}
}
