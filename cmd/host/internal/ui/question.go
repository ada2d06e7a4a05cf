package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// What is shown of a question at first. Nobody reads more before the keys, and
// more would push away what is asked.
const (
	firstLines = 24
	firstChars = 2000
)

// question is one approval on its way to an answer.
type question struct {
	host.Approval
	// body is what is to be done, word for word: the command, the change, or
	// the input.
	body string
	// cut says that not all of it was shown yet. Until it was there is no yes.
	cut bool
}

func newQuestion(q host.Approval) *question {
	v := &question{Approval: q, body: body(q)}
	v.cut = len(excerpt(v.body)) < len(v.body) || len(v.effects()) > maxShownAccesses
	return v
}

// ShowApproval prints all of a question.
func ShowApproval(out *Printer, q host.Approval) {
	v := newQuestion(q)
	v.show(out)
	if v.cut {
		v.showAll(out)
	}
}

// body is the part of a question that may be long.
func body(q host.Approval) string {
	if q.Preview != "" {
		return q.Preview
	}
	for _, a := range q.Accesses {
		if a.Kind == permissions.AccessExec {
			return a.Target
		}
	}
	if len(q.Accesses) > 0 && q.Title != "" {
		return ""
	}
	return indented(q.Input)
}

func indented(input json.RawMessage) string {
	var v any
	if json.Unmarshal(input, &v) != nil {
		return string(input)
	}
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(input)
	}
	return string(out)
}

// excerpt is the beginning of a text, in whole characters.
func excerpt(text string) string {
	end, lines := 0, 0
	for n := 0; end < len(text) && n < firstChars; n++ {
		r, size := utf8.DecodeRuneInString(text[end:])
		if r == '\n' {
			if lines++; lines == firstLines {
				break
			}
		}
		end += size
	}
	return text[:end]
}

// show prints what is asked: who wants what, on what, and why it is asked.
func (v *question) show(out *Printer) {
	who, what := v.Tool, "run"
	if v.Plugin != "" {
		who += " (plugin " + v.Plugin + ")"
	}
	if v.Capability != "" {
		what = v.Capability
	}
	out.Whole(Span{Yellow, "? "}, Span{Bold, who}, Span{Plain, " wants to " + what + " " + excerpt(v.Title)})
	v.showBody(out, excerpt(v.body))
	if shown := excerpt(v.body); len(shown) < len(v.body) {
		out.Whole(Span{Red, fmt.Sprintf("  ... %d of %d characters are shown", utf8.RuneCountInString(shown), utf8.RuneCountInString(v.body))})
	}
	effects := v.effects()
	showEffects(out, effects[:min(len(effects), maxShownAccesses)])
	if more := len(effects) - maxShownAccesses; more > 0 {
		out.Whole(Span{Red, fmt.Sprintf("           and %d more", more)})
	}
	out.Whole(Span{Dim, "  in       "}, Span{Plain, v.Cwd})
	if v.Decision != nil {
		out.Whole(Span{Dim, "  asked as "}, Span{Plain, excerpt(v.Decision.Reason())})
	}
}

// maxShownAccesses bounds the list of what is touched.
const maxShownAccesses = 20

// effects are what is touched, but for what the body says already.
func (v *question) effects() []permissions.Access {
	return slices.DeleteFunc(slices.Clone(v.Accesses), func(a permissions.Access) bool {
		return a.Kind == permissions.AccessExec && a.Target == v.body
	})
}

func showEffects(out *Printer, effects []permissions.Access) {
	for _, a := range effects {
		out.Whole(Span{Plain, "  effect   "}, Span{Plain, a.String()})
	}
}

// showAll prints the whole of what is asked about.
func (v *question) showAll(out *Printer) {
	v.showBody(out, v.body)
	showEffects(out, v.effects())
	v.cut = false
}

func (v *question) showBody(out *Printer, text string) {
	if text == "" {
		return
	}
	if v.Preview == "" {
		out.Block(Plain, "    ", text)
		return
	}
	for line := range strings.Lines(text) {
		out.Block(diffStyle(line), "    ", strings.TrimSuffix(line, "\n"))
	}
}

func diffStyle(line string) Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return Green
	case strings.HasPrefix(line, "-"):
		return Red
	}
	return Plain
}

// choice is one key of a question.
type choice struct {
	key  rune
	says string
	// reply is the answer; where tells is set the person adds words.
	reply host.Reply
	tells bool
	// shows says that the key shows more and answers nothing.
	shows bool
}

// scopeKeys are the keys for allowing more than this once.
var scopeKeys = map[host.Scope]struct {
	key   rune
	where string
}{
	host.ScopeSession:      {'s', "for this session"},
	host.ScopeEdits:        {'e', "all edits in this session"},
	host.ScopeProjectLocal: {'l', "in this project, for you"},
	host.ScopeProject:      {'p', "in this project, for everybody"},
	host.ScopeUser:         {'u', "in all your projects"},
}

func (v *question) choices() []choice {
	deny := []choice{
		{key: 'n', says: "no", reply: host.Reply{Answer: host.AnswerDeny, EndTurn: v.DenyEndsTurn}},
		{key: 't', says: "no, and tell the model why", reply: host.Reply{Answer: host.AnswerDeny}, tells: true},
	}
	if v.cut {
		return append(deny, choice{key: 'v', says: "view all of it; there is no yes before", shows: true})
	}
	out := []choice{{key: 'y', says: "yes, this once", reply: host.Reply{Answer: host.AnswerAllow}}}
	for i := range v.Offers {
		offer := &v.Offers[i]
		k, ok := scopeKeys[offer.Scope]
		if !ok {
			continue
		}
		says := "yes, and always " + k.where + ": allow " + strings.Join(offer.Rules, ", ")
		if offer.File != "" {
			says += " (written to " + offer.File + ")"
		}
		out = append(out, choice{key: k.key, says: says, reply: host.Reply{Answer: host.AnswerAllow, Remember: offer}})
	}
	return append(out, deny...)
}
