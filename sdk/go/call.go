package toolquay

import (
	"unicode/utf8"

	"github.com/toolquay/toolquay/sdk/go/internal/guest"
	"github.com/toolquay/toolquay/sdk/go/wire"
)

// Call is one call of a tool. It is valid until Run returns, and belongs to the
// goroutine that Run was called on.
type Call struct {
	host  guest.Host
	head  wire.CallHead
	input wire.Raw
}

// Tool is the name of the tool that is called.
func (c *Call) Tool() string { return c.head.Tool }

// ID is the call's id, for logs.
func (c *Call) ID() string { return c.head.ID }

// Cwd is the session's working directory, an absolute path. Capabilities take
// paths relative to it.
func (c *Call) Cwd() string { return c.head.Cwd }

// UserModified reports whether a person wrote the input in place of the model's.
func (c *Call) UserModified() bool { return c.head.UserModified }

// Input is the call's input: canonical JSON that fits the tool's schema.
func (c *Call) Input() []byte { return c.input }

// Decode decodes the input into v by the rules of encoding/json. Its errors are
// of [CodeInvalidInput].
func (c *Call) Decode(v any) error { return decodeInput(c.input, v) }

// Config returns a value of the plugin's configuration and whether there is
// one: a string as it is, anything else as JSON.
func (c *Call) Config(key string) (string, bool) { return configValue(c.head.Config, key) }

func configValue(config map[string]wire.Raw, key string) (string, bool) {
	raw, ok := config[key]
	if !ok || len(raw) == 0 || raw[0] != '"' {
		return string(raw), ok
	}
	return wire.NewDecoder(raw).String(), true
}

// Progress reports how far the call has come, for people. Done and total count
// in any unit; 0 is unknown.
func (c *Call) Progress(message string, done, total float64) {
	c.Report(Progress{Message: message, Done: done, Total: total})
}

// Report reports how far the call has come, and what it has put out. The host
// bounds how many reports and log lines of a call it passes on.
func (c *Call) Report(p Progress) {
	p.Message = shortened(p.Message)
	p.Output = lastOutput(p.Output)
	c.send(wire.ProgressHead{Progress: &p})
}

// Level is how much a log line matters.
type Level string

// The levels of log lines.
const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// Log writes a line to the operator's log. The host bounds how many lines of a
// call it passes on.
func (c *Call) Log(level Level, message string) {
	switch level {
	case LevelDebug, LevelInfo, LevelWarn, LevelError:
	default:
		level = LevelInfo
	}
	c.send(wire.ProgressHead{Log: &wire.Log{Level: string(level), Message: shortened(message)}})
}

func (c *Call) send(head wire.ProgressHead) {
	if message, err := wire.Append(nil, head.AppendJSON); err == nil {
		c.host.Progress(message)
	}
}

// maxText cuts longer messages and log lines, in bytes: written with every byte
// escaped they leave room for all the output that a host takes.
const maxText = 8 << 10

func shortened(s string) string {
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// lastOutput is the end of what was put out, as much as a host takes at once, from
// a code point's beginning on.
func lastOutput(s string) string {
	if len(s) <= wire.MaxOutput {
		return s
	}
	s = s[len(s)-wire.MaxOutput:]
	for i := range utf8.UTFMax {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s // it is no UTF-8
}
