package pipeline

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/rules"
	"github.com/toolquay/toolquay/permissions"
)

// Explain judges a call by the rules of a view, without running it, its tool's own check
// or hooks, and without asking anybody.
func Explain(ctx context.Context, t Turn, use abi.ToolUse, v *rules.View) (permissions.Explanation, error) {
	c := &Call{turn: t, tell: t.Telling(0, &use), request: request{use: use}}
	c.files.Begin(t.Files(), 0)
	if err := c.prepare(ctx); err != nil {
		return permissions.Explanation{}, err
	}
	g := gateAt(c, v)
	about, _, err := g.whole()
	if err != nil {
		return permissions.Explanation{}, err
	}
	return g.Explain(about), nil
}
