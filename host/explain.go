package host

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/filestate"
	"github.com/toolquay/toolquay/host/internal/pipeline"
	"github.com/toolquay/toolquay/permissions"
)

// Explain judges a call as it would be judged now, without running it, its
// tool's own check or hooks, and without asking anybody. Faults of the call are
// those that running it would have as its result.
func (s *Session) Explain(ctx context.Context, use abi.ToolUse) (permissions.Explanation, error) {
	set := s.host.plugins.Hold()
	defer set.Release()
	s.rules.Fresh()
	v := s.rules.WithPlugins(set)
	return pipeline.Explain(ctx, &openTurn{session: s, tools: catalog{s, set}, files: filestate.NewTurn(&s.files)}, use, v)
}
