package abi

// Lines are templates for the lines that people are shown of a call, such as
// "{pattern}[ in {path}]". A line stands behind the tool's name, so it does not repeat it.
//
// Each of them may use the fields of the input. Some lines have names of their own, which
// win over a field of the same name; that is then written {input.name}.
type Lines struct {
	// Queued is shown while the call waits for its turn; empty is Use.
	Queued string `toml:"queued" json:"queued,omitempty"`
	// Use says what the call does, once it runs and in questions about it. Empty is the
	// field that the tool's Title names.
	Use string `toml:"use" json:"use,omitempty"`
	// Progress says how far the call has come; empty is the message of its report, or else
	// the last line of its output. It has {message}, {done} and {total} of the report, and
	// {lines}, {bytes} and {tail} of the output so far.
	Progress string `toml:"progress" json:"progress,omitempty"`
	// Result says what came of it; empty is nothing. It has {text}, the first line of the
	// result's text, and {result.field} for the structured content.
	Result string `toml:"result" json:"result,omitempty"`
	// Rejection is the line of a call that was denied or was ended from outside, and Error that
	// of a call that failed. Where there is no template, people see how the text that the model
	// gets begins. Both templates have {error}, which is that text, and {code}; Error also has
	// {result.field}.
	Rejection string `toml:"rejection" json:"rejection,omitempty"`
	Error     string `toml:"error" json:"error,omitempty"`
}

// IsZero reports whether no template is set.
func (l Lines) IsZero() bool { return l == Lines{} }

// Or takes from other what the lines leave empty.
func (l Lines) Or(other Lines) Lines {
	for _, kind := range LineKinds {
		if at := l.at(kind); *at == "" {
			*at = *other.at(kind)
		}
	}
	return l
}

// LineKind names one of the lines of a call.
type LineKind string

// The lines of a call, with the names that a template of each may use beside the input's
// fields.
const (
	LineQueued LineKind = "queued"
	LineUse    LineKind = "use"
	// LineProgress has message, done and total of the tool's latest report, and of its output
	// so far lines, bytes and tail, which is the last line.
	LineProgress LineKind = "progress"
	// LineResult has text, which is the first line of the result's text, and result, which
	// is its structured content.
	LineResult LineKind = "result"
	// LineRejection has error, which is what the model is told, and code.
	LineRejection LineKind = "rejection"
	// LineError has those two, and result.
	LineError LineKind = "error"
)

// LineKinds are all of them, in the order in which a call may have them.
var LineKinds = []LineKind{LineQueued, LineUse, LineProgress, LineResult, LineRejection, LineError}

// The names that templates use beside fields of the input.
const (
	// NameInput leads to a field of the input, whatever it is called.
	NameInput = "input"
	// NameResult leads to a field of the structured content.
	NameResult = "result"

	NameText    = "text"
	NameError   = "error"
	NameCode    = "code"
	NameMessage = "message"
	NameDone    = "done"
	NameTotal   = "total"
	NameLines   = "lines"
	NameBytes   = "bytes"
	NameTail    = "tail"
)

// Names are what a template of this kind may use beside fields of the input.
func (k LineKind) Names() []string {
	switch k {
	case LineProgress:
		return []string{NameMessage, NameDone, NameTotal, NameLines, NameBytes, NameTail}
	case LineResult:
		return []string{NameResult, NameText}
	case LineRejection:
		return []string{NameError, NameCode}
	case LineError:
		return []string{NameResult, NameError, NameCode}
	}
	return nil
}

// Line is the template of a kind.
func (l *Lines) Line(kind LineKind) string { return *l.at(kind) }

func (l *Lines) at(kind LineKind) *string {
	switch kind {
	case LineQueued:
		return &l.Queued
	case LineProgress:
		return &l.Progress
	case LineResult:
		return &l.Result
	case LineRejection:
		return &l.Rejection
	case LineError:
		return &l.Error
	}
	return &l.Use
}
