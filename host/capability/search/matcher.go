package search

import "context"

// matcher is the engine behind a search for contents.
type matcher interface {
	// find returns the first match in text at or behind from, or -1. Text is
	// whole lines; from starts a line, or lies behind the last match where
	// matches may span lines. It ends early, with any answer, once ctx is done.
	find(ctx context.Context, text []byte, from int) (start, end int)
}

// query is what a matcher is made of.
type query struct {
	pattern   string
	fold      bool // ignore case
	multiline bool // matches may span lines, and "." matches newlines
}
