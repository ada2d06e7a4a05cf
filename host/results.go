package host

import "github.com/toolquay/toolquay/host/internal/results"

// These types are the limits of results, and the results that did not fit.
type (
	// ResultOptions bound how much of a model's context results take.
	ResultOptions = results.Options
	// ToolResultOptions bound the results of one tool.
	ToolResultOptions = results.ToolOptions
	// ResultPreview says which part of a long result its preview shows.
	ResultPreview = results.Strategy
	// StoredResult is a file that holds the whole text of a result.
	StoredResult = results.Stored
)

// The previews of long results: their start, their end, or both.
const (
	PreviewStart = results.StrategyStart
	PreviewEnd   = results.StrategyEnd
	PreviewBoth  = results.StrategyBoth
)

// UnlimitedResults is the limit of results that have none.
const UnlimitedResults = results.Unlimited
