package pipeline

import (
	"context"
	"slices"

	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/permissions"
)

// editors are the built-in tools whose edits are watched.
var editors = []string{"Write", "Edit", "NotebookEdit"}

// watchEdits has those who watch edits look at the files that the call is about to change. The
// returned function has them look again, and tells the model what they note; nil is nobody.
func (g *judging) watchEdits(ctx context.Context) (after func(ctx context.Context)) {
	natives := g.view.Tools.Natives
	if natives == nil || len(natives.Watches) == 0 || g.session().Stage || !tool.BuiltIn(g.tool) || !slices.Contains(editors, g.name()) {
		return nil
	}
	var looks []func(context.Context) string
	for _, a := range g.admitted.to.Accesses {
		if a.Kind != permissions.AccessWrite {
			continue
		}
		for _, watch := range natives.Watches {
			if look := watch(ctx, tool.Edit{Session: g.session().ID, Policy: g.Policy(), File: a.Target}); look != nil {
				looks = append(looks, look)
			}
		}
	}
	return func(ctx context.Context) {
		for _, look := range looks {
			if note := look(ctx); note != "" {
				g.remark(note)
			}
		}
	}
}
