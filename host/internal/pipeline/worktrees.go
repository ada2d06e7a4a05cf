package pipeline

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/internal/hooks"
	"github.com/toolquay/toolquay/host/internal/worktree"
)

// worktrees is the worktree of a session, as a call of it sees that.
type worktrees struct{ *world }

var _ capability.Worktrees = worktrees{}

// Check says what the session would do, or why it cannot.
func (w worktrees) Check(ctx context.Context, args abi.WorktreeArgs) (string, error) {
	return w.session().Worktree.Check(ctx, args)
}

// Do enters a worktree or leaves it, and tells of that.
func (w worktrees) Do(ctx context.Context, args abi.WorktreeArgs, words string) (ok abi.WorktreeOK, err error) {
	news := capability.WorktreeNews{Change: capability.WorktreeEntered}
	if args.Do == abi.WorktreeEnter {
		ask := func(made worktree.Record) (string, error) { return w.hooks(ctx, hooks.WorktreeCreated, &made) }
		created := func(made worktree.Record) error { _, err := ask(made); return err }
		ok, err = w.session().Worktree.Enter(ctx, args.Name, worktree.Hooks{Created: created, Make: ask})
	} else {
		news.Change = map[string]string{abi.WorktreeKeep: capability.WorktreeKept, abi.WorktreeRemove: capability.WorktreeRemoved}[args.Do]
		ok, err = w.session().Worktree.Leave(ctx, args, words, func(gone worktree.Record) {
			w.session().Files.Gone(gone.Path)
			_, _ = w.hooks(ctx, hooks.WorktreeRemoved, &gone) // it is gone, whatever they have against it
		})
	}
	if err != nil {
		return ok, err
	}
	news.Path, news.Branch = ok.Path, ok.Branch
	w.tell.News(capability.News{Worktree: &news})
	if value, err := json.Marshal(w.session().Rules.View().Cwd); err == nil {
		w.tell.Changed(&abi.Change{Kind: abi.ChangeCwd, Value: value}, nil)
	}
	return ok, nil
}

// hooks runs the hooks of an event about a worktree, and returns the directory that one of them
// made. The error is what they have against it.
func (w worktrees) hooks(ctx context.Context, e hooks.Event, about *worktree.Record) (made string, err error) {
	set, contract := w.view.Settings.Hooks, w.tool.Contract()
	if !set.For(e, contract.Name, contract.Aliases) {
		return "", nil
	}
	in := w.hookInput()
	in.Worktree = &hooks.Worktree{Name: about.Name, Path: about.Path, Branch: about.Branch, Main: about.Main}
	o := set.During(ctx, e, in)
	if ctx.Err() != nil && e == hooks.WorktreeCreated {
		return "", gate.Cancelled(ctx)
	}
	w.core.toldBy(&o)
	if len(o.Feedback) == 0 {
		return o.Worktree, nil
	}
	why := strings.Join(o.Feedback, "; ")
	if e == hooks.WorktreeRemoved {
		w.core.remarks.put("A " + string(e) + " hook failed: " + why)
	}
	return "", abi.Errorf(abi.CodeDenied, "the worktree was not made, as a %s hook refused it: %s", e, why)
}
