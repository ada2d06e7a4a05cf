package worktree_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/worktree"
	"github.com/toolquay/toolquay/internal/testenv"
)

// git runs the git of a person in a directory.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(testenv.NeedTool(t, "git"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// repository is one with a commit of a file, as it really lies.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	git(t, dir, "init", "-q", "-b", "main")
	commit(t, dir, "a.txt", "one\n")
	return dir
}

func commit(t *testing.T, dir, name, content string) {
	t.Helper()
	write(t, filepath.Join(dir, name), content)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "change "+name)
}

func store(t *testing.T) *worktree.Store {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	program := testenv.NeedTool(t, "git")
	return &worktree.Store{Dir: filepath.Join(dir, "worktrees"), Git: func() (string, error) { return program, nil }}
}

func enter(t *testing.T, s *worktree.Store, dir, name string) *worktree.Tree {
	t.Helper()
	tree, _, err := s.Make(t.Context(), dir, name, "s1")
	must(t, err)
	return tree
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// wantGone holds that nothing is left of a worktree, and that the repository is as it was.
func wantGone(t *testing.T, s *worktree.Store, tree *worktree.Tree) {
	t.Helper()
	all, foreign, err := s.All()
	must(t, err)
	if exists(tree.Path) || len(all)+len(foreign) > 0 {
		t.Errorf("there is %s: %v, with %q and %q", tree.Path, exists(tree.Path), all, foreign)
	}
	if branches := git(t, tree.Main, "branch", "--list", "worktree/*"); branches != "" {
		t.Errorf("there are branches %q", branches)
	}
	if list := git(t, tree.Main, "worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		t.Errorf("there are worktrees: %s", list)
	}
}

func remove(t *testing.T, tree *worktree.Tree) {
	t.Helper()
	lost, err := tree.Changes(t.Context())
	must(t, err)
	must(t, tree.Remove(t.Context(), lost))
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "fix-login", "fix/login", "a.b", "_", "0", "a/b/c", "A-._z", strings.Repeat("a", worktree.MaxName)} {
		if err := worktree.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		git(t, t.TempDir(), "check-ref-format", "--branch", "worktree/"+name)
	}
	for _, name := range []string{
		"", "/", "a/", "/a", "a//b", ".", "..", "a/..", "../a", "a/../b", ".a", "a.", "a..b", "-a", "a/-b", "a.lock", "a.LOCK/b", "a b", "a\tb", "a\x00", "a\x1b[31m",
		"a@{b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "ä", "a+b", "\u202ea", "$(a)", "`a`", "a\n", strings.Repeat("a", worktree.MaxName+1),
	} {
		if err := worktree.CheckName(name); abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), "name") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzName(f *testing.F) {
	for _, name := range []string{"a", "a/b", "a.lock", "..", "a+b"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if worktree.CheckName(name) != nil {
			return
		}
		if clean := filepath.ToSlash(filepath.Join("x", name)); clean != "x/"+name || strings.ContainsAny(name, "+ ~^:?*[\\@{") || len(name) > worktree.MaxName {
			t.Errorf("%q is taken", name)
		}
	})
}

// TestMakeAndRemove makes one from a sub-directory and from a linked worktree, and removes it.
func TestMakeAndRemove(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	commit(t, main, "sub/b.txt", "b\n")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, main, "worktree", "add", "-q", "-b", "other", linked)
	for _, from := range []string{main, filepath.Join(main, "sub"), linked} {
		tree := enter(t, s, from, "fix/login")
		if tree.Main != main || tree.Branch != "worktree/fix/login" || tree.State != worktree.Made || filepath.Base(tree.Path) != "fix+login" {
			t.Errorf("from %s: %+v", from, tree.Record)
		}
		if text, err := os.ReadFile(filepath.Join(tree.Path, "sub", "b.txt")); err != nil || string(text) != "b\n" {
			t.Errorf("it holds %q, %v", text, err)
		}
		if got := git(t, tree.Path, "symbolic-ref", "HEAD"); got != "refs/heads/worktree/fix/login" {
			t.Errorf("it is on %s", got)
		}
		lost, err := tree.Changes(t.Context())
		if err != nil || !lost.None() {
			t.Errorf("a new one has %v, %v", lost, err)
		}
		must(t, tree.Remove(t.Context(), lost))
	}
	git(t, main, "worktree", "remove", linked)
	tree := enter(t, s, main, "")
	if err := worktree.CheckName(tree.Name); err != nil || len(tree.Name) > 20 {
		t.Errorf("the name %q was made up: %v", tree.Name, err)
	}
	remove(t, tree)
	wantGone(t, s, tree)
}

// TestChanges finds what would be lost, and nothing else.
//
//nolint:thelper // what a case does is no helper
func TestChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(t *testing.T, tree *worktree.Tree)
		want string
	}{
		"nothing":   {func(*testing.T, *worktree.Tree) {}, ""},
		"untracked": {func(t *testing.T, tree *worktree.Tree) { write(t, filepath.Join(tree.Path, "new"), "") }, "1 uncommitted: ?? new"},
		"changed":   {func(t *testing.T, tree *worktree.Tree) { write(t, filepath.Join(tree.Path, "a.txt"), "two\n") }, "1 uncommitted:  M a.txt"},
		"removed":   {func(t *testing.T, tree *worktree.Tree) { must(t, os.Remove(filepath.Join(tree.Path, "a.txt"))) }, "1 uncommitted:  D a.txt"},
		"staged": {func(t *testing.T, tree *worktree.Tree) {
			write(t, filepath.Join(tree.Path, "new"), "")
			git(t, tree.Path, "add", "new")
		}, "1 uncommitted: A  new"},
		"ignored": {func(t *testing.T, tree *worktree.Tree) {
			commit(t, tree.Main, "unrelated", "")
			write(t, filepath.Join(tree.Common, "info", "exclude"), "build/\n")
			write(t, filepath.Join(tree.Path, "build", "a.o"), "")
		}, ""},
		"a line break in a name": {func(t *testing.T, tree *worktree.Tree) { write(t, filepath.Join(tree.Path, "a\n?? b"), "") }, `1 uncommitted: ?? a\n?? b`},
		"committed":              {func(t *testing.T, tree *worktree.Tree) { commit(t, tree.Path, "a.txt", "two\n") }, "1 committed nowhere else: "},
		"committed and merged": {func(t *testing.T, tree *worktree.Tree) {
			commit(t, tree.Path, "a.txt", "two\n")
			git(t, tree.Main, "merge", "-q", tree.Branch)
		}, ""},
		"committed and pushed": {func(t *testing.T, tree *worktree.Tree) {
			commit(t, tree.Path, "a.txt", "two\n")
			git(t, tree.Path, "update-ref", "refs/remotes/origin/x", "HEAD")
		}, ""},
		"on no branch": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Path, "checkout", "-q", "--detach")
			commit(t, tree.Path, "a.txt", "two\n")
		}, "1 committed nowhere else: "},
		"on another branch": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Path, "checkout", "-q", "-b", "kept")
			commit(t, tree.Path, "a.txt", "two\n")
		}, ""},
		"the branch is gone": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Path, "checkout", "-q", "--detach")
			git(t, tree.Path, "branch", "-D", tree.Branch)
		}, ""},
		"a merge": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Path, "commit", "-q", "--allow-empty", "-m", "x")
			git(t, tree.Main, "commit", "-q", "--allow-empty", "-m", "y")
			git(t, tree.Path, "merge", "-q", "--no-commit", "main")
		}, "a merge is under way"},
		"kept by a ref of its own": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Path, "checkout", "-q", "--detach")
			commit(t, tree.Path, "a.txt", "two\n")
			git(t, tree.Path, "update-ref", "refs/worktree/kept", "HEAD")
			git(t, tree.Path, "checkout", "-q", tree.Branch)
		}, "1 committed nowhere else: "},
		"taken for unchanged": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Path, "update-index", "--assume-unchanged", "a.txt")
			write(t, filepath.Join(tree.Path, "a.txt"), "two\n")
		}, "1 uncommitted: a.txt (git update-index hides its changes)"},
		"skipped": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Path, "update-index", "--skip-worktree", "a.txt")
			write(t, filepath.Join(tree.Path, "a.txt"), "two\n")
		}, "1 uncommitted: a.txt (git update-index hides its changes)"},
		"not checked out": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Path, "update-index", "--skip-worktree", "a.txt")
			must(t, os.Remove(filepath.Join(tree.Path, "a.txt")))
		}, ""},
		"the directory is gone": {func(t *testing.T, tree *worktree.Tree) { must(t, os.RemoveAll(tree.Path)) }, ""},
		"the directory is gone, and git has forgotten it": {func(t *testing.T, tree *worktree.Tree) {
			git(t, tree.Main, "worktree", "remove", "-f", "-f", tree.Path)
			git(t, tree.Main, "branch", "-D", tree.Branch)
		}, ""},
		"the directory is gone, not its commits": {func(t *testing.T, tree *worktree.Tree) {
			commit(t, tree.Path, "a.txt", "two\n")
			git(t, tree.Path, "checkout", "-q", "--detach")
			commit(t, tree.Path, "a.txt", "three\n")
			must(t, os.RemoveAll(tree.Path))
		}, "2 committed nowhere else: "},
		"linked by a relative path": {func(t *testing.T, tree *worktree.Tree) {
			own := filepath.Join(tree.Common, "worktrees", "x")
			rel, err := filepath.Rel(own, filepath.Join(tree.Path, ".git"))
			must(t, err)
			must(t, os.RemoveAll(tree.Path)) // this git follows none
			write(t, filepath.Join(own, "gitdir"), rel+"\n")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			main, s := repository(t), store(t)
			tree := enter(t, s, main, "x")
			test.do(t, tree)
			lost, err := tree.Changes(t.Context())
			if err != nil || lost.None() != (test.want == "") || !strings.Contains(lost.String(), test.want) {
				t.Fatalf("found %q, %v; want %q", lost, err, test.want)
			}
			must(t, tree.Remove(t.Context(), lost))
			if name == "on another branch" {
				git(t, main, "branch", "-D", "kept")
			}
			wantGone(t, s, tree)
		})
	}
}

// TestUnknown says that it does not know what would be lost, rather than that nothing would.
//
//nolint:thelper // what a case does is no helper
func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, tree *worktree.Tree){
		"no .git": func(t *testing.T, tree *worktree.Tree) { must(t, os.Remove(filepath.Join(tree.Path, ".git"))) },
		"another .git": func(t *testing.T, tree *worktree.Tree) {
			write(t, filepath.Join(tree.Path, ".git"), "gitdir: "+filepath.Join(repository(t), ".git"))
		},
		"a broken index": func(t *testing.T, tree *worktree.Tree) {
			write(t, filepath.Join(tree.Common, "worktrees", "x", "index"), "junk")
		},
		"a broken HEAD": func(t *testing.T, tree *worktree.Tree) {
			write(t, filepath.Join(tree.Common, "worktrees", "x", "HEAD"), "junk")
		},
		"a moved project":  func(t *testing.T, tree *worktree.Tree) { must(t, os.Rename(tree.Main, tree.Main+"2")) },
		"an unborn branch": func(t *testing.T, tree *worktree.Tree) { git(t, tree.Path, "symbolic-ref", "HEAD", "refs/heads/none") },
		"a link": func(t *testing.T, tree *worktree.Tree) {
			must(t, os.RemoveAll(tree.Path))
			must(t, os.Symlink(tree.Main, tree.Path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			main, s := repository(t), store(t)
			tree := enter(t, s, main, "x")
			spoil(t, tree)
			if lost, err := tree.Changes(t.Context()); abi.CodeOf(err) != abi.CodeChanged {
				t.Errorf("it would lose %v, %v", lost, err)
			}
			must(t, tree.Remove(t.Context(), nil)) // somebody wants it gone all the same
			if exists(tree.Path) || !exists(filepath.Join(main, "a.txt")) && !exists(filepath.Join(main+"2", "a.txt")) {
				t.Error("the wrong files are gone")
			}
		})
	}
}

// TestForeignStays takes no name under which something else lies, and leaves that.
func TestForeignStays(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	other := enter(t, s, main, "other")
	must(t, os.Chmod(filepath.Dir(other.Path), 0o755)) // as where a file of a removed worktree was given back
	must(t, enter(t, s, main, "more").Release())
	for _, name := range []string{"x", "x.json"} {
		file := filepath.Join(filepath.Dir(other.Path), name, "precious")
		write(t, file, "mine\n")
		if _, _, err := s.Make(t.Context(), main, name, "s"); abi.CodeOf(err) != abi.CodeInvalidInput || !exists(file) {
			t.Errorf("%s: %v; it is there: %v", name, err, exists(file))
		}
	}
}

// TestBranchOfAnother leaves a branch that came where that of a worktree was gone, when what is left
// of the worktree is removed later.
func TestBranchOfAnother(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	program, err := s.Git()
	must(t, err)
	tree := enter(t, s, main, "x")
	git(t, tree.Path, "checkout", "-q", "--detach")
	git(t, tree.Path, "branch", "-D", tree.Branch)
	lost, err := tree.Changes(t.Context())
	must(t, err)
	asked := 0
	s.Git = func() (string, error) { // for what would be lost, and then for the removal
		if asked++; asked > 1 {
			return "", errors.New("no git now")
		}
		return program, nil
	}
	if err := tree.Remove(t.Context(), lost); err == nil || tree.State != worktree.Removing {
		t.Fatalf("it is %s: %v", tree.State, err)
	}
	must(t, tree.Release())
	git(t, main, "branch", tree.Branch)
	s.Git = func() (string, error) { return program, nil }
	left, err := s.Open(tree.Path)
	must(t, err)
	must(t, left.Remove(t.Context(), nil))
	if got := git(t, main, "branch", "--list", tree.Branch); got == "" {
		t.Error("the branch of another is gone")
	}
}

// TestTaken has two want one name at once, and one come after another.
func TestTaken(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	var all sync.WaitGroup
	trees := make(chan *worktree.Tree, 8)
	for range 8 {
		all.Go(func() {
			tree, _, err := s.Make(context.Background(), main, "x", "s")
			if err == nil {
				trees <- tree
			} else if abi.CodeOf(err) != abi.CodeInvalidInput {
				t.Errorf("one of two: %v of %s", err, abi.CodeOf(err))
			}
		})
	}
	all.Wait()
	if len(trees) != 1 {
		t.Fatalf("%d have it", len(trees))
	}
	tree := <-trees
	if _, err := s.Open(tree.Path); !errors.Is(err, worktree.ErrInUse) {
		t.Errorf("it was opened twice: %v", err)
	}
	must(t, tree.Release())
	git(t, main, "branch", "-m", "worktree/x", "renamed")
	for _, name := range []string{"x", "X"} {
		if _, _, err := s.Make(t.Context(), main, name, "s"); abi.CodeOf(err) != abi.CodeInvalidInput || !strings.Contains(err.Error(), "choose another name") {
			t.Errorf("%s over one that is there: %v", name, err)
		}
	}
	again, err := s.Open(tree.Path)
	must(t, err)
	if again.Record != tree.Record {
		t.Errorf("the record is %+v, was %+v", again.Record, tree.Record)
	}
	remove(t, again)
	if git(t, main, "branch", "--list", "renamed") == "" {
		t.Error("a branch that somebody renamed is gone")
	}
	if _, err := s.Open(tree.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was opened when it was gone: %v", err)
	}
}

// TestChangedMeanwhile does not remove what was not seen.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	tree := enter(t, s, main, "x")
	lost, err := tree.Changes(t.Context())
	must(t, err)
	commit(t, tree.Path, "new", "")
	if err := tree.Remove(t.Context(), lost); abi.CodeOf(err) != abi.CodeChanged || !exists(filepath.Join(tree.Path, "new")) {
		t.Errorf("it was removed: %v", err)
	}
}

// TestBranchElsewhere keeps a branch that another worktree has.
func TestBranchElsewhere(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	tree := enter(t, s, main, "x")
	git(t, tree.Path, "checkout", "-q", "--detach")
	git(t, main, "checkout", "-q", tree.Branch)
	remove(t, tree)
	if got := git(t, main, "symbolic-ref", "--short", "HEAD"); got != tree.Branch || exists(tree.Path) {
		t.Errorf("the main worktree is on %s", got)
	}
}

// TestLinksOfGit follows no links out of the repository to what git keeps of a worktree.
func TestLinksOfGit(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"worktrees", ""} {
		main, s := repository(t), store(t)
		away := t.TempDir()
		tree := enter(t, s, main, "x")
		target, file := away, filepath.Join(away, "x", "precious")
		if link == "" {
			file = filepath.Join(away, "worktrees", "x", "precious")
		}
		write(t, file, "mine\n")
		at := filepath.Join(tree.Common, link)
		must(t, os.Rename(at, at+"2"))
		must(t, os.Symlink(target, at))
		err := tree.Remove(t.Context(), nil)
		if err == nil || !exists(file) {
			t.Errorf("%s led away: %v; it is there: %v", at, err, exists(file))
		}
	}
}

// TestLinksOut removes links and not what they lead to.
func TestLinksOut(t *testing.T) {
	t.Parallel()
	main, s, outside := repository(t), store(t), t.TempDir()
	write(t, filepath.Join(outside, "kept"), "")
	tree := enter(t, s, main, "x")
	must(t, os.Symlink(outside, filepath.Join(tree.Path, "out")))
	remove(t, tree)
	wantGone(t, s, tree)
	if !exists(filepath.Join(outside, "kept")) {
		t.Error("what a link leads to is gone")
	}
}

// TestPruneLeavesIt has git tidy up where it does not see the worktree.
func TestPruneLeavesIt(t *testing.T) {
	t.Parallel()
	main, s := repository(t), store(t)
	tree := enter(t, s, main, "x")
	away := tree.Path + "-away"
	must(t, os.Rename(tree.Path, away))
	git(t, main, "worktree", "prune", "--expire=now")
	git(t, main, "gc", "-q", "--prune=now")
	must(t, os.Rename(away, tree.Path))
	remove(t, tree)
	wantGone(t, s, tree)
}
