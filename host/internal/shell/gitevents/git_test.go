package gitevents_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/gitevents"
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/internal/testenv"
)

// disk is the tree of a command whose changes are not staged.
type disk struct{}

func (disk) At(path string) string { return path }

func (disk) Resolve(path string) (string, error) { return filepath.EvalSymlinks(path) }

// begin watches a command as it stands.
func begin(command, dir string) *gitevents.Watch {
	return gitevents.Begin(shell.Analyse(command, shell.Place{Cwd: dir, Home: "/h", Working: []string{dir}}), dir, disk{})
}

// recognise is what is told of a command that nobody runs.
func recognise(command string, exit int, output string) []capability.GitEvent {
	return begin(command, "/nonexistent").Events(exit, []byte(output))
}

// brief writes events in a line, so that a table can be read.
func brief(events []capability.GitEvent) string {
	var out []string
	for _, d := range events {
		words := []string{string(d.Kind)}
		for _, w := range []string{d.Remote, d.Branch, d.Commit, d.Subject, d.URL} {
			if w != "" {
				words = append(words, w)
			}
		}
		if d.Forced {
			words = append(words, "forced")
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, "; ")
}

// repository is a real one, with a bare one to push to.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	testenv.NeedTool(t, "git")
	testenv.NeedTool(t, "bash")
	r := &repository{t, filepath.Join(t.TempDir(), "work")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.run("git init -q -b main && git init -q --bare ../bare.git && git remote add origin ../bare.git")
	return r
}

// run runs a command and returns what it printed.
func (r *repository) run(command string) (output string, exit int) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "bash", "-c", command)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(r.dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.test", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.test", "GIT_EDITOR=true",
	}
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		r.t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// truth is what git itself says.
func (r *repository) truth(command string) string {
	r.t.Helper()
	text, exit := r.run(command)
	if exit != 0 {
		r.t.Fatalf("%s: %s", command, text)
	}
	return strings.TrimSpace(text)
}

// watched runs a command that is watched, and tells what it is said to have done.
func (r *repository) watched(command string) string {
	r.t.Helper()
	w := begin(command, r.dir)
	text, exit := r.run(command)
	return brief(w.Events(exit, []byte(text)))
}

// holds runs a command and compares what is told of it. In want, HEAD and others stand for
// the commits that git then says they are.
func (r *repository) holds(command, want string) {
	r.t.Helper()
	got := r.watched(command)
	for _, rev := range [][2]string{
		{"ORIG_HEAD", "ORIG_HEAD"}, {"HEAD~1", "HEAD~1"}, {"HEAD", "HEAD"}, {"TREE", "tree"}, {"MAIN", "main"}, {"THIRD", "third"}, {"CLONE", "HEAD"}, {"COPY", "HEAD"},
	} {
		if strings.Contains(want, rev[0]) {
			dir := map[string]string{"CLONE": "../clone", "COPY": "../copy"}[rev[0]]
			want = strings.ReplaceAll(want, rev[0], r.truth("cd ./"+dir+" && git rev-parse --short "+rev[1]))
		}
	}
	if got != want {
		r.t.Errorf("%s\ngot  %s\nwant %s", command, got, want)
	}
}

// The steps run in one repository, in order.
func TestRealGit(t *testing.T) {
	r := newRepository(t)
	for _, step := range []struct{ command, want string }{
		{"git commit -m nothing", ""},
		{"git commit --allow-empty --dry-run -m dry", ""},
		{"git commit --allow-empty -m 'first [x] line' -m 'and more'", "commit main HEAD first [x] line"},
		{"echo a > a && git add a && git commit -m second", "commit main HEAD second"},
		{"git push", ""},
		{"git push -n -u origin main", ""},
		{"git push -u origin main", "push origin main HEAD"},
		{"git push", ""},
		{"echo b > a && git commit -qam quiet", "commit main HEAD quiet"},
		{"git push 2>&1 | tail -1", "push origin main HEAD"},
		{"git commit --amend -m better", "amend main HEAD better"},
		{"git push origin main", ""},
		{"git push --force origin main", "push origin main HEAD forced"},
		{"git commit --amend -qm best; git push -f --porcelain", "amend main HEAD best; push origin main HEAD forced"},
		{"git checkout -b topic", "branch topic"},
		{"echo c > c; git add c; git commit -m \"$(printf 'on %s' topic)\"", "commit topic HEAD on topic"},
		{"git checkout -q main && git merge topic", "merge topic HEAD"},
		{"git merge topic", ""},
		{"git branch topic", ""},
		{"git branch other HEAD~1", "branch other"},
		{"git branch --list other", ""},
		{"git branch -m topic renamed", ""},
		{"git branch -D renamed", ""},
		{"git switch other && echo d > d && git add . && git commit -m d", "commit other HEAD d"},
		{"git rebase main", "rebase other HEAD"},
		{"git rebase main", ""},
		{"git switch -c third HEAD~1 && git cherry-pick other", "branch third; cherry_pick third HEAD d"},
		{"git revert --no-edit HEAD", "commit third HEAD Revert \"d\""},
		{"git switch main && git merge --no-ff -m together other", "merge other HEAD"},
		{"git push origin main third:fourth", "push origin fourth THIRD; push origin main HEAD"},
		{"git push origin :fourth", ""},
		{"git fetch; git remote update", ""},
		{"git worktree add -b tree ../tree", "branch tree"},
		{"git checkout -b main", ""},
		{"git -C ../tree commit --allow-empty -m elsewhere && cd ../tree && git log -1 --format=%h", "commit tree TREE elsewhere"},
		{"cd ../tree && git commit --allow-empty -qm again && cd ../work && git commit --allow-empty -qm here", "commit tree TREE again; commit main HEAD here"},
		{"git commit --allow-empty -m one && git commit --allow-empty -qm two && false", "commit main HEAD~1 one; commit main HEAD two"},
		{"for i in x y; do git commit --allow-empty -m $i; done", "commit main HEAD~1 x; commit main HEAD y"},
		{"timeout 60 git commit --allow-empty -m wrapped", "commit main HEAD wrapped"},
		{"env X=1 git commit --allow-empty -m env", "commit main HEAD env"},
		{"git commit --help > /dev/null", ""},
		{"git commit --allow-empty -m gone && git reset -q --hard HEAD~1", "commit main ORIG_HEAD gone"},
		{"git commit --allow-empty -qm kept && git checkout -q third", "commit main MAIN kept"},
		{"git switch -q main && git commit --allow-empty -qm a; git checkout -q third; git commit --allow-empty -qm b", "commit main MAIN a; commit third HEAD b"},
		{"git commit --allow-empty -qm x; git branch topic && git checkout -q topic && git reset -q --hard HEAD~1 && git rebase -q main", "branch topic; commit third THIRD x; rebase topic HEAD"},
		{"git pack-refs --all && git commit --allow-empty -qm packed", "commit topic HEAD packed"},
		{"git checkout --detach && git commit --allow-empty -m loose", "commit HEAD loose"},
		{"echo '[main abc1234] x'; git commit -m x; true", ""},
		{"echo 'Merge made by the ort strategy.'; git merge main; true", ""},
		{"git pull -q origin main; git clone -q . ../clone && cd ../clone && git commit --allow-empty -qm c; git push -q origin HEAD:refs/heads/new", "commit CLONE c; push origin new CLONE"},
		{"git -C ../clone push -q origin --delete new; tar c -C ../clone . | (mkdir ../copy && cd ../copy && tar x && git log)", ""},
		{"git log -1 && echo commit", ""},
		{"git branch made; git -C ../tree commit --allow-empty -qm there", "branch made; commit tree TREE there"},
		{"git checkout -qb late main~1 && echo l > l && git add l && git commit -qm late && git rebase -q main", "branch late; commit late ORIG_HEAD late; rebase late HEAD"},
		{"git commit --allow-empty -qm said\nfi", "commit late HEAD said"},
	} {
		r.holds(step.command, step.want)
	}
	tree := &repository{t, filepath.Join(filepath.Dir(r.dir), "tree")}
	tree.holds("git branch below", "branch below")
}

// What came from elsewhere is not the command's: from a remote, with a copy of a
// repository, or by another command meanwhile.
func TestRealOthers(t *testing.T) {
	r := newRepository(t)
	r.run("git commit --allow-empty -qm first && git push -qu origin main")
	r.run("git clone -q -b main ../bare.git ../other && cd ../other && git commit --allow-empty -qm theirs && git push -q")
	r.holds("git fetch -q; git push -n -q", "")
	r.holds("git -c url.../bare.git.insteadOf=https://u:secret@h.test/r pull -q https://u:secret@h.test/r main", "merge https://h.test/r main HEAD")
	r.run("GIT_COMMITTER_DATE=2001-01-01T00:00:00Z git clone -q -b main ../bare.git ../old")
	r.run("cd ../old && GIT_COMMITTER_DATE=2001-01-01T00:00:00Z git commit --allow-empty -qm ancient")
	r.holds("cp -R ../old ../copy && cd ../copy && git commit --allow-empty -qm new", "commit main COPY new")
	w := begin("git push -q", r.dir)
	r.run("git commit --allow-empty -qm meanwhile && git branch meanwhile")
	if got := brief(w.Events(0, nil)); got != "" {
		t.Errorf("of another command's: %s", got)
	}
}

// A merge that was stopped by a conflict is one when it goes on.
func TestRealConflict(t *testing.T) {
	r := newRepository(t)
	r.run("echo 1 > f && git add f && git commit -qm base && git checkout -qb side && echo 2 > f && git commit -qam side && git checkout -q main && echo 3 > f && git commit -qam mine")
	r.holds("git merge side", "")
	r.holds("git add f && git merge --continue", "merge main HEAD Merge branch 'side'")
	r.run("git checkout -qb pick HEAD~1 && echo 4 > f && git commit -qam four && git checkout -q main")
	r.holds("git cherry-pick pick", "")
	r.holds("git add f && git commit -qm five", "cherry_pick main HEAD five")
	r.run("git checkout -q pick && git branch --set-upstream-to=main -q")
	r.holds("git pull --rebase", "")
	r.holds("git checkout --ours f; git add f; echo 6 > f; git commit -qam six; git rebase --continue", "commit HEAD six; rebase pick HEAD")
}

// A repository may be made by the command, be a worktree of another, or lie above.
func TestHeads(t *testing.T) {
	r := newRepository(t)
	r.run("git commit --allow-empty -qm first; git worktree add -q -b tree ../tree; mkdir sub ../new")
	for dir, command := range map[string]string{
		"../tree": "git commit --allow-empty -qm x", "sub": "git commit --allow-empty -qm x", "../new": "git init -qb main; git commit --allow-empty -qm x",
	} {
		other := &repository{t, filepath.Join(r.dir, dir)}
		branch := map[string]string{"../tree": "tree"}[dir]
		if branch == "" {
			branch = "main"
		}
		got := other.watched("echo '[main abc1234] x'; " + command)
		if want := "commit " + branch + " " + other.truth("git rev-parse --short HEAD") + " x"; got != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
		if got := other.watched("echo '[main abc1234] x'; git commit -m x; true"); got != "" {
			t.Errorf("%s: got %q", dir, got)
		}
	}
}
