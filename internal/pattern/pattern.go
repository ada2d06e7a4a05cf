// Package pattern is what searching for contents asks of an engine for regular
// expressions, so that neither has to know the other.
package pattern

import "context"

// Options say how a pattern is meant.
type Options struct {
	// IgnoreCase ignores case, as Unicode folds it.
	IgnoreCase bool
	// Multiline lets matches span lines, and "." match newlines.
	Multiline bool
	// Count says that matches are counted: with Multiline, patterns that ask where a
	// line starts or ends are then found match by match too, as ripgrep counts them.
	Count bool
}

// Engine compiles patterns. It is safe for concurrent use.
type Engine interface {
	// Compile compiles a pattern. Errors are *abi.Error, of abi.CodeInvalidInput
	// where the pattern is at fault.
	Compile(ctx context.Context, pattern string, o Options) (Expression, error)
}

// Expression is a compiled pattern. It is safe for concurrent use.
type Expression interface {
	Facts() Facts
	// Search returns what searches with the expression, for one goroutine at a
	// time. It is to be closed. Size is how long the window will be, in bytes, as
	// far as that is known: of searches in much text at once, one goes on at a time,
	// and the others wait until it is closed.
	Search(ctx context.Context, size int) (Search, error)
	// Close lets go of everything that is left, after all searches.
	Close()
}

// Facts are what is known of an expression.
type Facts struct {
	// Across says that matches may span lines. Where it is not set a match is a
	// whole line, whatever was asked for.
	Across bool
	// Literals are texts of which every match holds one at least, in some case
	// where case is ignored; none where nothing is known.
	Literals [][]byte
}

// Span is where a match starts and ends.
type Span struct{ Start, End uint32 }

// Search searches text in its window. After an error it is of no more use, but for
// Close. It stops, with an error, soon after the end of the context that it was
// made with.
type Search interface {
	// Window returns room for text, at least size bytes, with what it held before.
	// It is valid until the next call of any method.
	Window(size int) ([]byte, error)
	// Find returns matches in what the window holds between from and to, in order:
	// the first most of them or fewer, none where there is none. They are valid until the next
	// call. From starts a line, or follows the match before where matches may span
	// lines; to ends a line, or the text. Where matches do not span lines each is
	// one line that matches, with its newline.
	Find(from, to, most int) ([]Span, error)
	// Close hands back what the search used.
	Close()
}
