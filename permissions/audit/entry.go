package audit

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions"
)

// Bounds of what one entry keeps.
const (
	// maxText is the most bytes kept of one text; what is cut ends in cutMark.
	maxText = 1 << 10
	// maxAccesses is the most accesses kept; Entry.More counts the others.
	maxAccesses = 16
	cutMark     = "…"
)

// Entry is one decision as it is logged. What the input touches is in it: paths, hosts,
// command lines. The input of the call itself is where [Inputs] says so.
//
// Texts over 1 KiB are cut and marked with an ellipsis; those that are not UTF-8
// are kept quoted as in Go.
type Entry struct {
	Subject
	Finding
	// Accesses are those judged: the first 16, and More counts the rest.
	Accesses []Access `json:"accesses,omitempty"`
	More     int      `json:"more,omitempty"`
	RunnerUp *Opinion `json:"runner_up,omitempty"`

	Mode permissions.Mode `json:"mode,omitempty"`
	// Binding is the hash of the exact input and the tool's definition.
	Binding string `json:"binding,omitempty"`
	// Input is the call's input as Inputs says; see [Inputs.Of].
	Input  json.RawMessage `json:"input,omitempty"`
	Inputs Inputs          `json:"inputs,omitempty"`
	// By is who answered where the rules left it open: "person", "hook",
	// "judge", "approval ID", "grant ID"; "nobody" where a question ended without an
	// answer.
	By string `json:"by,omitempty"`
}

// Subject is what was judged.
type Subject struct {
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	Call    string `json:"call,omitempty"`
	permissions.Caller
	Tool string `json:"tool"`
	// Plugin offers the tool; empty for tools of the embedder.
	Plugin string `json:"plugin,omitempty"`
	// Server is the MCP server that the tool is of, and ServerTool that server's name for it.
	Server     string `json:"server,omitempty"`
	ServerTool string `json:"server_tool,omitempty"`
	// Capability is the operation a running call wants done; empty where the
	// call itself is judged.
	Capability string `json:"capability,omitempty"`
}

// Finding is what was decided, and why.
type Finding struct {
	Verdict permissions.Verdict `json:"verdict"`
	// Headless says that it is a denial because nobody could be asked.
	Headless bool              `json:"headless,omitempty"`
	Layer    permissions.Layer `json:"layer"`
	// Rule is the rule that decided, if one did, and Source where it stands.
	Rule   string `json:"rule,omitempty"`
	Source string `json:"source,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Matched is the access that decided; empty for the call as such.
	Matched string `json:"matched,omitempty"`
}

// Access is one effect that was judged.
type Access struct {
	Kind   permissions.AccessKind `json:"kind"`
	Target string                 `json:"target"`
	// Real is where a path really lies, if elsewhere.
	Real string `json:"real,omitempty"`
	Tree bool   `json:"tree,omitempty"`
}

// Opinion is what would have been decided without the finding that decided.
type Opinion struct {
	Verdict permissions.Verdict `json:"verdict"`
	Layer   permissions.Layer   `json:"layer"`
	Rule    string              `json:"rule,omitempty"`
	Source  string              `json:"source,omitempty"`
}

// Of is the entry for a decision, as far as the decision knows.
func Of(d *permissions.Decision) Entry {
	e := Entry{
		Subject: Subject{Tool: d.Tool},
		Finding: Finding{Verdict: d.Verdict, Headless: d.Headless, Layer: d.Layer, Reason: d.Reason()},
	}
	e.Rule, e.Source = ruleOf(&d.Finding)
	if d.Access != (permissions.Access{}) {
		e.Matched = d.Access.String()
	}
	if up := &d.RunnerUp; up.Verdict != permissions.None {
		e.RunnerUp = &Opinion{Verdict: up.Verdict, Layer: up.Layer}
		e.RunnerUp.Rule, e.RunnerUp.Source = ruleOf(up)
	}
	return e
}

func ruleOf(f *permissions.Finding) (rule, source string) {
	if f.Rule == nil {
		return "", ""
	}
	return f.Rule.String(), f.Rule.Source.String()
}

// Judged adds the accesses that were judged.
func (e *Entry) Judged(accesses []permissions.Access) {
	kept := accesses[:min(len(accesses), maxAccesses)]
	e.Accesses, e.More = make([]Access, len(kept)), len(accesses)-len(kept)
	for i, a := range kept {
		e.Accesses[i] = Access{Kind: a.Kind, Target: a.Target, Tree: a.Tree}
		if a.Real != a.Target {
			e.Accesses[i].Real = a.Real
		}
	}
}

// bounded is the entry as it is written, cut to its bounds.
func (e *Entry) bounded() Entry {
	b := *e
	if len(b.Input) > 0 {
		b.Input, b.Inputs = bounded(b.Input, b.Inputs)
	}
	for _, text := range []*string{
		&b.Session, &b.Turn, &b.Call, &b.Agent, &b.Team, &b.Chain, &b.Parent, &b.Tool, &b.Plugin, &b.Server, &b.ServerTool, &b.Capability, &b.Rule, &b.Source, &b.Reason, &b.Matched, &b.Binding, &b.By,
		(*string)(&b.Layer), (*string)(&b.Mode),
	} {
		*text = cut(*text)
	}
	if len(b.Accesses) > maxAccesses {
		b.More += len(b.Accesses) - maxAccesses
		b.Accesses = b.Accesses[:maxAccesses]
	}
	if b.Accesses != nil {
		b.Accesses = append([]Access{}, b.Accesses...)
	}
	for i := range b.Accesses {
		a := &b.Accesses[i]
		a.Kind, a.Target, a.Real = permissions.AccessKind(cut(string(a.Kind))), cut(a.Target), cut(a.Real)
	}
	if b.RunnerUp != nil {
		up := *b.RunnerUp
		up.Layer, up.Rule, up.Source = permissions.Layer(cut(string(up.Layer))), cut(up.Rule), cut(up.Source)
		b.RunnerUp = &up
	}
	return b
}

// cut bounds a text and makes it one that JSON can hold unchanged.
func cut(text string) string {
	if len(text) > maxText {
		at := maxText
		for at > maxText-utf8.UTFMax && !utf8.RuneStart(text[at]) {
			at--
		}
		text = strings.Clone(text[:at]) + cutMark // what was cut is not kept in memory
	}
	if utf8.ValidString(text) {
		return text
	}
	return strconv.Quote(text)
}

// Kind says what a line of the log is.
type Kind string

// The kinds of line.
const (
	// KindGenesis is the first line of a log.
	KindGenesis Kind = "genesis"
	// KindSegment is the first line of every further segment.
	KindSegment Kind = "segment"
	// KindDecision is an [Entry].
	KindDecision Kind = "decision"
	// KindGap says that Record.Lost entries since Record.Since could not be
	// written.
	KindGap Kind = "gap"
	// KindTorn says that the Record.Bytes bytes before it are what a crash left
	// of lines.
	KindTorn Kind = "torn"
	// KindNotice is something odd that a writer found, such as a log that is
	// shorter than its head says. Record.Note says what.
	KindNotice Kind = "notice"
	// KindDropped says that the segment Record.Segment is removed because of
	// [Options.Keep] or [Options.MaxBytes]. The line Record.Through, whose hash is
	// Record.ThroughHash, was its last.
	KindDropped Kind = "dropped"
)

// version is the only format there is.
const version = 1

// Record is one line of a log. Which fields besides Seq, Kind and Time are set
// depends on its kind.
type Record struct {
	// Seq counts the lines of a log from 1.
	Seq  uint64 `json:"seq"`
	Kind Kind   `json:"kind"`
	// Time is when it was written.
	Time time.Time `json:"time"`
	// Hash is the line's, in hexadecimal: what [Verify] can be given.
	Hash string `json:"hash"`

	Entry

	Mark
}

// Mark is what lines other than decisions say.
type Mark struct {
	// Version and ID go with KindGenesis.
	Version int    `json:"version,omitempty"`
	ID      string `json:"id,omitempty"`
	// Segment is the segment's number, with KindSegment and KindDropped.
	Segment int `json:"segment,omitempty"`
	// Through and ThroughHash go with KindDropped.
	Through     uint64 `json:"through,omitempty"`
	ThroughHash string `json:"through_hash,omitempty"`
	// Lost and Since go with KindGap.
	Lost  uint64    `json:"lost,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Bytes and SHA256 go with KindTorn: the length and hash of what is torn,
	// without the newline that ends it.
	Bytes  int64  `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Note goes with KindNotice.
	Note string `json:"note,omitempty"`
}
