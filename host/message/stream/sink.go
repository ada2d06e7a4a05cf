package stream

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// sink passes items to the loop over them, until it ends.
type sink struct {
	yield func(Item) bool
	line  int
	gone  bool
}

func (s *sink) put(i Item) {
	if s.gone {
		return
	}
	i.Line = s.line
	s.gone = !s.yield(i)
}

// fault reports what could not be read, and the call that was lost with it.
func (s *sink) fault(lost abi.ToolUse, err error) {
	s.put(Item{Kind: KindFault, Call: abi.ToolUse{ID: shown(lost.ID), Name: shown(lost.Name)}, Err: err})
}

// maxShown bounds a text of the input that is quoted in an error, in bytes. A word may be
// as long as a line.
const maxShown = 200

// shown shortens a text for an error.
func shown(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "..."
}

// oneOf reports whether a word is among those given.
func oneOf(word string, words ...string) bool { return slices.Contains(words, word) }

func invalid(format string, args ...any) error {
	return abi.Errorf(abi.CodeInvalidInput, format, args...)
}

// broken is the error of a stream that broke off.
func broken(format string, args ...any) error { return abi.Errorf(abi.CodeIO, format, args...) }
