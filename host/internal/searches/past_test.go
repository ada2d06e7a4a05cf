package searches

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// TestPastIsKept has git list a history once for each state of its references, and not at
// all for a while where that did not end in time.
func TestPastIsKept(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // nothing is kept elsewhere
	testenv.NeedTool(t, "git")
	top := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", top, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		time.Sleep(50 * time.Millisecond) // so that the next change shows
	}
	policy, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: top}},
		Rules:  []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Read(.env)")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	if _, lasts := paths.RestingText(filepath.Join(top, ".git")); !lasts {
		testenv.Missing(t, "a directory for temporary files on a disk of this machine's")
	}
	f := Past{longest: testenv.Patience}
	isClear := func(ctx context.Context) bool {
		return f.Clear(ctx, policy, permissions.Access{Kind: permissions.AccessRead, Target: top, Real: top, Tree: true, Former: top}, false, paths.Disk{})
	}
	listed := func() bool { // and not known from before
		known := f.tree(top).commits["mark"]
		f.tree(top).commits["mark"] = true
		return !known
	}
	if !isClear(t.Context()) || !listed() || !isClear(t.Context()) || listed() {
		t.Error("an unchanged repository is listed again, or not clear")
	}
	git("commit", "-q", "--allow-empty", "-m", "second")
	if !isClear(t.Context()) || !listed() {
		t.Error("a commit is overlooked")
	}
	if err := os.WriteFile(filepath.Join(top, ".env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wholly := func() bool {
		return f.Clear(t.Context(), policy, permissions.Access{Kind: permissions.AccessRead, Target: top, Real: top, Tree: true, Former: top}, true, paths.Disk{})
	}
	if !wholly() {
		t.Error("what nothing leads to is not clear, where there is nothing")
	}
	git("add", "-f", ".env")
	git("commit", "-q", "-m", "lost")
	git("reset", "-q", "--hard", "HEAD~1")
	git("reflog", "expire", "--expire=now", "--all")
	if wholly() || !isClear(t.Context()) {
		t.Error("a commit that nothing leads to is overlooked, or counts in the history")
	}
	git("gc", "-q", "--prune=now")
	if !wholly() || !listed() {
		t.Error("a commit that is gone still counts")
	}
	if err := os.WriteFile(filepath.Join(top, ".env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", "-f", ".env")
	if isClear(t.Context()) || listed() {
		t.Error("the index is overlooked, or the history listed anew for it")
	}
	git("rm", "-qf", ".env")
	git("update-ref", "refs/heads/other", "HEAD~1")
	ended, end := context.WithTimeout(t.Context(), 0)
	defer end()
	if isClear(ended) || isClear(t.Context()) {
		t.Error("a repository that was not listed in time is asked about again at once")
	}
	f.tree(top).retry = time.Time{}
	if !isClear(t.Context()) {
		t.Error("it is not clear once it was listed")
	}
}

// TestReferenceFiles sees a change of all that leads to commits, but not through a link.
func TestReferenceFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"HEAD", "packed-refs", "shallow", "refs/heads/dev", "logs/refs/stash", "reftable/tables.list", "worktrees/q/HEAD"} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if files := referenceFiles(dir); !slices.Contains(files, name) {
			t.Errorf("%s is not among %q", name, files)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "refs", "tags")); err != nil {
		t.Fatal(err)
	}
	if files := referenceFiles(dir); files != nil {
		t.Errorf("a directory elsewhere may hold more than %q", files)
	}
}

// TestPastOfStaged asks git about the staged repository, and not about the one on the disk.
func TestPastOfStaged(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Linux) // commands are staged on Linux only
	testenv.NeedTool(t, "git")
	top, staged := t.TempDir(), t.TempDir()
	policy, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: top}},
		Rules:  []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Read(.env)")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	disk := paths.Disk{View: &elsewhere{top, staged}}
	f := Past{longest: testenv.Patience}
	isClear := func() bool {
		return f.Clear(t.Context(), policy, permissions.Access{Kind: permissions.AccessRead, Target: top, Real: top, Tree: true, Former: top}, true, disk)
	}
	for _, step := range []struct {
		commands string
		clear    bool
	}{
		{"git init -q " + top, false}, // on the disk only
		{"git init -q && git commit -q --allow-empty -m first", true},
		{"git -C " + top + " commit -q --allow-empty -m other && touch .env && git add -f .env", false},
		{"git rm -qf .env", true},
		{"mv .git/objects ../ && ln -s ../../objects .git/objects", true},
		{"rm .git/objects && ln -s none .git/objects", false},
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", step.commands)
		cmd.Dir, cmd.Env = staged, append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got := isClear(); got != step.clear {
			t.Errorf("%s: it is clear: %v", step.commands, got)
		}
	}
}

// elsewhere shows the directory lies at the path shown.
type elsewhere struct{ shown, lies string }

func (e *elsewhere) At(path string) string {
	if rest, ok := strings.CutPrefix(path, e.shown); ok {
		return e.lies + rest
	}
	return path
}

func (e *elsewhere) Run(ctx context.Context, dir string, argv, env []string, input []byte, _ int) ([]byte, error) {
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], e.shown, e.lies)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = e.At(dir), env, bytes.NewReader(input)
	return cmd.Output()
}
