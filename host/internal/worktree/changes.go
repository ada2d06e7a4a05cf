package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
)

// Changes are what would be lost with a worktree.
type Changes struct {
	// Files are what is not committed, as git status has it, without what git ignores. Underway
	// is something that was begun and not ended, such as a rebase.
	Files    []string
	Underway string
	// Commits counts those that no other branch, tag or worktree has, and Latest are some.
	Commits int
	Latest  []string
	// Tip is what the branch was at; empty where it is gone.
	tip string
}

// None reports whether nothing would be lost.
func (c *Changes) None() bool { return len(c.Files) == 0 && c.Commits == 0 && c.Underway == "" }

// String tells of them.
func (c *Changes) String() string {
	var all []string
	if len(c.Files) > 0 {
		all = append(all, fmt.Sprintf("%d uncommitted: %s", len(c.Files), listed(c.Files, len(c.Files))))
	}
	if c.Underway != "" {
		all = append(all, c.Underway)
	}
	if c.Commits > 0 {
		all = append(all, fmt.Sprintf("%d committed nowhere else: %s", c.Commits, listed(c.Latest, c.Commits)))
	}
	return strings.Join(all, "; ")
}

// maxListed bounds how many files and commits are told.
const maxListed = 20

func listed(names []string, all int) string {
	shown := names[:min(len(names), maxListed)]
	text := visible.Line(strings.Join(shown, ", "))
	if more := all - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Changes finds out what would be lost. An error is that it is not known.
func (t *Tree) Changes(ctx context.Context) (*Changes, error) {
	c, err := t.changes(ctx)
	if err != nil {
		return nil, abi.Errorf(abi.CodeChanged, "what would be lost with the worktree %s is not known: %w", t.Path, err)
	}
	return c, nil
}

func (t *Tree) changes(ctx context.Context) (*Changes, error) {
	if t.hooked() {
		return nil, errors.New("a hook made it")
	}
	program, err := t.store.Git()
	if err != nil {
		return nil, err
	}
	switch info, err := os.Lstat(t.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return t.withoutFiles(ctx, program)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("it is no directory")
	}
	g, err := t.git(ctx, program)
	if err != nil {
		return nil, err
	}
	status, err := g.run(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return nil, err
	}
	c := &Changes{Files: split(status)}
	if err := t.unseen(ctx, g, c); err != nil {
		return nil, err
	}
	if c.Underway, err = t.underway(ctx, g); err != nil {
		return nil, err
	}
	return c, t.commits(ctx, g, c, "HEAD", "--glob=refs/worktree/*")
}

// withoutFiles are the changes where somebody has removed the directory: the commits of its branch,
// and of the HEAD that git may still know.
func (t *Tree) withoutFiles(ctx context.Context, program string) (*Changes, error) {
	g, err := newGit(ctx, program, t.Common)
	if err != nil {
		return nil, err
	}
	trees, err := g.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var heads []string
	for _, tree := range trees {
		if tree.path == t.Path && strings.Trim(tree.head, "0") != "" {
			heads = append(heads, tree.head)
		}
	}
	c := &Changes{}
	return c, t.commits(ctx, g, c, heads...)
}

// unseen adds the files that git was told to take for unchanged, as status leaves them out. A
// worktree that was made here has none; those that are not checked out are not there.
func (t *Tree) unseen(ctx context.Context, g *git, c *Changes) error {
	all, err := g.run(ctx, "ls-files", "-v", "-z")
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(all, "\x00") {
		mark, name, _ := strings.Cut(line, " ")
		if mark == "" || mark != "S" && strings.ToUpper(mark) == mark {
			continue
		}
		if _, err := os.Lstat(filepath.Join(t.Path, filepath.FromSlash(name))); err == nil {
			c.Files = append(c.Files, name+" (git update-index hides its changes)")
		}
	}
	return nil
}

// underway is what was begun in a worktree and not ended; empty is nothing.
func (t *Tree) underway(ctx context.Context, g *git) (string, error) {
	own, err := g.line(ctx, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return "", err
	}
	for _, of := range []struct{ file, what string }{
		{"rebase-merge", "a rebase is under way"}, {"rebase-apply", "a rebase is under way"}, {"MERGE_HEAD", "a merge is under way"},
		{"CHERRY_PICK_HEAD", "a cherry-pick is under way"}, {"REVERT_HEAD", "a revert is under way"}, {"BISECT_LOG", "a bisection is under way"},
		{"modules", "submodules were checked out"},
	} {
		if _, err := os.Lstat(filepath.Join(own, of.file)); err == nil {
			return of.what, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

// commits finds those that would be lost with the worktree and its branch, of what it holds.
func (t *Tree) commits(ctx context.Context, g *git, c *Changes, of ...string) error {
	trees, err := g.worktrees(ctx)
	if err != nil {
		return err
	}
	if c.tip, err = g.tip(ctx, t.Branch); err != nil {
		return err
	}
	if c.tip != "" {
		of = append(of, c.tip)
	}
	if len(of) == 0 {
		return nil
	}
	of = append(of, "--not", "--exclude="+t.Branch, "--branches", "--tags", "--remotes")
	for _, tree := range trees {
		if tree.path != t.Path && strings.Trim(tree.head, "0") != "" {
			of = append(of, tree.head)
		}
	}
	out, err := g.line(ctx, append([]string{"rev-list", "--count"}, of...)...)
	if err != nil {
		return err
	}
	if c.Commits, err = strconv.Atoi(out); err != nil || c.Commits == 0 {
		return err
	}
	out, err = g.run(ctx, append([]string{"log", "-z", "--format=%h %<(100,trunc)%s", "--max-count=" + strconv.Itoa(maxListed)}, of...)...)
	for _, line := range split(out) {
		c.Latest = append(c.Latest, strings.TrimSpace(line))
	}
	return err
}
