package extism

import (
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
)

// maxLogLine cuts longer log lines, in bytes.
const maxLogLine = 4 << 10

// logText makes a guest's bytes fit for a log. It looks at, and copies, no more
// than a line may have: they may be as many as the guest has memory.
func logText(b []byte) string {
	if len(b) > maxLogLine {
		end := maxLogLine
		for end > maxLogLine-utf8.UTFMax && !utf8.RuneStart(b[end]) {
			end--
		}
		b = b[:end]
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// listens reports whether another log line may be passed on, and counts it as
// dropped where not.
func (c *call) listens() bool {
	if c.reports < c.limits.LogLines {
		return true
	}
	c.dropped++
	return false
}

// tell passes a log line on.
func (c *call) tell(level, message string) {
	c.reports++
	c.pass(level, message)
}

func (c *call) pass(level, message string) {
	if c.report != nil {
		c.report(abi.ProgressHead{Log: &abi.Log{Level: level, Message: message}})
	}
}
