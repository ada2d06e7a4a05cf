package self

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
)

// targetCwd is what of the session is used where it goes back from a worktree that stays.
const targetCwd = "working directory"

// worktreePlan is one session.worktree.
type worktreePlan struct {
	capability.OfSession
	scope *capability.Scope
	args  abi.WorktreeArgs
	words string
}

var _ capability.Described = (*worktreePlan)(nil)

func planWorktree(ctx context.Context, scope *capability.Scope, req abi.Request) (capability.Plan, error) {
	var args abi.WorktreeArgs
	if err := capability.ReadArgs(req, &args); err != nil {
		return nil, err
	}
	target := capability.OfSession(permissions.SessionWorktrees)
	switch args.Do {
	case abi.WorktreeEnter:
	case abi.WorktreeRemove:
		if args.Discard {
			target = permissions.SessionUnsaved
		}
	case abi.WorktreeKeep:
		target = targetCwd
	default:
		return nil, abi.Errorf(abi.CodeInvalidInput, "%s does %q, %q or %q, not %.40q", req.Name, abi.WorktreeEnter, abi.WorktreeKeep, abi.WorktreeRemove, args.Do)
	}
	switch {
	case scope.Worktrees == nil:
		return nil, abi.Errorf(abi.CodeUnsupported, "there is no session here that could be in a worktree")
	case scope.Stage != nil:
		return nil, abi.Errorf(abi.CodeUnsupported, "what is written here is staged: apply or discard that (toolquay stage), and go on without --stage")
	}
	// Before the person is asked, as their answer could change nothing about it.
	words, err := scope.Worktrees.Check(ctx, args)
	if err != nil {
		return nil, err
	}
	return &worktreePlan{target, scope, args, words}, noRehearsal(scope, req)
}

// Accesses are what it uses of the session. An answer that was kept is to the loss of what it tells.
func (p *worktreePlan) Accesses() []permissions.Access {
	all := p.OfSession.Accesses()
	if p.OfSession == permissions.SessionUnsaved {
		all[0].Real = p.words
	}
	return all
}

// Describe says what would be made, or lost.
func (p *worktreePlan) Describe() string { return p.words }

// Do enters the worktree or leaves it.
func (p *worktreePlan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	ok, err := p.scope.Worktrees.Do(ctx, p.args, p.words)
	if err != nil {
		return abi.Answer{}, err
	}
	return abi.Answer{OK: ok}, nil
}
