package powershell

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// word is a word, quotes taken off: literal says that nothing in it is expanded, quoted
// that it is a string, and so never a command or a parameter.
type word struct {
	text            string
	literal, quoted bool
}

// simple is one command of a pipeline.
type simple struct {
	// args are its words with the name first; each is a list, of one as a rule.
	args [][]word
	// files are what its output is redirected to.
	files []word
	at    int
}

// splitter parts a text that has passed shell.Guard into pipelines of commands, as far
// as it is understood.
type splitter struct {
	text      string
	at        int
	pipelines [][]simple
	// pipeline and command are what is being read.
	pipeline []simple
	command  simple
	// wants is the operator that asks for a word: | , or >. file says that the last word
	// was a file's.
	wants byte
	file  bool
	// odd says what is not understood, and oddAt where the pipeline begins that it is
	// in; fault, why the text cannot end as it does.
	odd   string
	oddAt int
	fault string
}

var (
	// bareForm is a word without quotes. Brackets, @, #, !, < and the rest of what may have
	// a meaning in some place are odd wherever they stand.
	bareForm = lazyregexp.New(`^[\p{L}\p{Nd}\p{Mn}\p{Mc}_./\\:*?~+%^=-]+`)
	// variableForm is $name or $env:NAME. Other variables with a colon are read from a
	// provider, which may be a file's content.
	variableForm = lazyregexp.New(`^\$(?:[Ee][Nn][Vv]:)?[A-Za-z0-9_]+`)
	// stringForm is a string, in which its quote is doubled (about_Quoting_Rules).
	stringForm = lazyregexp.New(`^(?:'(?:[^']|'')*'|"(?:[^"]|"")*")`)
	// redirectForm is > with the stream before it; mergeForm sends it where another goes.
	redirectForm = lazyregexp.New(`^[1-6*]?>>?`)
	mergeForm    = lazyregexp.New(`^[1-6*]?>&1(?:[ \t\n;|,&>]|$)`)
	// nameForm is the name of a command: what begins otherwise is an expression to
	// PowerShell, a lone dot runs a script in the same scope (about_Parsing).
	nameForm = lazyregexp.New(`^(?:[?%]|(?:\.\.?[/\\]|[\p{L}_/\\~])[^*=?%]*)$`)
)

// keywords start statements that are no commands (about_Language_Keywords).
var keywords = strings.Fields(`assembly base begin break catch class clean command configuration continue data define
	do dynamicparam else elseif end enum exit filter finally for foreach from function hidden if in
	inlinescript interface module namespace parallel param private process public return sequence static
	switch throw trap try until using var while workflow`)

// disguised reports whether PowerShell takes a character for an ASCII quote or dash:
// about_Quoting_Rules speaks of smart quotes, its tokenizer of three further dashes.
func disguised(r rune) bool { return r >= 0x2013 && r <= 0x2015 || r >= 0x2018 && r <= 0x201e }

func (s *splitter) notUnderstood(why string) {
	if s.odd != "" {
		return
	}
	s.odd, s.oddAt = why, s.at
	if len(s.pipeline) > 0 {
		s.oddAt = s.pipeline[0].at
	} else if len(s.command.args) > 0 {
		s.oddAt = s.command.at
	}
}

func (s *splitter) split() {
	if strings.ContainsFunc(s.text, func(r rune) bool { return r == '`' || disguised(r) }) {
		s.notUnderstood("there is a backtick, or a quote or dash outside of ASCII, which PowerShell takes for one")
	}
	for s.at < len(s.text) && s.odd == "" && s.fault == "" {
		s.next()
	}
	if s.odd == "" {
		s.end()
	}
}

// next reads one token. What about_Special_Characters and about_Operators give a
// meaning that is not known here is odd.
func (s *splitter) next() {
	rest := s.text[s.at:]
	redirect := redirectForm.FindString(rest)
	switch c := rest[0]; {
	case redirect != "":
		s.redirect(rest, redirect)
	case c == ' ' || c == '\t':
		s.at++
	case c == '\n' && s.wants == '|':
		s.at++ // the pipeline goes on
	case c == '\n' || c == ';':
		s.end()
		s.at++
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		s.end()
		s.at += 2
	case c == '|':
		s.piece()
		s.at, s.wants = s.at+1, '|'
	case c == ',':
		if len(s.command.args) < 2 || s.wants != 0 || s.file {
			s.notUnderstood("a list stands where a command is expected")
		}
		s.at, s.wants = s.at+1, ','
	case c == '\'' || c == '"':
		s.quoted(rest)
	case c == '$':
		name := variableForm.FindString(rest)
		s.word(word{text: name}, len(name), "something is computed")
	default:
		text := bareForm.FindString(rest)
		switch {
		case text == "--%":
			s.notUnderstood("behind `--%` words are read in another way")
		case strings.Contains(text, "::"):
			s.notUnderstood("`::` reaches into a type or a provider")
		}
		s.word(word{text: text, literal: true}, len(text), "it is not understood from `"+string([]rune(rest)[0])+"` on")
	}
}

func (s *splitter) redirect(rest, operator string) {
	if len(s.command.args) == 0 || s.wants != 0 {
		s.notUnderstood("a redirection stands where a word is expected")
	}
	if s.at += len(operator); mergeForm.MatchString(rest) {
		s.at += len("&1")
	} else {
		s.wants = '>'
	}
}

func (s *splitter) quoted(rest string) {
	text, quote := stringForm.FindString(rest), rest[:1]
	if text == "" || strings.HasPrefix(rest[len(text):], quote) {
		s.fault = "a quote is not closed" + place(s.text, s.at)
		return
	}
	w := word{text: strings.ReplaceAll(text[1:len(text)-1], quote+quote, quote), literal: true, quoted: true}
	if quote == `"` {
		for i := range w.text {
			name := variableForm.FindString(w.text[i:])
			if w.text[i] == '$' && (name == "" || strings.HasPrefix(w.text[i+len(name):], ":")) {
				s.notUnderstood("something is computed in a string")
			}
			w.literal = w.literal && w.text[i] != '$'
		}
	}
	s.word(w, len(text), "")
}

// word adds a word of so many bytes, where it is one and can end.
func (s *splitter) word(w word, length int, why string) {
	rest := s.text[s.at+length:]
	switch {
	case length == 0:
		s.notUnderstood(why)
	case rest != "" && strings.IndexByte(" \t\n;|,&>", rest[0]) < 0:
		s.notUnderstood("a word is put together of several pieces")
	}
	if s.odd != "" {
		return
	}
	wants, n := s.wants, len(s.command.args)
	s.wants, s.file = 0, wants == '>'
	switch {
	case s.file:
		s.command.files = append(s.command.files, w)
	case wants == ',':
		s.command.args[n-1] = append(s.command.args[n-1], w)
	case n > 0:
		s.command.args = append(s.command.args, []word{w})
	case w.quoted || !w.literal || !nameForm.MatchString(w.text):
		s.notUnderstood("it starts with an expression")
	case slices.Contains(keywords, strings.ToLower(w.text)):
		s.notUnderstood("`" + w.text + "` starts a statement")
	default:
		s.command = simple{args: [][]word{{w}}, at: s.at}
	}
	s.at += length
}

// piece ends a command of a pipeline.
func (s *splitter) piece() {
	if len(s.command.args) == 0 || s.wants != 0 {
		s.notUnderstood("a word is missing")
	}
	s.pipeline = append(s.pipeline, s.command)
	s.command, s.wants, s.file = simple{}, 0, false
}

// end ends a pipeline, where there is one.
func (s *splitter) end() {
	if len(s.pipeline) == 0 && len(s.command.args) == 0 && s.wants == 0 {
		return
	}
	if s.piece(); s.odd == "" {
		s.pipelines = append(s.pipelines, s.pipeline)
		s.pipeline = nil
	}
}
