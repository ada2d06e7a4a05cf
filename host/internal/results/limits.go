package results

import (
	"cmp"

	"github.com/toolquay/toolquay/abi"
)

// Call says whose result it is.
type Call struct {
	// Tool is the tool's name, and Title one line about the call, which may be empty.
	Tool, Title string
	// MaxChars is the tool's own limit, in code points; 0 is none of its own.
	MaxChars int
	// Unlimited says that it bounds itself, where that is to be believed.
	Unlimited bool
}

// limits tell by the options what is too large.
type limits Options

// of is what a tool's result may count: the operator's word on the tool, else
// the lesser of the tool's own and what holds for all.
func (l *limits) of(c Call) int {
	if n := l.Tools[c.Tool].MaxChars; n != 0 {
		return max(n, Unlimited)
	}
	all := orDefault(l.MaxChars, DefaultMaxChars)
	switch {
	case c.Unlimited:
		return Unlimited
	case c.MaxChars > 0 && (all == Unlimited || c.MaxChars < all):
		return c.MaxChars
	}
	return all
}

// strategy is what previews of a tool show.
func (l *limits) strategy(c Call) Strategy {
	return cmp.Or(l.Tools[c.Tool].Strategy, l.Strategy, StrategyStart)
}

// turn is what the results of one turn may count together.
func (l *limits) turn() int {
	return orDefault(l.MaxTurnChars, DefaultMaxTurnChars)
}

// exempt reports whether a tool's results are never persisted.
func (l *limits) exempt(c Call) bool {
	return l.of(c) == Unlimited && (c.Unlimited || l.Tools[c.Tool].MaxChars < 0)
}

func orDefault(n, usual int) int {
	if n == 0 {
		return usual
	}
	return max(n, Unlimited)
}

// minDuplicate is how long a text is, in bytes, that is referred to rather than said
// again.
const minDuplicate = 1_000

// worthwhile is how long a text is, in what it counts, that a preview would surely
// shorten.
const worthwhile = 3_000

// small reports whether a result is within its limit and too short to be of any
// other concern, without counting.
func (l *limits) small(content []abi.Block, limit int) bool {
	least := worthwhile
	if l.Duplicates {
		least = minDuplicate
	}
	if limit == Unlimited || limit > least {
		limit = least
	}
	return len(content) == 1 && l.Measure == nil && content[0].Type == abi.BlockText &&
		content[0].Spilled == nil && len(content[0].Text) < limit
}

// over reports whether a result's text is to go: it is over the limit, or what
// stands beside it is and the text has a share in that. What is spilled always goes,
// as it is not to be held.
func (l *limits) over(limit int, r *abi.ToolResult) bool {
	if len(spilled(r.Content)) > 0 {
		return true
	}
	if l.within(limit, *r) {
		return false
	}
	all, text := l.size(r.Content)
	return text > limit || all > limit && text > worthwhile
}

// previewLimit is how much a preview shows where a result may count so much.
func previewLimit(limit int) int {
	if limit == Unlimited {
		return PreviewBytes
	}
	return min(limit, PreviewBytes)
}

// cutTo is how much is left of a result that must go and cannot.
func cutTo(limit int) int {
	if limit == Unlimited {
		return DefaultMaxChars
	}
	return limit
}

// measure is what a block counts here.
func (l *limits) measure(b abi.Block) int {
	if l.Measure == nil || b.Spilled != nil {
		return Measure(b)
	}
	return l.Measure(b)
}

// size is what a result counts, and what of that its text does.
func (l *limits) size(content []abi.Block) (all, text int) {
	for _, b := range content {
		n := l.measure(b)
		all += n
		if isText(b) {
			text += n
		}
	}
	return all, text
}

// within reports whether results are at most so large together.
func (l *limits) within(limit int, rs ...abi.ToolResult) bool {
	return limit == Unlimited || l.surely(limit, rs) || l.counted(rs) <= limit
}

// surely is within where that can be told without counting: no text has more code
// points than bytes.
func (l *limits) surely(limit int, rs []abi.ToolResult) bool {
	most := 0
	for i := range rs {
		for j := range rs[i].Content {
			if b := &rs[i].Content[j]; b.Type == abi.BlockText && b.Spilled == nil {
				most += len(b.Text)
			} else {
				most += Measure(*b)
			}
		}
	}
	return l.Measure == nil && most <= limit
}

// counted is what results count together.
func (l *limits) counted(rs []abi.ToolResult) int {
	all := 0
	for i := range rs {
		n, _ := l.size(rs[i].Content)
		all += n
	}
	return all
}
