// Package shellword splits shell commands, and rules on them, into words.
package shellword

import (
	"errors"
	"strings"
)

// RuleWord is one word of a rule on commands.
type RuleWord struct {
	// Text is the word with its quotes taken off, Raw as it was written.
	Text, Raw string
	// Expands says that a shell would expand something in it.
	Expands bool
}

// Wild stands for a wildcard in the text of words, Gap for the blanks between two words.
// Neither can be in a program's arguments or in a rule.
const (
	Wild = '\x01'
	Gap  = '\x00'
)

// operators are the characters that end a simple command, or redirect it.
const operators = ";|&<>()\n"

var errQuote = errors.New(`a quote without its end; write \' or \" for the character`)

// Split splits the text of a rule as a shell splits a command, without expanding anything.
// Wildcards of the rule are [Wild] already. Compound says that the text is more than one
// simple command.
func Split(text string) (words []RuleWord, compound bool, err error) {
	var s splitter
	for i := 0; i < len(text); {
		n, err := s.next(text[i:])
		if err != nil {
			return nil, false, err
		}
		i += n
	}
	s.end()
	return s.words, s.compound, nil
}

// splitter is a split under way.
type splitter struct {
	words    []RuleWord
	compound bool

	text, raw strings.Builder
	inWord    bool
	expands   bool
}

func (s *splitter) end() {
	if s.inWord {
		s.words = append(s.words, RuleWord{Text: s.text.String(), Raw: s.raw.String(), Expands: s.expands})
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
