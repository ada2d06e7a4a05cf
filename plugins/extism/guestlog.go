package extism

import (
	"bytes"
	"strings"
	"unicode/utf8"

	sdk "github.com/extism/go-sdk"

	"github.com/toolquay/toolquay/abi"
)

// maxLogLine cuts longer log lines, in bytes.
const maxLogLine = 4 << 10

// guestLog turns what a guest writes to its standard output and error into log
// lines. Only the goroutine that runs the guest touches it.
type guestLog struct {
	line []byte
	tell func(level, message string)
}

// Write takes any bytes and never fails: a guest's log is not its concern.
func (g *guestLog) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		g.line = append(g.line, line[:min(len(line), max(maxLogLine-len(g.line), 0))]...)
		if ended {
			g.flush()
		}
		p = rest
	}
	return n, nil
}

func (g *guestLog) flush() {
	if len(g.line) > 0 {
		g.tell("info", string(g.line))
	}
	g.line = g.line[:0]
}

// levelOf names the SDK's levels as the ABI does.
func levelOf(l sdk.LogLevel) string {
	switch {
	case l >= sdk.LogLevelError:
		return "error"
	case l >= sdk.LogLevelWarn:
		return "warn"
	case l >= sdk.LogLevelInfo:
		return "info"
	}
	return "debug"
}

// logText makes a guest's bytes fit for a log.
func logText(s string) string {
	if len(s) > maxLogLine {
		end := maxLogLine
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// tell passes a log line on, within the limit on log lines.
func (c *call) tell(level, message string) {
	c.lastLog = logText(message)
	if c.reports >= c.limits.LogLines {
		c.dropped++
		return
	}
	c.reports++
	c.pass(level, c.lastLog)
}

func (c *call) pass(level, message string) {
	if c.report != nil {
		c.report(abi.ProgressHead{Log: &abi.Log{Level: level, Message: message}})
	}
}
