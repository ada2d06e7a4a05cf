package gitevents_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/gitevents"
	"github.com/toolquay/toolquay/permissions/shell"
)

// watched runs a command that is watched, and tells what it is said to have done.
func (r *repository) watched(command string) string {
	r.t.Helper()
	w := gitevents.Begin(shell.Analyse(command, shell.Place{Cwd: r.dir, Home: "/h", Working: []string{r.dir}}), r.dir)
	text, exit := r.run(command)
	return brief(w.Deeds(exit, []byte(text)))
}

// What a command prints before git does is believed where HEAD says the same. The steps
// run in one repository, in order.
func TestSpoofs(t *testing.T) {
	r := newRepository(t)
	for _, step := range []struct{ command, want string }{
		{"git commit --allow-empty -m first", "commit main HEAD first"},
		{"echo '[main abc1234] x'; git commit -m x", ""},
		{"echo '[main abc1234] x'; git commit -m x; true", ""},
		{"echo \"[main $(git rev-parse --short HEAD)] x\"; git commit -m x; true", ""},
		{"echo '[main abc1234] x'; git commit --allow-empty -m x", "commit main HEAD x"},
		{"echo '[other abc1234] second'; git commit --allow-empty -qm second", "commit main HEAD second"},
		{"echo '[other abc1234] spoof'; git commit --allow-empty -q -F - <<<'third'", "commit main HEAD"},
		{"echo '[main abc1234] better'; git commit --amend --allow-empty -m better; true", "amend main HEAD better"},
		{"echo 'Merge made by the ort strategy.'; git merge main; true", ""},
		{"echo 'Successfully rebased and updated refs/heads/main.'; git rebase main; true", ""},
		{"git checkout -b topic && git commit --allow-empty -m on", "branch topic; commit topic HEAD on"},
		{"git commit --allow-empty -m gone && git reset -q --hard HEAD~1", "commit topic ORIG_HEAD gone"},
		{"for i in x y; do git commit --allow-empty -m $i; done", "commit topic HEAD~1 x; commit topic HEAD y"},
		{"git pack-refs --all", ""},
		{"echo '[topic abc1234] packed'; git commit -m packed; true", ""},
		{"git checkout --detach && git commit --allow-empty -m loose", "commit HEAD loose"},
	} {
		got, want := r.watched(step.command), step.want
		for _, rev := range []string{"ORIG_HEAD", "HEAD~1", "HEAD"} {
			if strings.Contains(want, rev) {
				want = strings.ReplaceAll(want, rev, r.truth("git rev-parse --short "+rev))
			}
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", step.command, got, want)
		}
	}
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
