package worktree

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
)

// Remove removes the worktree and its branch with all that [Tree.Changes] found, and ends the
// lock. It fails, and leaves everything, where something has changed since. Of a worktree of which
// it is not known what would be lost, lost is nil, and nothing is compared.
func (t *Tree) Remove(ctx context.Context, lost *Changes) error {
	if t.hooked() {
		return nil // which is for a hook to do
	}
	if lost != nil {
		now, err := t.Changes(ctx)
		if err != nil {
			return err
		}
		if now.String() != lost.String() || now.tip != lost.tip {
			return abi.Errorf(abi.CodeChanged, "the worktree %s has changed meanwhile, and is left as it is: %s", t.Path, now)
		}
		t.Tip = cmp.Or(lost.tip, noTip)
	}
	if err := t.write(Removing); err != nil {
		return err
	}
	return t.remove(context.WithoutCancel(ctx)) // half of it is of no use to anybody
}

// noTip is the tip of a branch that is not there: one of the name that comes later is another's.
const noTip = "none"

// remove removes what there is of the worktree. After an error the next one goes on.
func (t *Tree) remove(ctx context.Context) error {
	if t.Branch == "" { // a process was killed before it did anything
		return t.forget()
	}
	if _, err := os.Stat(t.Common); errors.Is(err, fs.ErrNotExist) {
		return t.clear() // the repository is gone
	}
	if lies := paths.Real(t.Common); lies != t.Common {
		return abi.Errorf(abi.CodeChanged, "%s is a link to %s now, and the worktree %s is left as it is", t.Common, lies, t.Path)
	}
	if err := removeAll(t.Path); err != nil {
		return abi.Errorf(abi.CodeIO, "the worktree %s cannot be removed: %w", t.Path, err)
	}
	if err := t.unlink(); err != nil {
		return err
	}
	program, err := t.store.Git()
	if err != nil {
		return err
	}
	g, err := newGit(ctx, program, t.Common)
	if err != nil {
		return unusable(t.Common, err)
	}
	if err := t.dropBranch(ctx, g); err != nil {
		return err
	}
	return t.forget()
}

// unlink removes what git keeps of the worktree, in its own directory. Git itself would not while
// a killed git has left a half of that, and does nothing else in the repository then.
func (t *Tree) unlink() error {
	const all = "worktrees"
	// Commands in the worktree may write in there: a link must not lead out of it.
	common, err := os.OpenRoot(t.Common)
	if err != nil {
		return err
	}
	defer func() { _ = common.Close() }() // it was only a way to the directories
	entries, err := fs.ReadDir(common.FS(), all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		own := filepath.Join(all, e.Name())
		if e.IsDir() && t.owns(common, own) {
			err = errors.Join(err, common.RemoveAll(own))
		}
	}
	_ = common.Remove(all) // it fails where there is more in it
	return err
}

// owns reports whether a directory of git's own is that of the worktree, which it names. One that
// names none yet has its name, with a number behind it at most, and was locked by this program.
func (t *Tree) owns(common *os.Root, own string) bool {
	names, err := common.ReadFile(filepath.Join(own, "gitdir"))
	mark := filepath.FromSlash(strings.TrimRight(string(names), "\r\n"))
	if err == nil && mark != "" {
		if !filepath.IsAbs(mark) { // by worktree.useRelativePaths
			mark = filepath.Join(t.Common, own, mark)
		}
		return filepath.Clean(mark) == filepath.Join(t.Path, ".git")
	}
	rest, is := strings.CutPrefix(filepath.Base(own), filepath.Base(t.Path))
	why, _ := common.ReadFile(filepath.Join(own, "locked"))
	return is && strings.Trim(rest, "0123456789") == "" && (len(why) == 0 || strings.HasPrefix(string(why), reason))
}

// dropBranch removes the branch, unless another worktree has it, or it is not where it was left:
// then somebody else has made it, or gone on with it.
func (t *Tree) dropBranch(ctx context.Context, g *git) error {
	trees, err := g.worktrees(ctx)
	if err != nil {
		return err
	}
	elsewhere := slices.ContainsFunc(trees, func(tree linked) bool { return tree.branch == t.Branch })
	tip, err := g.tip(ctx, t.Branch)
	left := t.Tip
	if t.State == Making {
		left = t.Base
	}
	if err != nil || tip == "" || elsewhere || left != "" && tip != left {
		return err
	}
	_, err = g.run(ctx, "branch", "-D", "--", t.Branch)
	return err
}

// clear removes what is left where the worktree was, and its record.
func (t *Tree) clear() error {
	if err := removeAll(t.Path); err != nil {
		return abi.Errorf(abi.CodeIO, "the worktree %s cannot be removed: %w", t.Path, err)
	}
	return t.forget()
}

// removeAll removes a directory with all that is in it, also where directories in it cannot be
// written. It follows no links.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only a way to the directories
	_ = fs.WalkDir(root.FS(), filepath.Base(path), func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = root.Chmod(filepath.FromSlash(name), 0o700) // where it fails, so does the removal
		}
		return nil
	})
	return os.RemoveAll(path)
}
