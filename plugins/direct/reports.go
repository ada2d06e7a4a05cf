package direct

import (
	"fmt"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// late is the newest of the reports that came after a call's limit on them.
type late struct {
	message []byte    // empty where it was looked at
	next    time.Time // when the next is looked at
}

// reported takes a message of the import progress.
func (c *call) reported(message []byte) {
	if c.reports >= c.limits.LogLines {
		c.reportedLate(message)
		return
	}
	head, err := abi.DecodeProgress(message)
	if err != nil {
		violate("reported broken progress: %v", err)
	}
	c.tell(head)
}

// reportedLate takes a report over the limit. Most are not even decoded, so that a
// flood of them costs little.
func (c *call) reportedLate(message []byte) {
	c.dropped++
	now := time.Now()
	if c.late == nil {
		c.late = &late{next: now.Add(plugins.ReportEvery)}
	}
	c.late.message = append(c.late.message[:0], message...)
	if !now.Before(c.late.next) {
		c.late.next = now.Add(plugins.ReportEvery)
		c.tellLate()
	}
}

// tellLate passes the newest report on, if it is progress.
func (c *call) tellLate() {
	if c.late == nil || len(c.late.message) == 0 {
		return
	}
	head, err := abi.DecodeProgress(c.late.message)
	c.late.message = c.late.message[:0]
	if err == nil && head.Progress != nil && c.report != nil {
		c.dropped--
		c.report(abi.ProgressHead{Progress: head.Progress})
	}
}

// logged takes a line that the guest wrote to its standard output or error.
func (c *call) logged(line string) {
	c.pass(abi.ProgressHead{Log: &abi.Log{Level: "info", Message: line}})
}

// tell takes a report that the guest made.
func (c *call) tell(head abi.ProgressHead) {
	if head.Log != nil {
		c.Heard(head.Log.Message)
	}
	c.pass(head)
}

// pass passes a report on, within the limit on log lines.
func (c *call) pass(head abi.ProgressHead) {
	if c.reports >= c.limits.LogLines {
		c.dropped++
		return
	}
	c.reports++
	if c.report != nil {
		c.report(head)
	}
}

// said is what the guest logged last, for the message of its failure, also where that
// came after the limit.
func (c *call) said() string {
	if c.late != nil && len(c.late.message) > 0 {
		if head, err := abi.DecodeProgress(c.late.message); err == nil && head.Log != nil {
			c.Heard(head.Log.Message)
		}
	}
	return c.LastWords()
}

// traced reports the stack trace of a guest that trapped, whatever the limit: it is for
// the plugin's author.
func (c *call) traced(err error) {
	if trace := engine.Trace(err); trace != "" && c.report != nil && c.Over() == nil {
		c.report(abi.ProgressHead{Log: &abi.Log{Level: "error", Message: trace}})
	}
}

// endReports passes on what is left to report, and says what was dropped.
func (c *call) endReports() {
	c.tellLate()
	if c.dropped > 0 && c.report != nil {
		c.report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: fmt.Sprintf(
			"%d more log lines and progress reports were dropped (limit log_lines = %d)", c.dropped, c.limits.LogLines)}})
	}
}
