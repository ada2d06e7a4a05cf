package shell

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds on what is read at all. They are on text and never on time: a
// command is judged alike on a busy machine.
const (
	// MaxBytes is the longest command that is judged.
	MaxBytes = 10_000
	// maxNesting is how deep compound commands and substitutions may nest.
	maxNesting = 40
	// maxFrames is how many calls deep the parser may be. A level of nesting
	// costs it about a dozen.
	maxFrames = 800
)

var errNested = errors.New("it is nested too deep")

// Hides reports whether a character is not what it looks like: controls,
// blanks that are none to the shell or part words where nobody sees it, and
// characters without a width.
func Hides(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	}
	switch r {
	case utf8.RuneError, 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0:
		return true // the replacement character, a joiner, and fillers
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Co)
}

// Guard says why a text is not judged at all, whichever shell it is for: what a
// person reads in it need not be what the shell does. It is empty where the text
// may be looked at.
func Guard(text string) string {
	if len(text) > MaxBytes {
		return fmt.Sprintf("it is longer than %d bytes", MaxBytes)
	}
	if !utf8.ValidString(text) {
		return "it is not valid UTF-8"
	}
	for at, r := range text {
		if Hides(r) {
			return fmt.Sprintf("it holds the hidden character %U, %s", r, Position(text, at))
		}
	}
	return ""
}

// guard refuses what is not to be shown to the parser. It returns why.
func guard(text string) string {
	if why := Guard(text); why != "" {
		return why
	}
	if rest := strings.TrimRight(text, `\`); (len(text)-len(rest))%2 == 1 {
		return "it ends with a backslash, so its last line goes on"
	}
	return ""
}

// feeder hands text to the parser in pieces, and looks at each how deep in
// calls the parser is. A stack overflow cannot be recovered from, and quotes
// and here-documents fool whoever counts brackets; the stack does not lie.
type feeder struct {
	rest  string
	base  int
	found [1]uintptr
}

// piece is how much the parser gets at once: so many levels at most can be
// opened unseen.
const piece = 256

func (f *feeder) Read(p []byte) (int, error) {
	switch {
	case f.rest == "":
		return 0, io.EOF
	case f.base > 0 && f.deeper(f.base+maxFrames):
		return 0, errNested
	case f.base == 0 && len(f.rest) > piece:
		for f.base = 64; f.deeper(f.base); {
			f.base += 64
		}
	}
	n := copy(p[:min(len(p), piece)], f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *feeder) deeper(frames int) bool { return runtime.Callers(frames, f.found[:]) > 0 }

// parsers are those that are not in use.
var parsers sync.Pool

func newParser() *syntax.Parser {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
}

// parse reads a text that has passed guard.
func parse(text string) (file *syntax.File, err error) {
	parser, ok := parsers.Get().(*syntax.Parser)
	if !ok {
		parser = newParser()
	}
	defer func() {
		// A parser that panicked is not used again.
		if r := recover(); r != nil {
			file, err = nil, errors.New("the parser gave up on it")
			return
		}
		parsers.Put(parser)
	}()
	return parser.Parse(&feeder{rest: text}, "")
}

// Position says where an offset of a text is, as people count.
func Position(text string, offset int) string {
	before := text[:min(offset, len(text))]
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	if line := strings.Count(before, "\n") + 1; strings.IndexByte(text, '\n') >= 0 {
		return fmt.Sprintf("line %d, column %d", line, column)
	}
	return fmt.Sprintf("column %d", column)
}
