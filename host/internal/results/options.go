package results

import "github.com/toolquay/toolquay/abi"

// The defaults of [Options], in code points.
const (
	DefaultMaxChars     = 50_000
	DefaultMaxTurnChars = 200_000
)

// Unlimited is the limit of what has none, as is every number below it.
const Unlimited = -1

// Options say how much results may take. The zero value is ready for use.
type Options struct {
	// MaxChars bounds one result where its tool has no smaller limit, and
	// MaxTurnChars all results of one turn together; 0 is the default, Unlimited none.
	MaxChars, MaxTurnChars int
	// Tools are the operator's word on single tools, by name.
	Tools map[string]ToolOptions
	// Strategy is what a preview shows; empty is StrategyStart.
	Strategy Strategy
	// Duplicates has a result that is the same as an earlier one of the session
	// replaced by a reference to that.
	Duplicates bool
	// Measure counts what a block takes of the context, in code points; nil is
	// [Measure].
	Measure func(abi.Block) int
}

// ToolOptions are the operator's word on one tool.
type ToolOptions struct {
	// MaxChars is the tool's limit, in place of its own; 0 leaves it, Unlimited is
	// none.
	MaxChars int
	// Strategy is what its previews show; empty is that of all.
	Strategy Strategy
}

// Strategy is what of a long result a preview shows.
type Strategy string

// The strategies.
const (
	StrategyStart Strategy = "start"
	StrategyEnd   Strategy = "end"
	StrategyBoth  Strategy = "both"
)

// Stored is a result's whole text, in a file.
type Stored struct {
	// Path is the file, absolute.
	Path string `json:"path"`
	// Chars and Bytes are the text's size; Chars counts code points.
	Chars int64 `json:"chars"`
	Bytes int64 `json:"bytes"`
}
