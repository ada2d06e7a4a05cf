package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/forms"
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

// show prints what is asked: what will happen, word for word, why it is asked, and who
// asks for it.
func (v *question) show(out *Printer) {
	out.Wrapped(2, Span{Yellow, "? "}, Span{Bold, v.headline()})
	v.showBody(out, excerpt(v.body))
	showCut(out, excerpt(v.body), v.body)
	reasons := v.reasons()
	for _, reason := range reasons[:min(len(reasons), maxShownReasons)] {
		out.Wrapped(4, Span{Plain, "  " + excerpt(reason)})
	}
	if more := len(reasons) - maxShownReasons; more > 0 {
		out.Wrapped(4, Span{Plain, fmt.Sprintf("  And %d more reasons.", more)})
	}
	effects := v.effects()
	showEffects(out, effects[:min(len(effects), maxShownAccesses)])
	if more := len(effects) - maxShownAccesses; more > 0 {
		out.Wrapped(factMargin, Span{Red, fmt.Sprintf("           and %d more", more)})
	}
	fact(out, "tool", v.asker())
	fact(out, "from", v.Worker)
	fact(out, "in", v.Cwd)
}

// factMargin is where what a fact says begins.
const factMargin = 11

// fact prints one fact about a question, if there is one.
func fact(out *Printer, name, text string) {
	if text != "" {
		out.Wrapped(factMargin, Span{Dim, fmt.Sprintf("  %-*s", factMargin-2, name)}, Span{Plain, text})
	}
}

// headline asks whether what would happen may.
func (v *question) headline() string {
	var names []string
	seen := make(map[permissions.AccessKind]bool)
	for _, a := range v.Accesses {
		seen[a.Kind] = true
	}
	var verb string
	kind := permissions.AccessWrite
	switch {
	case seen[permissions.AccessExec]:
		return "Run this command?"
	case seen[permissions.AccessNet] && len(seen) == 1:
		verb, kind = "Connect to", permissions.AccessNet
	case seen[permissions.AccessNet] || len(seen) == 0 || seen[permissions.AccessSession]:
		return "Use " + v.Tool + "?"
	case seen[permissions.AccessWrite]:
		verb = "Edit"
	default:
		verb, kind = "Read", permissions.AccessRead
	}
	removes := true
	for _, a := range v.Accesses {
		if a.Kind != kind {
			continue
		}
		removes = removes && a.Removal
		if name := v.named(a); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 { // effects of kinds that are not known here
		return "Use " + v.Tool + "?"
	}
	if kind == permissions.AccessWrite && removes {
		verb = "Delete"
	}
	return verb + " " + listed(names) + "?"
}

// maxNamed is how many names a headline has.
const maxNamed = 3

// listed puts names into a sentence, the first ones if there are many.
func listed(names []string) string {
	last := len(names) - 1
	switch {
	case last == 0:
		return excerpt(names[0])
	case len(names) > maxNamed:
		return fmt.Sprintf("%s and %d more", excerpt(strings.Join(names[:maxNamed-1], ", ")), len(names)-maxNamed+1)
	}
	return excerpt(strings.Join(names[:last], ", ") + " and " + names[last])
}

// named is what an access is to, as a person names it: a path from the working directory,
// a host.
func (v *question) named(a permissions.Access) string {
	name := a.Target
	if a.Kind == permissions.AccessNet {
		if h := permissions.HostOf(a.Target); h.Odd == "" {
			name = h.Name
		}
	} else if rest, ok := strings.CutPrefix(name, v.Cwd); ok && len(rest) > 1 && (rest[0] == '/' || rest[0] == '\\') {
		name = rest[1:]
	}
	if a.Tree {
		name = "everything in " + name
	}
	return name
}

// ownerOf says whose a tool is: of a plugin, or of somebody else's server.
func ownerOf(plugin, server string) string {
	switch {
	case server != "":
		return " (MCP server " + server + ")"
	case plugin != "":
		return " (plugin " + plugin + ")"
	}
	return ""
}

// asker is the tool that asks, with what it says of the call where nothing else does.
func (v *question) asker() string {
	who := v.Tool + ownerOf(v.Plugin, v.Server)
	if v.Capability != "" {
		who += ", while it runs: " + v.Capability
	}
	if title := excerpt(cmp.Or(v.Line, v.Title)); title != "" && title != v.body && v.headline() != "Run this command?" && !strings.Contains(v.headline(), title) {
		who += ": " + title
	}
	return who
}

// reasons are why it is asked.
func (v *question) reasons() []string {
	if len(v.Reasons) == 0 && v.Decision != nil {
		return []string{v.Decision.Reason()}
	}
	return v.Reasons
}

// The bounds on what is listed of what is touched, and of the reasons.
const (
	maxShownAccesses = 20
	maxShownReasons  = 20
)

// effects are what is touched, except for what the body or the headline says already.
func (v *question) effects() []permissions.Access {
	rest := slices.DeleteFunc(slices.Clone(v.Accesses), func(a permissions.Access) bool {
		return a.Kind == permissions.AccessExec && a.Target == v.body
	})
	if len(rest) == 1 && len(v.Accesses) == 1 && (rest[0].Real == "" || rest[0].Real == rest[0].Target) {
		a, name := rest[0], v.named(rest[0])
		if (a.Kind == permissions.AccessRead || a.Kind == permissions.AccessWrite) && excerpt(name) == name {
			return nil
		}
	}
	return rest
}

func showEffects(out *Printer, effects []permissions.Access) {
	for _, a := range effects {
		fact(out, "effect", a.String())
	}
}

// showAll prints the whole of what is asked about.
func (v *question) showAll(out *Printer) {
	v.showBody(out, v.body)
	showEffects(out, v.effects())
	v.cut = false
}

func (v *question) showBody(out *Printer, text string) {
	switch {
	case text == "":
	case v.Preview == "":
		out.Quoted(text, func(string) Style { return Plain })
	default:
		out.Quoted(text, diffStyle)
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
	// reply is the answer; where tells is set the person adds words, and it says to whom. Where
	// fills is set they fill it in.
	reply host.Reply
	tells string
	fills *forms.Form
	// shows says that the key shows more and answers nothing.
	shows bool
	// does is what the key does beside. It answers, with the reply, if it reports true.
	does func(ctx context.Context) (answers bool, err error)
}

// rememberKeys are the keys for allowing more than this once, in the order in which they are
// shown.
var rememberKeys = []struct {
	target host.RuleTarget
	key    rune
	what   string
}{
	{host.TargetSession, 's', "always for this session"},
	{host.TargetEdits, 'e', "all edits in this session"},
	{host.TargetProjectLocal, 'l', "always in this project, for you"},
	{host.TargetProject, 'p', "always in this project, for everybody"},
	{host.TargetUser, 'u', "always in all your projects"},
}

// Remembered says what an option allows from then on.
func Remembered(o *host.RememberOption) string {
	text := "allow " + strings.Join(o.Rules, ", ")
	if len(o.Outside) == 0 {
		return text
	}
	leave := "let leave the sandbox " + strings.Join(o.Outside, ", ")
	if len(o.Rules) == 0 {
		return leave
	}
	return leave + ", and " + text
}

func (v *question) choices() []choice {
	no := "no"
	if v.DenyEndsTurn {
		no = "no; this ends the turn"
	}
	deny := []choice{
		{key: 'n', says: no, reply: host.Reply{Answer: host.AnswerDeny, EndTurn: v.DenyEndsTurn}},
		{key: 't', says: "no, and tell the model why", reply: host.Reply{Answer: host.AnswerDeny}, tells: "to the model"},
	}
	if v.cut {
		return append(deny, choice{key: 'v', says: "view all of it; there is no yes before", shows: true})
	}
	out := []choice{{key: 'y', says: "yes, this once", reply: host.Reply{Answer: host.AnswerAllow}}}
	for _, k := range rememberKeys {
		i := slices.IndexFunc(v.Remember, func(o host.RememberOption) bool { return o.Target == k.target })
		if i < 0 {
			continue
		}
		option := &v.Remember[i]
		says := "yes, and " + k.what + ": " + Remembered(option)
		if option.File != "" {
			says += " (written to " + option.File + ")"
		}
		out = append(out, choice{key: k.key, says: says, reply: host.Reply{Answer: host.AnswerAllow, Remember: option}})
	}
	return append(out, deny...)
}
