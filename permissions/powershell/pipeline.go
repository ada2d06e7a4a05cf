package powershell

import (
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// simple is one command of a pipeline.
type simple struct {
	// args are its words with the name first; each is a list, of one as a rule.
	args [][]token
	// files are what its output is redirected to.
	files []token
	at    int
}

// reader puts tokens together.
type reader struct {
	pipelines [][]simple
	pipeline  []simple
	command   simple
	// wants is what the last token asks for: nothing, a command, a list's next word, or
	// a file.
	wants kind
	// file says that the last word was a file's.
	file bool
	odd  oddity
}

// pipelines reads what was taken apart as pipelines of commands. What is behind the
// first thing that is not understood is left out, and so is the pipeline it is in.
func (l *lexed) pipelines() ([][]simple, oddity) {
	var r reader
	for i := range l.tokens {
		if r.odd.why != "" {
			break
		}
		r.take(&l.tokens[i])
	}
	if r.odd.why == "" && l.odd.why == "" {
		r.end(nil)
	}
	switch {
	case r.odd.why == "" && l.odd.why == "":
		return r.pipelines, oddity{}
	case r.odd.why == "":
		r.odd = l.odd
	}
	if len(r.pipeline) > 0 {
		r.odd.at = r.pipeline[0].at
	} else if len(r.command.args) > 0 {
		r.odd.at = r.command.at
	}
	return r.pipelines, r.odd
}

func (r *reader) oddAt(t *token, why string) {
	if r.odd.why == "" {
		r.odd.why = why
		if t != nil {
			r.odd.at = t.at
		}
	}
}

func (r *reader) take(t *token) {
	switch t.kind {
	case wordToken:
		r.word(t)
	case commaToken:
		if len(r.command.args) < 2 || r.wants != wordToken || r.file {
			r.oddAt(t, "a list stands where a command is expected")
		}
		r.wants = commaToken
	case redirectToken, mergeToken:
		if len(r.command.args) == 0 || r.wants != wordToken {
			r.oddAt(t, "a redirection stands where a word is expected")
		}
		if t.kind == redirectToken {
			r.wants = redirectToken
		}
	case pipeToken:
		r.piece(t)
		r.wants = pipeToken
	case endToken:
		if t.newline && r.wants == pipeToken {
			return // the pipeline goes on
		}
		r.end(t)
	}
}

func (r *reader) word(t *token) {
	wants, n := r.wants, len(r.command.args)
	r.wants, r.file = wordToken, wants == redirectToken
	switch {
	case r.file:
		r.command.files = append(r.command.files, *t)
	case wants == commaToken:
		r.command.args[n-1] = append(r.command.args[n-1], *t)
	case n == 0:
		if why := nameless(t); why != "" {
			r.oddAt(t, why)
			return
		}
		r.command = simple{args: [][]token{{*t}}, at: t.at}
	default:
		r.command.args = append(r.command.args, []token{*t})
	}
}

// piece ends a command of a pipeline.
func (r *reader) piece(t *token) {
	switch {
	case r.wants != wordToken && r.wants != pipeToken:
		r.oddAt(t, "a word is missing")
	case len(r.command.args) == 0:
		r.oddAt(t, "a command is missing")
	}
	r.pipeline = append(r.pipeline, r.command)
	r.command, r.wants, r.file = simple{}, wordToken, false
}

// end ends a pipeline.
func (r *reader) end(t *token) {
	if len(r.pipeline) == 0 && len(r.command.args) == 0 && r.wants == wordToken {
		return // there is none
	}
	r.piece(t)
	if r.odd.why == "" {
		r.pipelines = append(r.pipelines, r.pipeline)
		r.pipeline = nil
	}
}

// keywords start statements that are no commands (about_Language_Keywords).
var keywords = setOf(`assembly base begin break catch class clean command configuration continue data define
	do dynamicparam else elseif end enum exit filter finally for foreach from function hidden if in
	inlinescript interface module namespace parallel param private process public return sequence static
	switch throw trap try type until using var while workflow`)

// nameless says why a word in the place of a command is no plain command name: there
// PowerShell reads strings, numbers, signs and variables as expressions
// (about_Parsing), and a lone dot runs a script in the same scope.
func nameless(t *token) string {
	name := t.text
	switch {
	case t.quoted || !t.literal:
		return "it starts with an expression"
	case keywords[strings.ToLower(name)] && !strings.EqualFold(name, "type"):
		return "`" + name + "` starts a statement"
	case name == "." || strings.ContainsAny(name[:1], "0123456789-+=:^*"):
		return "it starts with an expression"
	case name[0] == '.' && !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") &&
		!strings.HasPrefix(name, `.\`) && !strings.HasPrefix(name, `..\`):
		return "it starts with an expression"
	case strings.ContainsAny(name, "*=") || strings.Contains(name, "?") && name != "?" || strings.Contains(name, "%") && name != "%":
		return "which command it is, is not understood"
	}
	return ""
}

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// words are a command's words as rules see them, a list being one word.
func (s *simple) words() []permissions.Word {
	out := make([]permissions.Word, len(s.args))
	for i, list := range s.args {
		out[i] = permissions.Word{Text: list[0].text, Literal: list[0].literal}
		for _, t := range list[1:] {
			out[i].Text += "," + t.text
			out[i].Literal = out[i].Literal && t.literal
		}
	}
	return out
}

// spread are the words with lists taken apart, as a program is given them.
func (s *simple) spread() []permissions.Word {
	var out []permissions.Word
	for _, list := range s.args {
		for _, t := range list {
			out = append(out, permissions.Word{Text: t.text, Literal: t.literal})
		}
	}
	return out
}
