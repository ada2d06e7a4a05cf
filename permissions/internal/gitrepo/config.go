package gitrepo

import (
	"bytes"
	"strings"
)

// setting is one line of a file in git's format: a value under section.key, or
// under section.subsection.key. Section and key are in lower case.
type setting struct {
	section, subsection, key, value string
}

// parseConfig reads a configuration of git, as git-config(1) describes it. It ends at the first
// mistake, as git refuses such a file.
func parseConfig(content []byte) []setting {
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	p := parser{rest: bytes.TrimPrefix(bytes.Map(blank, content), []byte("\ufeff"))}
	for p.skip(); len(p.rest) > 0; p.skip() {
		var ok bool
		if p.rest[0] == '[' {
			ok = p.header()
		} else {
			ok = p.line()
		}
		if !ok {
			break
		}
	}
	return p.out
}

// blank turns every character that git takes for a blank into one.
func blank(r rune) rune {
	switch r {
	case '\r', '\v', '\f':
		return ' '
	}
	return r
}

type parser struct {
	rest                []byte
	section, subsection string
	out                 []setting
}

// skip leaves out blanks, empty lines and comments.
func (p *parser) skip() {
	for p.rest = bytes.TrimLeft(p.rest, " \t\n"); len(p.rest) > 0 && isComment(p.rest[0]); p.rest = bytes.TrimLeft(p.rest, " \t\n") {
		_, p.rest, _ = bytes.Cut(p.rest, []byte("\n"))
	}
}

func isComment(c byte) bool { return c == '#' || c == ';' }

// header reads [section], [section "subsection"] or, of old, [section.subsection].
func (p *parser) header() bool {
	end := bytes.IndexAny(p.rest, " \t\"]\n")
	if end < 0 {
		return false
	}
	name := strings.ToLower(string(p.rest[1:end]))
	p.section, p.subsection, _ = strings.Cut(name, ".")
	p.rest = bytes.TrimLeft(p.rest[end:], " \t")
	if len(p.rest) > 0 && p.rest[0] == '"' && !p.quoted() || len(p.rest) == 0 || p.rest[0] != ']' {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// quoted reads a subsection.
func (p *parser) quoted() bool {
	var name strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\n':
			return false
		case c == '"':
			p.subsection, p.rest = name.String(), p.rest[i+1:]
			return true
		case c == '\\' && i+1 < len(p.rest):
			i++
			name.WriteByte(p.rest[i])
		default:
			name.WriteByte(c)
		}
	}
	return false
}

// line reads key = value, or a key alone.
func (p *parser) line() bool {
	end := 0
	for end < len(p.rest) && isKey(p.rest[end]) {
		end++
	}
	s := setting{section: p.section, subsection: p.subsection, key: strings.ToLower(string(p.rest[:end]))}
	p.rest = bytes.TrimLeft(p.rest[end:], " \t")
	ok := end > 0
	if len(p.rest) > 0 && p.rest[0] == '=' {
		p.rest = bytes.TrimLeft(p.rest[1:], " \t")
		var read bool
		s.value, read = p.value()
		ok = ok && read
	} else if len(p.rest) > 0 && p.rest[0] != '\n' && !isComment(p.rest[0]) {
		ok = false
	}
	if ok {
		p.out = append(p.out, s)
	}
	return ok
}

func isKey(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// escapes are the meanings of characters after a backslash in a value.
var escapes = map[byte]string{'"': `"`, '\\': `\`, 'n': "\n", 't': "\t", 'b': "\b", '\n': ""}

// value reads to the end of the line, or of several lines that a backslash joins. Blanks at its
// end count only in quotes. Git refuses a file with an open quote.
func (p *parser) value() (value string, ok bool) {
	var b strings.Builder
	inQuotes, kept, i := false, 0, 0
scan:
	for ; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '\n' || isComment(c) && !inQuotes:
			break scan
		case c == '"':
			inQuotes = !inQuotes
			kept = b.Len()
			continue
		case c == '\\':
			i++
			if i == len(p.rest) {
				break scan // as git has it, a line that goes on with nothing
			}
			escaped, known := escapes[p.rest[i]]
			if !known {
				return "", false
			}
			b.WriteString(escaped)
		default:
			b.WriteByte(c)
		}
		if inQuotes || c != ' ' && c != '\t' {
			kept = b.Len()
		}
	}
	p.rest = p.rest[min(i, len(p.rest)):]
	return b.String()[:kept], true
}
