package gitevents_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/gitevents"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions/shell"
)

// recognise is Recognise on a command as it stands.
func recognise(command string, exit int, output string) []capability.Deed {
	cmd := shell.Analyse(command, shell.Place{Cwd: "/w", Home: "/h", Working: []string{"/w"}})
	return gitevents.Recognise(cmd, exit, []byte(output))
}

// brief writes deeds in a line, so that a table can be read.
func brief(deeds []capability.Deed) string {
	var out []string
	for _, d := range deeds {
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

// The steps run in one repository, in order. In want, HEAD stands for the commit
// that git then says it is.
func TestRealGit(t *testing.T) {
	r := newRepository(t)
	for _, step := range []struct{ command, want string }{
		{"git commit -m nothing", ""},
		{"git commit --allow-empty --dry-run -m dry", ""},
		{"git commit --allow-empty -m 'first [x] line' -m 'and more'", "commit main HEAD first [x] line"},
		{"echo a > a && git add a && git commit -m second", "commit main HEAD second"},
		{"git push", ""},
		{"git push -n -u origin main", ""},
		{"git push -u origin main", "push origin main"},
		{"git push", ""},
		{"echo b > a && git commit -qam quiet", "commit quiet"},
		{"git push 2>&1 | tail -1", "push main HEAD"},
		{"git commit --amend -m better", "amend main HEAD better"},
		{"git push origin main", ""},
		{"git push --force origin main", "push origin main HEAD forced"},
		{"git commit --amend -qm best; git push -f --porcelain", "push ../bare.git main HEAD forced"},
		{"git checkout -b topic", "branch topic"},
		{"echo c > c; git add c; git commit -m \"$(printf 'on %s' topic)\"", "commit topic HEAD on topic"},
		{"git checkout -q main && git merge topic", "merge topic HEAD"},
		{"git merge topic", ""},
		{"git branch topic", ""},
		{"git branch other HEAD~1", "branch other"},
		{"git branch --list other", ""},
		{"git branch -D topic", ""},
		{"git switch other && echo d > d && git add . && git commit -m d", "commit other HEAD d"},
		{"git rebase main", "rebase other"},
		{"git rebase main", ""},
		{"git switch -c third HEAD~1 && git cherry-pick other", "branch third; cherry_pick third HEAD d"},
		{"git revert --no-edit HEAD", "commit third HEAD Revert \"d\""},
		{"git switch main && git merge --no-ff -m together other", "merge other"},
		{"git push origin main third:fourth", "push origin main HEAD; push origin fourth"},
		{"git push origin :fourth", ""},
		{"git tag v1 && git push origin v1", "push origin"},
		{"git worktree add -b tree ../tree", "branch tree"},
		{"git checkout -b main", ""},
		{"git checkout --detach && git commit --allow-empty -m loose", "commit HEAD loose"},
		{"git -C ../tree commit --allow-empty -m elsewhere && cd ../tree && git log -1 --format=%h", "commit tree TREE elsewhere"},
		{"git commit --allow-empty -m one && git commit --allow-empty -qm two && false", "commit HEAD~1 one"},
		{"for i in x y; do git commit --allow-empty -m $i; done", "commit HEAD~1 x; commit HEAD y"},
		{"echo '[main 1234567] fake'; git commit -m real", ""},
		{"timeout 60 git commit --allow-empty -m wrapped", "commit HEAD wrapped"},
		{"env X=1 git commit --allow-empty -m env", "commit HEAD env"},
		{"git commit --help > /dev/null", ""},
	} {
		text, exit := r.run(step.command)
		want := step.want
		for _, rev := range []string{"HEAD~1", "HEAD"} {
			if strings.Contains(want, rev) {
				want = strings.ReplaceAll(want, rev, r.truth("git rev-parse --short "+rev))
			}
		}
		if strings.Contains(want, "TREE") {
			want = strings.ReplaceAll(want, "TREE", r.truth("git rev-parse --short tree"))
		}
		if got := brief(recognise(step.command, exit, text)); got != want {
			t.Errorf("%s\n%s(%d)\ngot  %s\nwant %s", step.command, text, exit, got, want)
		}
	}
}

// A merge that was stopped by a conflict is one when it goes on.
func TestRealConflict(t *testing.T) {
	r := newRepository(t)
	r.run("echo 1 > f && git add f && git commit -qm base && git checkout -qb side && echo 2 > f && git commit -qam side && git checkout -q main && echo 3 > f && git commit -qam mine")
	text, exit := r.run("git merge side")
	if got := brief(recognise("git merge side", exit, text)); got != "" || exit == 0 {
		t.Errorf("a conflict is %q, status %d", got, exit)
	}
	const command = "git add f && git merge --continue"
	text, exit = r.run(command)
	if got, want := brief(recognise(command, exit, text)), "merge main "+r.truth("git rev-parse --short HEAD")+" Merge branch 'side'"; got != want {
		t.Errorf("got %q, want %q from %s", got, want, text)
	}
}
