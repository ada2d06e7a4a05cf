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
	c := newCall(t, 0, use)
	if err := (preparing{&c.core}).prepare(ctx); err != nil {
		return permissions.Explanation{}, err
	}
	g := judgingAt(&c.core, v)
	about, _, err := g.whole()
	if err != nil {
		return permissions.Explanation{}, err
	}
	return g.Explain(about), nil
}
