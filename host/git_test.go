package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// gitWorld is a repository with a remote, in two working directories of a session.
type gitWorld struct {
	*shelled
	session                 *host.Session
	root, work, remote, lib string
}

// git runs git outside, as the person would.
func (w *gitWorld) git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.Command(testenv.NeedTool(tb, "git"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+w.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=P", "GIT_AUTHOR_EMAIL=p@example.com", "GIT_COMMITTER_NAME=P", "GIT_COMMITTER_EMAIL=p@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func newGitWorld(tb testing.TB) *gitWorld {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	must(tb, err)
	w := &gitWorld{shelled: newShelled(tb), root: root, work: root + "/work", remote: root + "/remotes/origin.git", lib: root + "/remotes/lib.git"}
	must(tb, os.MkdirAll(root+"/remotes", 0o755))
	must(tb, os.WriteFile(w.home+"/.gitconfig", []byte("[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"), 0o644))
	for _, bare := range []string{w.remote, w.lib} {
		w.git(tb, root, "init", "-q", "--bare", bare)
		seed := bare + ".seed"
		w.git(tb, root, "clone", "-q", bare, seed)
		for _, name := range []string{"one", "two"} {
			must(tb, os.WriteFile(seed+"/"+name, []byte(name+"\n"), 0o644))
		}
		must(tb, os.WriteFile(seed+"/.gitignore", []byte("*.o\n"), 0o644))
		w.git(tb, seed, "add", ".")
		w.git(tb, seed, "commit", "-qm", "first")
		w.git(tb, seed, "push", "-q", "origin", "HEAD:main", "HEAD:topic")
		must(tb, os.RemoveAll(seed))
	}
	w.git(tb, root, "clone", "-q", w.remote, w.work)
	w.session = session(tb, w.Host, host.SessionOptions{Cwd: w.work, AdditionalDirs: []string{root + "/remotes"}})
	return w
}

// gitRow is a command of a day with git, in the sandbox: what it tells the model, or begins
// its note with.
type gitRow struct {
	command string
	// failed says that it ends with another status than 0.
	failed bool
	told   []string
	// writes says that it writes the repository's configuration. Where the sandbox shows no
	// copies of files, the note says so instead, and nothing else of the row holds.
	writes bool
}

// gitDay is what works in a repository, and what does not with its reason, in this order.
var gitDay = []gitRow{
	{command: "git status --short --branch", told: []string{"## main...origin/main"}},
	{command: "echo a >a && git add a && git commit -m a", told: []string{"1 file changed", "hook ran"}},
	{command: "echo b >b && git add -A && git commit -qm b; git log --oneline", told: []string{" b\n", " first"}},
	{command: "echo c >>b && git commit -qa --amend --no-edit && git show --stat HEAD", told: []string{"b | 2 ++"}},
	{command: "git push", told: []string{"main -> main"}},
	{command: "git checkout -b side && git commit --allow-empty -qm s", told: []string{"Switched to a new branch 'side'"}},
	{command: "git push -u origin side", told: []string{"set up to track 'origin/side'"}, writes: true},
	{command: "git push origin side", told: []string{"Everything up-to-date"}},
	{command: "git checkout -b x origin/topic && git pull -q", told: []string{"set up to track 'origin/topic'"}, writes: true},
	{command: "git checkout -q main && git branch -u origin/topic && git branch -u origin/main", told: []string{"set up to track 'origin/main'"}, writes: true},
	{command: "git branch -m x z", writes: true},
	{command: "git branch -D z", told: []string{"Deleted branch z"}, writes: true},
	{command: "git config user.name B && git config user.name && git config --unset user.name", told: []string{"B"}, writes: true},
	{command: "git config alias.x '!echo'", told: []string{"Not taken over into .git/config: alias.x."}, writes: true},
	{command: "git remote add up https://example.com/x.git && git remote", told: []string{"origin\nup"}, writes: true},
	{command: "git remote set-url origin https://example.com/x.git", told: []string{"Not taken over into .git/config: remote.origin.url."}, writes: true},
	{command: "git config --global user.name x", failed: true, told: []string{"Commands cannot change the user's own settings of git"}},
	{command: "git fetch --prune origin && git pull --rebase origin main", told: []string{"up to date"}},
	{command: "git merge --no-ff side -m merged", told: []string{"Merge made"}},
	{command: "git checkout -q -b t HEAD~1 && echo t >t && git add t && git commit -qm t && git rebase main", told: []string{"Successfully rebased"}},
	{command: "git checkout -q main && git cherry-pick t && git revert --no-edit HEAD", told: []string{"1 file changed"}},
	{command: "git reset -q --hard HEAD~2 && git status --short"},
	{command: "git tag v1 && git tag -a v2 -m v2 && git push --tags && git describe", told: []string{"v1 -> v1", "\nv2"}},
	{command: "git bisect start HEAD v1~1 && git bisect run true; git bisect reset", told: []string{"bisect"}},
	{command: "printf '1\n2\n' >>a; echo y | git add -p && git diff --cached --stat", told: []string{"a | 2 ++"}},
	{command: "git stash && git stash list && git stash pop && git restore --staged a && git restore a", told: []string{"stash@{0}", "Dropped"}},
	{command: "echo a >>a && touch new && git stash -u && git stash pop && git checkout -q a", told: []string{"Saved", "Dropped"}},
	{command: "touch new.o && git clean -fd && git clean -fdX && git status --short --ignored", told: []string{"Removing new\n", "Removing new.o"}},
	{command: "git rm -q one && git mv two three && git commit -qm moved && git blame three", told: []string{"hook ran", ") two"}},
	{command: "git format-patch -q -1 -o /tmp/p && git reset -q --hard HEAD~1 && git am -q /tmp/p/*.patch && git log -1 --format=%s", told: []string{"moved"}},
	{command: "git gc -q && git reflog expire --expire=now --all && git repack -adq && git fsck && git pack-refs --all && git maintenance run"},
	{command: "git notes add -m n && git replace -l && git archive HEAD | tar t", told: []string{"three"}},
	{command: "echo x >conflict && git add . && git commit -qm c1 && git checkout -q -b other HEAD~1 && echo y >conflict && git add . && git commit -qm c2; git merge main", failed: true, told: []string{"CONFLICT"}},
	{command: "echo z >conflict && git add conflict && git commit -qm solved && git status --short && git log -1 --format=%s", told: []string{"solved"}},
	{command: "git -c user.useConfigOnly=true -c user.name= -c user.email= commit --allow-empty -m x", failed: true, told: []string{"Git knows no name and address to commit with"}},
	{command: "git -c user.name=C -c user.email=c@example.com commit --allow-empty -qm x && git log -1 --format=%ae", told: []string{"c@example.com"}},
	{command: "git submodule add $LIB lib && git commit -qm sub", told: []string{"Not taken over into .git/config: submodule.lib.url"}, writes: true},
	{command: "cat .gitmodules; git -C lib log --oneline", told: []string{`[submodule "lib"]`, " first"}},
	{command: "git checkout -q v2 && git checkout -q other && cat .gitmodules", told: []string{`[submodule "lib"]`}},
	{command: "git submodule update --init", told: []string{"Not taken over into .git/config: submodule.lib.active, submodule.lib.url"}, writes: true},
	{command: "git worktree add -q inner && cd inner && echo x>x && git add x && git commit -qm x; git log --oneline -1", told: []string{" x", "New since this command began: .git/worktrees/inner/commondir, inner/.git"}},
	{command: "cd $WORK; git worktree list", told: []string{"[inner]"}},
	{command: "git worktree add $HOME/wt", failed: true, told: []string{"It ran in a sandbox in which only"}},
	{command: "git worktree remove --force inner", failed: true, told: []string{"inner cannot be moved or removed by commands"}},
	{command: "git clone -q $LIB clone && cd clone && git commit --allow-empty -qm y && git push -q -u origin HEAD:new; git branch -vv", told: []string{"[origin/new]"}},
}

// TestGitDay runs a day of git in the sandbox.
func TestGitDay(t *testing.T) {
	t.Parallel()
	w := newGitWorld(t)
	config := contentOf(w.work + "/.git/config")
	testenv.WriteProgram(t, w.work+"/.git/hooks/pre-commit", []byte("#!/bin/sh\necho hook ran\necho escaped >$HOME/escaped\nexit 0\n"))
	copies := !strings.Contains(told(t, w.session, "git config pull.ff only"), noSettings)
	for _, row := range gitDay {
		command := strings.NewReplacer("$LIB", w.lib, "$WORK", w.work, "$HOME", w.home).Replace(row.command)
		got := told(t, w.session, command)
		if row.writes && !copies {
			row.failed, row.told = strings.Contains(got, "[exit status"), []string{noSettings}
		}
		if failed := strings.Contains(got, "[exit status"); failed != row.failed {
			t.Errorf("$ %s\nfailed is %t:\n%s", command, failed, got)
		}
		for _, want := range row.told {
			if !strings.Contains(got, want) {
				t.Errorf("$ %s\ntells nothing of %q:\n%s", command, want, got)
			}
		}
		if noted := strings.Contains(got, noSettings); noted && !row.writes {
			t.Errorf("$ %s\nwrites settings:\n%s", command, got)
		}
	}
	if _, err := os.Stat(w.home + "/escaped"); err == nil {
		t.Error("a hook wrote outside of the sandbox")
	}
	if got := contentOf(w.work + "/.git/config"); !copies && got != config || strings.Contains(got, "!echo") || !strings.Contains(got, w.remote) {
		t.Errorf("the configuration is\n%s", got)
	}
}

const noSettings = "The settings of a repository cannot be changed in a sandbox"

// TestGitInLinkedWorktree commits in a work tree whose repository lies elsewhere, and keeps
// commands from what git runs there.
func TestGitInLinkedWorktree(t *testing.T) {
	t.Parallel()
	w := newGitWorld(t)
	linked := w.root + "/linked"
	w.git(t, w.work, "worktree", "add", "-q", linked)
	w.git(t, w.work, "worktree", "add", "-q", w.home+"/further")
	must(t, os.Remove(w.work+"/.git/hooks/pre-commit.sample"))
	s := session(t, w.Host, host.SessionOptions{Cwd: linked})
	for _, row := range []gitRow{
		{command: "git status --short --branch", told: []string{"## linked"}},
		{command: "echo l >l && git add l && git commit -qm l && git log -1 --format=%s", told: []string{"l"}},
		{command: "git branch other && git tag t && git checkout -q other && git gc -q && git pack-refs --all && git worktree list", told: []string{"[other]", "[main]"}},
		{command: "git worktree prune; git worktree list", told: []string{"[further]"}},
		{command: "git rebase -q HEAD~1 && touch u && git add u && git stash && git stash pop", told: []string{"Dropped"}},
		{command: "echo x >" + w.work + "/.git/hooks/pre-commit", failed: true},
		{command: "D=" + w.work + "/.git; python3 -c 'import sys; open(sys.argv[1], \"w\")' $D/hooks/post-commit", failed: true},
		{command: "D=" + w.work + "; cd " + linked + "; rm -rf $D/.git/hooks/* $D/one", failed: true},
	} {
		got := told(t, s, row.command)
		if failed := strings.Contains(got, "[exit status") || strings.Contains(got, "<tool_use_error>"); failed != row.failed {
			t.Errorf("$ %s\nfailed is %t:\n%s", row.command, failed, got)
		}
		for _, want := range row.told {
			if !strings.Contains(got, want) {
				t.Errorf("$ %s\ntells nothing of %q:\n%s", row.command, want, got)
			}
		}
	}
	if _, err := os.Stat(w.work + "/one"); err != nil {
		t.Error(err)
	}
	if got := told(t, w.session, "touch z; git worktree prune; git gc -q; git worktree list"); !strings.Contains(got, "[further]") || !strings.Contains(got, "[other]") {
		t.Errorf("git forgot work trees: %s", got)
	}
	w.git(t, w.home+"/further", "status")
	if got := w.git(t, w.work, "log", "--format=%s", "other"); got != "l\nfirst" {
		t.Errorf("the repository has %q", got)
	}
	hooks, err := filepath.Glob(w.work + "/.git/hooks/*")
	must(t, err)
	if len(hooks) == 0 || strings.Contains(strings.Join(hooks, " "), "post-commit ") {
		t.Errorf("the hooks are %q", hooks)
	}
}

// TestGitHooks runs a project's hooks in the sandbox of the command that commits.
func TestGitHooks(t *testing.T) {
	t.Parallel()
	w := newGitWorld(t)
	must(t, os.Mkdir(w.work+"/.husky", 0o755))
	testenv.WriteProgram(t, w.work+"/.husky/commit-msg", []byte("#!/bin/sh\ngrep -q fix $1 || { echo it must say fix; exit 1; }\n"))
	testenv.WriteProgram(t, w.work+"/.husky/post-commit", []byte("#!/bin/sh\necho x >$HOME/escaped; echo x >>.husky/commit-msg; touch here; echo after\n"))
	w.git(t, w.work, "config", "core.hooksPath", ".husky")
	for command, want := range map[string]string{"git commit --allow-empty -qm x": "it must say fix", "git commit --allow-empty -qm fix": "after"} {
		if got := told(t, w.session, command); !strings.Contains(got, want) {
			t.Errorf("$ %s\n%s", command, got)
		}
	}
	if _, err := os.Stat(w.home + "/escaped"); err == nil {
		t.Error("a hook wrote outside of the sandbox")
	}
	if _, err := os.Stat(w.work + "/here"); err != nil || strings.Contains(contentOf(w.work+"/.husky/commit-msg"), "\nx") {
		t.Errorf("a hook made nothing in the work tree (%v), or changed a hook", err)
	}
}

// TestGitInSubmodule commits in a submodule, whose repository lies in another one.
func TestGitInSubmodule(t *testing.T) {
	t.Parallel()
	w := newGitWorld(t)
	w.git(t, w.work, "submodule", "--quiet", "add", w.lib, "lib")
	s := session(t, w.Host, host.SessionOptions{Cwd: w.work + "/lib"})
	if got := told(t, s, "echo l >l && git add l && git commit -qm l && git status --short --branch"); !strings.Contains(got, "## main...origin/main [ahead 1]") {
		t.Errorf("git says %s", got)
	}
	if got := told(t, s, "D="+w.work+"/.git/modules/lib; python3 -c 'import sys; open(sys.argv[1], \"w\")' $D/hooks/post-commit"); !strings.Contains(got, "Error") && !strings.Contains(got, "error") {
		t.Errorf("a hook was made: %s", got)
	}
	if _, err := os.Stat(w.work + "/.git/modules/lib/hooks/post-commit"); err == nil {
		t.Error("a hook was made")
	}
}

// TestGitBelowARepository says why git finds none where a session sees a part of one.
func TestGitBelowARepository(t *testing.T) {
	t.Parallel()
	w := newGitWorld(t)
	must(t, os.Mkdir(w.work+"/sub", 0o755))
	s := session(t, w.Host, host.SessionOptions{Cwd: w.work + "/sub"})
	for _, command := range []string{"git status", "touch x && git add -A"} {
		if got := told(t, s, command); !strings.Contains(got, "The repository "+w.work+" is not in sight") {
			t.Errorf("$ %s\n%s", command, got)
		}
	}
}
