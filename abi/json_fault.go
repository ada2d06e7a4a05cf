package abi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSONFault says what is wrong with a JSON document and where. It is the cause
// of the [Error] that [Canonical] returns.
type JSONFault struct {
	// Path leads to the faulty value inside the document, such as
	// edits[2].old_string; it is empty at the root.
	Path string
	// Offset is the faulty byte, counted from 0.
	Offset int
	// Message is what is wrong there.
	Message string
}

// The longest key and path shown, in bytes. They are cut in messages, which a
// model reads; a path of [JSONFault] has only its keys cut.
const (
	shownKey  = 64
	shownPath = 200
)

// Error describes the fault in one line.
func (f *JSONFault) Error() string {
	if f.Path == "" {
		return fmt.Sprintf("invalid JSON at byte %d: %s", f.Offset, f.Message)
	}
	path := f.Path
	if len(path) > shownPath {
		path = strings.ToValidUTF8(path[:shownPath], "") + "..."
	}
	return fmt.Sprintf("invalid JSON at %s (byte %d): %s", path, f.Offset, f.Message)
}

// jsonFault is a fault on its way out of the parser, which learns the path to
// it from inside out.
type jsonFault struct {
	offset  int
	message string
	path    []string
}

func faultAt(offset int, format string, args ...any) *jsonFault {
	return &jsonFault{offset: offset, message: fmt.Sprintf(format, args...)}
}

// unexpected is the fault of what stands at the parser's place.
func (p *jsonParser) unexpected(want string) *jsonFault {
	if p.pos == len(p.src) {
		return faultAt(p.pos, "the document ends where %s was expected", want)
	}
	r, size := utf8.DecodeRune(p.src[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return faultAt(p.pos, "the byte %#02x where %s was expected", p.src[p.pos], want)
	}
	return faultAt(p.pos, "%q where %s was expected", r, want)
}

func (f *jsonFault) index(i int) *jsonFault {
	f.path = append(f.path, "["+strconv.Itoa(i)+"]")
	return f
}

func (f *jsonFault) member(key []byte) *jsonFault {
	if plainName(key) {
		f.path = append(f.path, "."+string(key))
	} else {
		f.path = append(f.path, "["+quoteShort(key)+"]")
	}
	return f
}

func (f *jsonFault) err() *Error {
	slices.Reverse(f.path)
	fault := &JSONFault{
		Path:    strings.TrimPrefix(strings.Join(f.path, ""), "."),
		Offset:  f.offset,
		Message: f.message,
	}
	return &Error{Code: CodeInvalidInput, Message: fault.Error(), Err: fault}
}

// plainName reports whether a key can stand in a path unquoted.
func plainName(key []byte) bool {
	if len(key) == 0 || len(key) > shownKey {
		return false
	}
	for _, c := range key {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '$':
		default:
			return false
		}
	}
	return true
}

// quoteShort quotes a key for people, cut where it is long.
func quoteShort(key []byte) string {
	if len(key) <= shownKey {
		return strconv.Quote(string(key))
	}
	return strconv.Quote(strings.ToValidUTF8(string(key[:shownKey]), "")) + "..."
}
