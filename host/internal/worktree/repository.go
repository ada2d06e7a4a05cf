package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/paths"
)

// repository is a repository as a session finds it that wants a worktree of it.
type repository struct {
	*git
	// top is the root of the worktree that the session is in, main that of the main one, and
	// common the directory of git's own that all share, as they really lie.
	top, main, common string
	// head is the commit that the main worktree is at.
	head string
}

// ErrNoRepository is that a directory is in no repository.
var ErrNoRepository = errors.New("it is in no git repository")

// find finds the repository of a directory. It refuses one in which a worktree would not work.
func find(ctx context.Context, program, dir string) (*repository, error) {
	g, err := newGit(ctx, program, dir)
	if err != nil {
		return nil, unusable(dir, err)
	}
	r := &repository{git: g}
	if err := r.places(ctx); err != nil {
		return nil, err
	}
	if !paths.Below(paths.Real(dir), r.top) {
		return nil, abi.Errorf(abi.CodeDenied, "the repository of %s says that its worktree is %s; correct core.worktree", dir, r.top)
	}
	if r.head, err = r.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "%s has no commit that a worktree could begin at: commit something first (%w)", r.main, err)
	}
	return r, nil
}

// unusable says why git cannot work in a directory.
func unusable(dir string, err error) error {
	switch {
	case said(err, "not a git repository"):
		return abi.Errorf(abi.CodeUnsupported, "%s: %w", dir, ErrNoRepository)
	case said(err, "dubious ownership"):
		return abi.Errorf(abi.CodeDenied, "git refuses the repository of %s, as it belongs to another user", dir)
	}
	return abi.Errorf(abi.CodeUnsupported, "git cannot work in %s: %w", dir, err)
}

// places finds where the repository lies.
func (r *repository) places(ctx context.Context) error {
	bare, err := r.line(ctx, "rev-parse", "--is-bare-repository")
	switch {
	case err != nil:
		return unusable(r.dir, err)
	case bare == "true":
		return abi.Errorf(abi.CodeUnsupported, "the repository of %s is bare, so it has no worktree to come from; clone it and work there", r.dir)
	}
	if inside, err := r.line(ctx, "rev-parse", "--is-inside-work-tree"); err != nil || inside != "true" {
		return abi.Errorf(abi.CodeUnsupported, "%s is inside a directory of git's own, not in a worktree", r.dir)
	}
	outer, err := r.line(ctx, "rev-parse", "--show-superproject-working-tree")
	if err != nil {
		return unusable(r.dir, err)
	}
	if outer != "" {
		return abi.Errorf(abi.CodeUnsupported, "%s is in a submodule of %s, and a worktree of a submodule would not work there; begin a session in %s", r.dir, outer, outer)
	}
	own := ""
	for flag, to := range map[string]*string{"--show-toplevel": &r.top, "--git-common-dir": &r.common, "--absolute-git-dir": &own} {
		if *to, err = r.line(ctx, "rev-parse", "--path-format=absolute", flag); err != nil {
			return unusable(r.dir, err)
		}
		*to = paths.Real(filepath.FromSlash(*to))
	}
	// Git would write what it keeps of a worktree wherever a link leads.
	if info, err := os.Lstat(filepath.Join(r.common, "worktrees")); err == nil && !info.IsDir() {
		return abi.Errorf(abi.CodeDenied, "%s is no directory; remove it", filepath.Join(r.common, "worktrees"))
	}
	if r.main = r.top; own != r.common {
		return r.findMain(ctx)
	}
	return nil
}

// findMain finds the main worktree from a linked one, and has git work there.
func (r *repository) findMain(ctx context.Context) error {
	trees, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	if len(trees) == 0 || trees[0].bare {
		return abi.Errorf(abi.CodeUnsupported, "the main repository of %s is bare, so it has no HEAD of its own to come from; clone it and work there", r.top)
	}
	main := paths.Real(trees[0].path)
	if info, err := os.Stat(main); err != nil || !info.IsDir() {
		return abi.Errorf(abi.CodeUnsupported, "the main worktree %s of the repository is not there (%w)", main, err)
	}
	if r.git, err = newGit(ctx, r.program, main); err != nil {
		return unusable(main, err)
	}
	r.main = main
	return nil
}

// line runs git and returns the one line that it prints.
func (g *git) line(ctx context.Context, args ...string) (string, error) {
	out, err := g.run(ctx, args...)
	return strings.TrimSuffix(strings.TrimSuffix(out, "\n"), "\r"), err
}

// linked is a worktree as git lists it.
type linked struct {
	path, head, branch string
	bare               bool
}

// worktrees lists the worktrees, the main one first.
func (g *git) worktrees(ctx context.Context) ([]linked, error) {
	out, err := g.run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var all []linked
	for line := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(line, " ")
		if key == "worktree" {
			all = append(all, linked{path: filepath.FromSlash(value)})
		}
		if len(all) == 0 {
			continue
		}
		switch last := &all[len(all)-1]; key {
		case "HEAD":
			last.head = value
		case "branch":
			last.branch = strings.TrimPrefix(value, "refs/heads/")
		case "bare":
			last.bare = true
		}
	}
	return all, nil
}

// taken returns the branch that keeps one of a name from being made; empty is none. Git keeps
// branches as files, so none can lie in another one, nor differ in case alone on some systems.
func (g *git) taken(ctx context.Context, branch string) (string, error) {
	out, err := g.run(ctx, "for-each-ref", "--format=%(refname)", "refs/heads/"+strings.TrimSuffix(branches, "/"))
	if err != nil {
		return "", err
	}
	wanted := strings.ToLower(branch) + "/"
	for line := range strings.Lines(out) {
		name := strings.TrimPrefix(strings.TrimSpace(line), "refs/heads/")
		folded := strings.ToLower(name) + "/"
		if strings.HasPrefix(folded, wanted) || strings.HasPrefix(wanted, folded) {
			return name, nil
		}
	}
	return "", nil
}

// tip is the commit that a branch is at; empty where there is no such branch. No branch lies in
// another one.
func (g *git) tip(ctx context.Context, branch string) (string, error) {
	out, err := g.line(ctx, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/"+branch)
	if commit, name, _ := strings.Cut(out, " "); name == "refs/heads/"+branch {
		return commit, err
	}
	return "", err
}
