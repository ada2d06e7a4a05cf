//go:build amd64 || arm64

package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/ownfiles"
	"github.com/toolquay/toolquay/internal/test/escapes"
	"github.com/toolquay/toolquay/internal/test/place"
	"github.com/toolquay/toolquay/internal/testenv"
)

// supervisors have what tests run by way of the sandbox.
var supervisors = process.New(process.Options{})

func TestMain(m *testing.M) {
	process.Main() // returns, unless this process was started as a supervisor
	if os.Getenv(confineVariable) != "" {
		fmt.Println(sandbox.Exec(os.Args[1:], os.Environ()))
		os.Exit(1)
	}
	place.Main()
	testenv.Waiting()
	os.Exit(m.Run())
}

// usual are names that are protected in a project, whether or not they are there.
func usual(dir string) []string {
	return under(dir, ".bashrc", ".profile", ".zshrc", ".npmrc", ".mcp.json", ".gitmodules", ".gitconfig", ".husky",
		".vscode", ".toolquay", ".claude/settings.json", ".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir")
}

// plainly is an environment.
var plainly = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}

// names are those in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// watching is a command whose protected names are watched.
type watching struct {
	*running
	losses atomic.Int32
	ended  chan error
}

// watch starts a command and watches it, and kills it where it is to end.
func watch(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec, text string) *watching {
	t.Helper()
	w := &watching{running: startIn(t, s, spec, text), ended: make(chan error, 1)}
	go func() {
		w.ended <- w.Watch(t.Context(), func(sandbox.Loss) {
			w.losses.Add(1)
			_ = unix.Kill(-w.cmd.Process.Pid, unix.SIGKILL) // a group of this test's own
		})
	}()
	return w
}

// close ends the command, and the watch with it.
func (w *watching) close(t *testing.T) []sandbox.Undone {
	t.Helper()
	_ = unix.Kill(-w.cmd.Process.Pid, unix.SIGKILL) // a group of this test's own
	_ = w.cmd.Wait()                                // it was killed, or has been
	must(t, w.Close())
	must(t, <-w.ended)
	undone, _ := w.Changed()
	return undone
}

// eventually waits for something.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(testenv.Patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come to be", what)
		}
	}
}

// Nothing lies on the disk because a command runs.
func TestNothingOnTheDisk(t *testing.T) {
	for _, at := range []string{"w/f", "w/.git/HEAD"} {
		root := tree(t, at)
		before := names(t, root+"/w")
		s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
		w := watch(t, s, sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}, "sleep 1000")
		if now := names(t, root+"/w"); now != before {
			t.Errorf("%s: there are %q, and there were %q", at, now, before)
		}
		if undone := w.close(t); len(undone) > 0 {
			t.Errorf("%s: %v was undone", at, undone)
		}
	}
}

// What a command makes at a missing name is undone while it runs, kept, and told; the command
// goes on.
func TestMissingIsUndone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, path string }{
		"a file":              {"echo mine > .npmrc", ".npmrc"},
		"by a rename":         {"echo mine > n; mv n .npmrc", ".npmrc"},
		"a link":              {"ln -s /etc/passwd .npmrc", ".npmrc"},
		"a link to nothing":   {"ln -s nothing .npmrc", ".npmrc"},
		"a hard link":         {"echo mine > n; ln n .npmrc", ".npmrc"},
		"a FIFO":              {"mkfifo .npmrc", ".npmrc"},
		"a folder":            {"mkdir -p .vscode; echo mine > .vscode/tasks.json", ".vscode"},
		"a folder, renamed":   {"mkdir v; echo mine > v/tasks.json; mv v .vscode", ".vscode"},
		"a folder, closed":    {"mkdir v; echo mine > v/f; chmod 0 v; mv v .vscode", ".vscode"},
		"a chain":             {"mkdir -p .claude; echo mine > .claude/settings.json", ".claude"},
		"a repository":        {"mkdir -p .git/hooks; echo mine > .git/hooks/pre-commit", ".git"},
		"in a folder":         {"echo mine > d/.gitmodules", "d/.gitmodules"},
		"in a folder, closed": {"echo mine > d/.gitmodules; chmod 0 d", "d/.gitmodules"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "w/f", "w/d/f")
			s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
			spec := sandbox.Spec{Writable: under(root, "w"), Protected: append(usual(root+"/w"), root+"/w/d/.gitmodules"), Cwd: root + "/w"}
			path := root + "/w/" + test.path
			w := watch(t, s, spec, test.text+"; echo made; touch done; sleep 1000")
			eventually(t, "the command's end", func() bool { return exists(root + "/w/done") })
			eventually(t, "its undoing", func() bool { return !exists(path) })
			undone := w.close(t)
			_ = os.Chmod(root+"/w/d", 0o755) //nolint:gosec // for it to be removed
			if w.losses.Load() != 0 || len(undone) != 1 || undone[0].Path != path || !exists(undone[0].Kept) || !strings.HasPrefix(undone[0].Kept, root+"/state/undone/") {
				t.Errorf("%d losses, undone %v; it printed %s", w.losses.Load(), undone, w.out.String())
			}
		})
	}
}

// What a command left in its last moment, unwatched, is undone at its end.
func TestMissingIsUndoneAtTheEnd(t *testing.T) {
	root := tree(t, "w/f")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	r := startIn(t, s, sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}, "echo mine > .npmrc; mkdir .husky")
	must(t, r.cmd.Wait())
	must(t, r.Close())
	if now := names(t, root+"/w"); now != "f" {
		t.Errorf("there are %q", now)
	}
	undone, _ := r.Changed()
	if len(undone) != 2 {
		t.Errorf("undone %v", undone)
	}
	for _, u := range undone { // old as it may be, it stays when a sandbox is looked for
		must(t, os.Chtimes(u.Kept, time.Unix(0, 0), time.Unix(0, 0)))
	}
	findBubblewrap(t, sandbox.Options{State: root + "/state"})
	for _, u := range undone {
		if !exists(u.Kept) {
			t.Errorf("%s is gone", u.Kept)
		}
		if u.Path == root+"/w/.npmrc" {
			if content, err := os.ReadFile(u.Kept); err != nil || string(content) != "mine\n" {
				t.Errorf("kept %q, %v", content, err)
			}
		}
	}
}

// What somebody makes when the command has ended stays, though the kernel takes a while to end the
// watch.
func TestMadeAfterTheEnd(t *testing.T) {
	t.Parallel()
	root := tree(t, "w/f")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	for range 20 {
		w := watch(t, s, sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}, "true")
		must(t, w.cmd.Wait())
		must(t, w.Close())
		must(t, os.WriteFile(root+"/w/.npmrc", []byte("a person's"), 0o600))
		must(t, <-w.ended)
		if undone, _ := w.Changed(); len(undone) > 0 || !exists(root+"/w/.npmrc") {
			t.Fatalf("undone %v", undone)
		}
		must(t, os.Remove(root+"/w/.npmrc"))
	}
}

// A folder for state on another file system gets copies.
func TestMissingIsCopied(t *testing.T) {
	t.Parallel()
	state, err := os.MkdirTemp("/dev/shm", "toolquay-test-") //nolint:usetesting // that is one file system
	if err != nil {
		testenv.Missing(t, "another file system: "+err.Error())
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	root := tree(t, "w/f")
	s := findBubblewrap(t, sandbox.Options{State: state + "/state"})
	w := watch(t, s, sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"},
		"mkdir v; echo mine > v/f; ln -s f v/l; mv v .vscode; echo mine > n; mv n .npmrc; touch done; sleep 1000")
	eventually(t, "the command's end", func() bool { return exists(root + "/w/done") })
	eventually(t, "its undoing", func() bool { return !exists(root+"/w/.vscode") && !exists(root+"/w/.npmrc") })
	undone := w.close(t)
	if now := names(t, root+"/w"); now != "done f" {
		t.Errorf("there are %q", now)
	}
	for _, u := range undone {
		path := u.Kept
		if filepath.Base(u.Path) == ".vscode" {
			path += "/f"
		}
		if content, err := os.ReadFile(path); err != nil || string(content) != "mine\n" || !strings.HasPrefix(path, state) {
			t.Errorf("%v: kept %q, %v", u, content, err)
		}
	}
	if len(undone) != 2 {
		t.Errorf("undone %v", undone)
	}
}

// Three threads that race do not win: the command is ended, and nothing is left.
func TestRaces(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	for _, c := range escapes.Races() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "w/f")
			s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
			w := watch(t, s, sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}, c.Shell)
			eventually(t, "its end", func() bool { return w.losses.Load() > 0 })
			_ = w.cmd.Wait() // it was killed
			w.close(t)
			_ = os.Chmod(root+"/w", 0o755) //nolint:gosec // as it was
			for _, path := range usual(root + "/w") {
				if exists(path) {
					t.Errorf("%s is left", path)
				}
			}
			noLeftovers(t, root+"/w")
		})
	}
}

// A name that comes back ends the command that began last, and those before it only if it goes
// on.
func TestRacesBesideOthers(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "python3")
	race := escapes.Races()[0].Shell
	for name, test := range map[string]struct {
		texts [2]string
		ended [2]bool
	}{
		"the last one": {[2]string{"sleep 1000", race}, [2]bool{false, true}},
		"the first":    {[2]string{race, "sleep 1000"}, [2]bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, "w/f")
			s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
			spec := sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}
			var both [2]*watching
			for i, text := range test.texts {
				both[i] = watch(t, s, spec, "until [ -e go ]; do sleep 0.01; done; "+text)
			}
			saved(t, root+"/w/go")
			for i := len(both) - 1; i >= 0; i-- { // each is closed as it ends
				if test.ended[i] {
					eventually(t, "its end", func() bool { return both[i].losses.Load() > 0 })
					both[i].close(t)
				}
			}
			if !test.ended[0] {
				time.Sleep(300 * time.Millisecond) // longer than what it made is told
				if both[0].losses.Load() > 0 {
					t.Error("the first was ended, too")
				}
				both[0].close(t)
			}
			if exists(root + "/w/.npmrc") {
				t.Error("it is left")
			}
		})
	}
}

// A folder above a missing name cannot be moved from inside, nor replaced by a link.
func TestMissingStaysInItsFolder(t *testing.T) {
	root := tree(t, "w/.claude/f", "o/f")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	spec := sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}
	out, _ := run(t, s, spec, plainly, "mv .claude c; ln -sfn ../o .claude; rm -rf .claude; echo x > .claude/settings.json; echo x > .claude/other; ls .claude")
	if !strings.Contains(out, "busy") || exists(root+"/w/.claude/settings.json") || !exists(root+"/w/.claude/other") || !exists(root+"/o/f") {
		t.Errorf("it printed %s", out)
	}
}

// A folder that others remove and make anew is watched again.
func TestMissingInAnotherFolder(t *testing.T) {
	root := tree(t, "w/.claude/f")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	w := watch(t, s, sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}, "sleep 1000")
	must(t, os.RemoveAll(root+"/w/.claude"))
	must(t, os.MkdirAll(root+"/w/.claude", 0o755))
	saved(t, root+"/w/.claude/settings.json")
	eventually(t, "its undoing", func() bool { return !exists(root + "/w/.claude/settings.json") })
	if undone := w.close(t); w.losses.Load() != 0 || len(undone) != 1 {
		t.Errorf("%d losses, undone %v", w.losses.Load(), undone)
	}
}

// What this program makes for a person stays.
func TestMissingMadeOnPurpose(t *testing.T) {
	root := tree(t, "w/f")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	w := watch(t, s, sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}, "sleep 1000")
	path := root + "/w/.vscode/settings.json"
	ownfiles.Making(path)
	must(t, os.Mkdir(filepath.Dir(path), 0o755))
	saved(t, path)
	time.Sleep(20 * time.Millisecond)
	if undone := w.close(t); len(undone) > 0 || !exists(path) {
		t.Errorf("undone %v", undone)
	}
}

// A name that somebody makes while the sandbox is made is not undone: the sandbox is made anew.
func TestMissingMadeMeanwhile(t *testing.T) {
	root := tree(t, "w/f")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	w, err := s.Wrap(t.Context(), sandbox.Spec{Writable: under(root, "w"), Protected: usual(root + "/w"), Cwd: root + "/w"}, []string{"true"})
	must(t, err)
	saved(t, root+"/w/.npmrc")
	if _, err := output(t, w, plainly); !strings.Contains(fmt.Sprint(err), sandbox.ErrChanged.Error()) {
		t.Errorf("got %v", err)
	}
	must(t, w.Close())
	if !exists(root + "/w/.npmrc") {
		t.Error("it is gone")
	}
}

// gits are environments of git that take nothing from this user's settings.
var gits = []string{
	"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=n@test", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=n@test",
}

// outside runs shell text without a sandbox.
func outside(t *testing.T, dir, text string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", text)
	cmd.Dir, cmd.Env = dir, gits
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", text, err, out)
	}
}

// What is done with git and an editor in another terminal ends nothing, and is not undone.
func TestOthersWork(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	root := tree(t, "w/f", "w/d/g", "w/.npmrc")
	dir := root + "/w"
	outside(t, dir, "git init -qb main; git add -A; git commit -qm one; git checkout -qb other; echo 2 > d/g; echo h > h; git add -A; git commit -qm two; git checkout -q main")
	s := findBubblewrap(t, sandbox.Options{State: root + "/state"})
	w := watch(t, s, sandbox.Spec{Writable: under(root, "w"), Protected: usual(dir), Cwd: dir}, "sleep 1000")
	outside(t, dir, `
		echo new > u; git stash -uq; git stash pop -q; git clean -fdq; git checkout -q other; git checkout -q main; git merge -q other
		git mv h i; git commit -qam three; mv d e; mv e d; git status --porcelain; git gc -q; git branch topic; git tag v1
		git config user.name somebody; git branch -q -u main topic; git worktree add -q ../tree topic; git rebase -q main
		printf new > .npmrc~; mv .npmrc~ .npmrc; sed -i s/new/newer/ .npmrc; rm -r d; git checkout -q d; git stash list`)
	eventually(t, "what was replaced", func() bool {
		_, replaced := w.Changed()
		return len(replaced) == 2
	})
	time.Sleep(300 * time.Millisecond) // what is moved is looked for every 250
	undone := w.close(t)
	_, replaced := w.Changed()
	if w.losses.Load() != 0 || len(undone) > 0 || !slices.Equal(replaced, under(root, "w/.git/config", "w/.npmrc")) {
		t.Errorf("%d losses, undone %v, replaced %v", w.losses.Load(), undone, replaced)
	}
	if content, err := os.ReadFile(dir + "/.npmrc"); err != nil || string(content) != "newer" {
		t.Errorf("got %q, %v", content, err)
	}
}
