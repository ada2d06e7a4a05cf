package worktree_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// TestRefused refuses repositories in which a worktree would not work, and names that are taken.
//
//nolint:thelper // what a case does is no helper
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at   func(t *testing.T) string
		name string
		says string
	}{
		"no repository": {func(t *testing.T) string { return t.TempDir() }, "x", "it is in no git repository"},
		"bare":          {func(t *testing.T) string { d := t.TempDir(); git(t, d, "init", "-q", "--bare"); return d }, "x", "bare"},
		"no commit":     {func(t *testing.T) string { d := t.TempDir(); git(t, d, "init", "-q"); return d }, "x", "no commit"},
		"inside .git":   {func(t *testing.T) string { return filepath.Join(repository(t), ".git") }, "x", "directory of git's own"},
		"broken": {func(t *testing.T) string {
			d := repository(t)
			write(t, filepath.Join(d, ".git", "config"), "[core\n")
			return d
		}, "x", "git cannot work in"},
		"no HEAD": {func(t *testing.T) string {
			d := repository(t)
			must(t, os.Remove(filepath.Join(d, ".git", "HEAD")))
			return d
		}, "x", "no git repository"},
		"another worktree": {func(t *testing.T) string {
			d := repository(t)
			git(t, d, "config", "core.worktree", t.TempDir())
			return d
		}, "x", "worktree"},
		"a submodule": {func(t *testing.T) string {
			d, inner := repository(t), repository(t)
			git(t, d, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
			return filepath.Join(d, "sub")
		}, "x", "is in a submodule"},
		"of a bare one": {func(t *testing.T) string {
			bare, linked := filepath.Join(t.TempDir(), "bare"), filepath.Join(t.TempDir(), "linked")
			git(t, repository(t), "clone", "-q", "--bare", ".", bare)
			git(t, bare, "worktree", "add", "-q", linked)
			return linked
		}, "x", "is bare"},
		"a link to elsewhere": {func(t *testing.T) string {
			d := repository(t)
			must(t, os.Symlink(t.TempDir(), filepath.Join(d, ".git", "worktrees")))
			return d
		}, "x", "is no directory"},
		"a bad name":         {repository, "..", "cannot be one of a worktree"},
		"a branch":           {func(t *testing.T) string { d := repository(t); git(t, d, "branch", "worktree/x"); return d }, "x", "there is a branch worktree/x already"},
		"another case":       {func(t *testing.T) string { d := repository(t); git(t, d, "branch", "worktree/X"); return d }, "x", "beside the branch worktree/X"},
		"a branch below":     {func(t *testing.T) string { d := repository(t); git(t, d, "branch", "worktree/x/y"); return d }, "x", "beside the branch worktree/x/y"},
		"a branch above":     {func(t *testing.T) string { d := repository(t); git(t, d, "branch", "worktree/x"); return d }, "x/y", "beside the branch worktree/x;"},
		"a branch, worktree": {func(t *testing.T) string { d := repository(t); git(t, d, "branch", "worktree"); return d }, "x", "beside the branch worktree;"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := store(t)
			_, _, err := s.Make(t.Context(), test.at(t), test.name, "s")
			if err == nil || !strings.Contains(err.Error(), test.says) || !slices.Contains([]abi.Code{abi.CodeUnsupported, abi.CodeInvalidInput, abi.CodeDenied}, abi.CodeOf(err)) {
				t.Errorf("got %v of %s, want %q", err, abi.CodeOf(err), test.says)
			}
			if all, foreign, err := s.All(); len(all)+len(foreign) > 0 || err != nil {
				t.Errorf("there is %q, %q, %v", all, foreign, err)
			}
		})
	}
}

// TestStates makes one of repositories that are odd and fine.
//
//nolint:thelper // what a case does is no helper
func TestStates(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(t *testing.T) string{
		"shallow": func(t *testing.T) string {
			from, d := repository(t), filepath.Join(t.TempDir(), "clone")
			commit(t, from, "a.txt", "two\n")
			git(t, from, "clone", "-q", "--depth=1", "file://"+filepath.ToSlash(from), d)
			return d
		},
		"a locked index": func(t *testing.T) string {
			d := repository(t)
			write(t, filepath.Join(d, ".git", "index.lock"), "")
			return d
		},
		"a rebase": func(t *testing.T) string {
			d := repository(t)
			git(t, d, "checkout", "-q", "-b", "side")
			commit(t, d, "b.txt", "b\n")
			git(t, d, "-c", "sequence.editor=sed -i -e s/^pick/edit/", "rebase", "-q", "-i", "main")
			git(t, d, "commit", "-q", "--amend", "--allow-empty", "-m", "stopped here")
			return d
		},
		"no branch": func(t *testing.T) string { d := repository(t); git(t, d, "checkout", "-q", "--detach"); return d },
		"dirty":     func(t *testing.T) string { d := repository(t); write(t, filepath.Join(d, "new"), ""); return d },
		"a git apart": func(t *testing.T) string {
			d := repository(t)
			git(t, d, "init", "-q", "--separate-git-dir="+filepath.Join(t.TempDir(), "apart"))
			return d
		},
		"extensions": func(t *testing.T) string {
			d := repository(t)
			git(t, d, "config", "extensions.worktreeConfig", "true")
			return d
		},
		"odd branches": func(t *testing.T) string { d := repository(t); git(t, d, "branch", "worktrees"); return d },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, s := at(t), store(t)
			tree := enter(t, s, dir, "x")
			if got, want := git(t, tree.Path, "rev-parse", "HEAD"), git(t, dir, "rev-parse", "HEAD"); got != want {
				t.Errorf("it is at %s, not %s", got, want)
			}
			remove(t, tree)
			wantGone(t, s, tree)
		})
	}
}

// TestNotes says what a worktree lacks.
func TestNotes(t *testing.T) {
	t.Parallel()
	main, inner, s := repository(t), repository(t), store(t)
	git(t, main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub")
	write(t, filepath.Join(main, ".gitattributes"), "*.bin filter=lfs\n*.png -filter\n")
	write(t, filepath.Join(main, "c.png"), "")
	commit(t, main, "b.bin", "version https://git-lfs.github.com/spec/v1\n")
	tree, notes, err := s.Make(t.Context(), main, "x", "s")
	must(t, err)
	if got := strings.Join(notes, "; "); !strings.Contains(got, `Files that filters make, such as those of Git LFS, hold what git has of them: "b.bin"`) || !strings.Contains(got, `Submodules are empty: "sub"`) {
		t.Errorf("it says %q", got)
	}
	git(t, tree.Path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	if lost, err := tree.Changes(t.Context()); err != nil || !strings.Contains(lost.String(), "submodules were checked out") {
		t.Errorf("it would lose %v, %v", lost, err)
	}
	remove(t, tree)
	wantGone(t, s, tree)
}
