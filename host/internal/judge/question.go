package judge

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/toolquay/toolquay/permissions"
)

// Question is what a model is told of a call: nothing else.
type Question struct {
	// InputHash names the exact input and tool definition. The answer counts for
	// nothing else.
	InputHash string
	Tool      string
	// Plugin offers the tool; empty for a tool of the embedder's.
	Plugin string
	// Capability is set where a running call asks for more: the operation.
	Capability string
	// Title is one line: what the call is about.
	Title string
	// Text is what the tool shows a judge of its input, or the input itself.
	Text string
	// Claim is what a tool of strangers would show instead of its input, which Text is.
	Claim string
	// Accesses are the effects that are known.
	Accesses []permissions.Access
	// Unknown says that there may be other effects than those.
	Unknown bool
	// Cwd is the session's working directory and Dirs are all it works in.
	Cwd  string
	Dirs []string
	// Rules are the rules in force, as they are written.
	Rules []string
}

// Bounds of what is shown, in bytes and entries. What is over is not judged, as
// what is cut off could be what matters; of rules, which are held to anyway, the
// first are shown.
const (
	maxText     = 16 << 10
	maxBlock    = 64 << 10
	maxAccesses = 100
	maxRules    = 100
)

// shown is a Question as the model sees it.
type shown struct {
	Tool       string   `json:"tool"`
	Plugin     string   `json:"plugin,omitempty"`
	Capability string   `json:"capability,omitempty"`
	Title      string   `json:"title,omitempty"`
	Text       string   `json:"input"`
	Claim      string   `json:"tool_says,omitempty"`
	Accesses   []access `json:"known_effects"`
	Unknown    bool     `json:"may_have_other_effects"`
	Cwd        string   `json:"working_directory"`
	Dirs       []string `json:"directories"`
	Rules      []string `json:"rules"`
}

type access struct {
	Kind    permissions.AccessKind `json:"kind"`
	Target  string                 `json:"target"`
	Real    string                 `json:"really,omitempty"`
	Tree    bool                   `json:"and_all_below,omitempty"`
	Removal bool                   `json:"removes,omitempty"`
}

// block writes the question as data: one JSON document in which no character is
// left that could end the block or that does not show.
func (q *Question) block() (string, error) {
	switch {
	case q.InputHash == "":
		return "", errors.New("the question names no input")
	case q.Text == "" && len(q.Accesses) == 0:
		return "", fmt.Errorf("there is nothing to judge %s by", q.Tool)
	case len(q.Text) > maxText || len(q.Claim) > maxText:
		return "", fmt.Errorf("%d bytes are too much to be judged; at most %d are", max(len(q.Text), len(q.Claim)), maxText)
	case len(q.Accesses) > maxAccesses:
		return "", fmt.Errorf("%d effects are too many to be judged; at most %d are", len(q.Accesses), maxAccesses)
	}
	s := shown{
		Tool: q.Tool, Plugin: q.Plugin, Capability: q.Capability, Title: q.Title, Text: q.Text, Claim: q.Claim,
		Accesses: []access{}, Unknown: q.Unknown, Cwd: q.Cwd, Dirs: q.Dirs, Rules: q.Rules[:min(len(q.Rules), maxRules)],
	}
	for _, a := range q.Accesses {
		one := access{Kind: a.Kind, Target: a.Target, Tree: a.Tree, Removal: a.Removal}
		if a.Real != a.Target {
			one.Real = a.Real
		}
		s.Accesses = append(s.Accesses, one)
	}
	doc, err := json.MarshalIndent(s, "", " ") // writes < and > as escapes
	if err != nil {
		return "", err
	}
	block := escape(doc)
	if len(block) > maxBlock {
		return "", fmt.Errorf("a call of %d bytes is too much to be judged; at most %d are", len(block), maxBlock)
	}
	return block, nil
}

// escape writes what does not show in a JSON document as escapes. Line breaks are
// the document's own: those in strings are escaped already.
func escape(doc []byte) string {
	var b strings.Builder
	b.Grow(len(doc))
	for _, r := range string(doc) {
		switch {
		case r == '\n' || shows(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// shows reports whether a character is seen for what it is.
func shows(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// digest names a question: its input, and all that is shown of it.
type digest [sha256.Size]byte

func digestOf(q *Question, block string) digest {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d:%s", len(q.InputHash), q.InputHash)
	b.WriteString(block)
	return sha256.Sum256(b.Bytes())
}

// newMark makes a mark that the author of a call cannot have known.
func newMark() string { return "call-" + rand.Text() }
