package permissions

import (
	"errors"
	"strings"
)

// ruleWord is one word of a rule on commands.
type ruleWord struct {
	// text is the word with its quotes taken off, raw as it was written.
	text, raw string
	// expands says that a shell would expand something in it.
	expands bool
}

// wild stands for a wildcard in the text of words, gap for what is between two
// words. Neither can be in a program's arguments or in a rule.
const (
	wild = '\x01'
	gap  = '\x00'
)

// operators are the characters that end a simple command, or redirect it.
const operators = ";|&<>()\n"

var errQuote = errors.New(`a quote without its end; write \' or \" for the character`)

// splitter splits the text of a rule as a shell splits a command, without
// expanding anything. Wildcards of the rule are wild already.
type splitter struct {
	words []ruleWord
	// compound says that there is more than one simple command in it.
	compound bool

	text, raw strings.Builder
	inWord    bool
	expands   bool
}

func (s *splitter) end() {
	if s.inWord {
		s.words = append(s.words, ruleWord{text: s.text.String(), raw: s.raw.String(), expands: s.expands})
	}
	s.text.Reset()
	s.raw.Reset()
	s.inWord, s.expands = false, false
}

func (s *splitter) put(raw, text string) {
	s.inWord = true
	s.raw.WriteString(raw)
	s.text.WriteString(text)
}

// split reads the whole text.
func (s *splitter) split(text string) error {
	for i := 0; i < len(text); {
		n, err := s.next(text[i:])
		if err != nil {
			return err
		}
		i += n
	}
	s.end()
	return nil
}

// next reads from the start of text and returns how much.
func (s *splitter) next(text string) (int, error) {
	switch c := text[0]; {
	case c == ' ' || c == '\t':
		s.end()
	case c == '\\' && len(text) > 1:
		s.put(text[:2], text[1:2])
		return 2, nil
	case c == '\'':
		end := strings.IndexByte(text[1:], '\'')
		if end < 0 {
			return 0, errQuote
		}
		s.put(text[:end+2], text[1:end+1])
		return end + 2, nil
	case c == '"':
		return s.double(text)
	case strings.IndexByte(operators, c) >= 0:
		s.compound = true
		s.put(text[:1], text[:1])
	default:
		s.expands = s.expands || c == '$' || c == '`'
		s.compound = s.compound || c == '`'
		s.put(text[:1], text[:1])
	}
	return 1, nil
}

// double reads a string in double quotes.
func (s *splitter) double(text string) (int, error) {
	var out strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			s.put(text[:i+1], out.String())
			return i + 1, nil
		case c == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0:
			i++
			out.WriteByte(text[i])
		default:
			s.expands = s.expands || c == '$' || c == '`'
			out.WriteByte(c)
		}
	}
	return 0, errQuote
}

const (
	// maxRough is how much of a command that cannot be judged is looked through
	// for what rules hold back, in bytes. A longer one asks in every mode where
	// there are such rules.
	maxRough = 64 << 10
	// roughWindow is how many words behind a program such rules are tried on.
	roughWindow = 64
)

// rough splits a command that could not be parsed: at every operator, then into
// words, with quotes and backslashes taken out. It only serves to find more of
// what deny and ask rules speak of, never less.
func rough(text string) [][]Word {
	var out [][]Word
	for _, piece := range strings.FieldsFunc(strings.Map(dropHidden, text), isOperator) {
		var words []Word
		for _, field := range strings.FieldsFunc(piece, isBlank) {
			if field = roughQuotes.Replace(field); field != "" {
				words = append(words, Word{Text: field, Literal: true})
			}
		}
		if len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

var roughQuotes = strings.NewReplacer(`"`, "", `'`, "", `\`, "", "$", "")

func isOperator(r rune) bool { return strings.ContainsRune(operators+"\r`{}", r) }

// dropHidden takes out what a shell or a reader does not see.
func dropHidden(r rune) rune {
	switch {
	case r == 0, r == 0xad, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// isBlank reports whether some shell could take the character for a blank.
func isBlank(r rune) bool {
	return r <= ' ' || r >= 0x7f && r <= 0xa0 || r >= 0x2000 && r <= 0x200a ||
		r == 0x2028 || r == 0x2029 || r == 0x202f || r == 0x205f || r == 0x3000
}

// nameLetters are the characters of a variable's name.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
