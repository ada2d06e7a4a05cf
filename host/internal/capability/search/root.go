package search

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/permissions"
)

func invalid(format string, args ...any) *abi.Error {
	return abi.Errorf(abi.CodeInvalidInput, format, args...)
}

// limit settles the most entries of an answer and checks the offset.
func (c *Capability) limit(limit, offset int) (int, error) {
	most := 100 * c.opts.MaxEntries
	if limit < 0 || offset < 0 {
		return 0, invalid("limit %d and offset %d must not be negative", limit, offset)
	}
	if limit > most || offset > most-limit {
		return 0, invalid("limit %d and offset %d together are over the bound of %d", limit, offset, most)
	}
	if limit == 0 {
		limit = min(c.opts.MaxEntries, most-offset)
	}
	return limit, nil
}

// root is where a search starts.
type root struct {
	node     *workspace.Overlaid
	cwd      string
	stage    capability.Stage // nil is none
	judgeDir capability.JudgeDir
}

// Through takes the judgement of directories; see [capability.Walker].
func (r *root) Through(judge capability.JudgeDir) { r.judgeDir = judge }

func (c *Capability) root(scope capability.Scope, path string) (root, error) {
	if path == "" {
		path = scope.Cwd
	}
	n, err := workspace.Overlay(scope.Cwd, path, scope.Stage)
	if err != nil {
		return root{}, err
	}
	return root{node: n, cwd: scope.Cwd, stage: scope.Stage}, nil
}

// Accesses names where the search starts, and all below it.
func (r root) Accesses() []permissions.Access {
	dir := !r.node.Exists() || r.node.Info.Kind == abi.KindDirectory
	return []permissions.Access{r.node.Access(permissions.AccessRead, dir)}
}

// Close lets go of where the search starts.
func (r root) Close() error { return r.node.Close() }

// inTime does a search under a context that ends at the limit of time, and reports
// whether that ended it. Then the search has found what it has, and has not failed.
func (c *Capability) inTime(ctx context.Context, search func(context.Context) error) (timedOut bool, err error) {
	limited, cancel := context.WithTimeout(ctx, c.opts.Time)
	defer cancel()
	err = search(limited)
	if abi.CodeOf(err) == abi.CodeTimeout && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// interrupted turns the end of a context into an error of its own code.
func interrupted(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return abi.Errorf(abi.CodeTimeout, "the time was up before the search was done; search a smaller directory, or with globs: %w", err)
	default:
		return abi.Errorf(abi.CodeCancelled, "the search was cancelled: %w", err)
	}
}
