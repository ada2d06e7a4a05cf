package retention

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/host/internal/worktree"
)

// ErrUnsaved is that files or commits would be lost with a worktree.
var ErrUnsaved = errors.New("would be lost")

// trees are the worktrees of sessions.
func (o *Options) trees() *worktree.Store {
	return &worktree.Store{Dir: o.Worktrees, Git: func() (string, error) {
		if o.Git == nil {
			return "", errors.New("there is no git here")
		}
		return o.Git()
	}}
}

func findWorktrees(c *cleaner) {
	if c.Worktrees == "" {
		return
	}
	all, foreign, err := c.trees().All()
	c.failed("worktrees", c.Worktrees, err)
	for _, path := range foreign {
		c.foreign("worktrees", path, "no session has a record of it")
	}
	for _, path := range all {
		if c.ctx.Err() != nil {
			return
		}
		c.addWorktree(path)
	}
}

// addWorktree adds one worktree. A half of one goes at once, as nobody has the lock on it.
func (c *cleaner) addWorktree(path string) {
	it := Item{Area: "worktrees", Name: filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)), Path: path, State: Kept}
	tree, err := c.trees().Open(path)
	if err == nil {
		_ = tree.Release() // nothing was written to it
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return // it was removed meanwhile
	case errors.Is(err, worktree.ErrInUse):
		it.Why = err.Error()
	case err != nil:
		it.State, it.Why = Failed, err.Error()
	case tree.State != worktree.Made:
		it.State, it.Why = Leftover, "a process that was killed left it half made or half removed"
	default:
		it.Used = tree.Used()
		c.judge(&it, cmp.Or(c.Keep, DefaultKeep))
		if it.State == Kept {
			it.Why = left(tree)
		}
	}
	if root, err := os.OpenRoot(filepath.Dir(path)); err == nil && c.Thorough {
		it.Bytes = sizeOf(root, filepath.Base(path))
		_ = root.Close() // it was only a way to the files
	}
	c.add(it)
}

// left says which session left a worktree, on which branch.
func left(tree *worktree.Tree) string {
	return fmt.Sprintf("the session %s left it on the branch %s of %s", tree.Session, tree.Branch, tree.Main)
}

// checkWorktree fails where something would be lost, or that is not known.
func checkWorktree(c *cleaner, it *Item) error {
	tree, err := c.trees().Open(it.Path)
	if err != nil {
		return err
	}
	defer func() { _ = tree.Release() }() // nothing was written to it
	_, err = unchanged(c, tree)
	return err
}

// unchanged returns what would be lost with a worktree, which is nothing, or fails.
func unchanged(c *cleaner, tree *worktree.Tree) (*worktree.Changes, error) {
	lost, err := tree.Changes(c.ctx)
	if err != nil {
		return nil, fmt.Errorf("%s, and it is not known what %w (%w)", left(tree), ErrUnsaved, err)
	}
	if !lost.None() {
		return nil, fmt.Errorf("%s, and this %w: %s", left(tree), ErrUnsaved, lost)
	}
	return lost, nil
}

// removeWorktree removes a worktree with which nothing is lost, or what is left of one.
func removeWorktree(c *cleaner, it *Item) error {
	tree, err := c.trees().Open(it.Path)
	if err != nil {
		return err
	}
	var lost *worktree.Changes
	if tree.State == worktree.Made {
		if lost, err = unchanged(c, tree); err != nil {
			return errors.Join(err, tree.Release())
		}
	}
	if err := tree.Remove(c.ctx, lost); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSpace(left(tree)), errors.Join(err, tree.Release()))
	}
	return nil
}
