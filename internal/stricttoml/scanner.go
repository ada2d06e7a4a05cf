package stricttoml

import "bytes"

// scanner walks over TOML text byte by byte, counting lines. Past the end every
// byte is 0, so that no caller has to ask.
type scanner struct {
	src  []byte
	pos  int
	line int
}

func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) advance() {
	if s.pos < len(s.src) {
		if s.src[s.pos] == '\n' {
			s.line++
		}
		s.pos++
	}
}

func (s *scanner) skipComment() {
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		s.pos++
	}
}

// skipString passes over the string, of any of TOML's four kinds, that starts
// here. A one-line string that is not closed ends with its line.
func (s *scanner) skipString() {
	quote := s.src[s.pos]
	triple := []byte{quote, quote, quote}
	if bytes.HasPrefix(s.src[s.pos:], triple) {
		s.pos += len(triple)
		s.skipMultiline(quote, triple)
		return
	}
	s.pos++
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		c := s.src[s.pos]
		s.pos++
		switch {
		case c == quote:
			return
		case c == '\\' && quote == '"' && s.peek() != '\n':
			s.advance()
		}
	}
}

func (s *scanner) skipMultiline(quote byte, triple []byte) {
	for s.pos < len(s.src) {
		if bytes.HasPrefix(s.src[s.pos:], triple) {
			s.pos += len(triple)
			// Up to two quotes may stand just before the closing three.
			for range 2 {
				if s.peek() == quote {
					s.pos++
				}
			}
			return
		}
		if s.src[s.pos] == '\\' && quote == '"' {
			s.advance()
		}
		s.advance()
	}
}

// skipBlank passes over white space, newlines and comments.
func (s *scanner) skipBlank() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.advance()
		case '#':
			s.skipComment()
		default:
			return
		}
	}
}
