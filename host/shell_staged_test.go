package host_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// stagedShell returns a session whose writes are staged. It skips the test if commands cannot be staged.
func stagedShell(t *testing.T, h *shelled, dir string) *host.Session {
	t.Helper()
	s := session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true})
	if got := told(t, s, "true"); strings.Contains(got, "cannot stage") {
		testenv.Missing(t, got)
	}
	return s
}

// TestStagedCommands checks that commands and tools see the same tree, also when the session is
// resumed, while nothing on the disk changes.
func TestStagedCommands(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n", "sub/b.txt": "b\n", "c.txt": "c\n"})
	before := snapshot(t, dir)
	h := newShelled(t)
	s := stagedShell(t, h, dir)
	runs := func(command, want string) {
		t.Helper()
		if got := told(t, s, command); !strings.Contains(got, want) || strings.Contains(got, "looked through") {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
	wants := func(tool string, input map[string]any, want string) {
		t.Helper()
		if got := answers(t, s, tool, input); strings.HasPrefix(got, "ERROR") || !strings.Contains(got, want) {
			t.Errorf("%s %v: got %q, want %q", tool, input, got, want)
		}
	}
	wants("Read", map[string]any{"file_path": "c.txt"}, "c")
	wants("Edit", map[string]any{"file_path": "c.txt", "old_string": "c", "new_string": "by a tool"}, "")
	runs("cat c.txt; echo two >> a.txt; echo new > new.txt; rm sub/b.txt; chmod 755 a.txt", "by a tool")
	wants("Read", map[string]any{"file_path": "a.txt"}, "two")
	wants("Read", map[string]any{"file_path": "new.txt"}, "new")
	wants("Glob", map[string]any{"pattern": "**/*.txt"}, "new.txt")
	if got := answers(t, s, "Read", map[string]any{"file_path": "sub/b.txt"}); !strings.HasPrefix(got, "ERROR") {
		t.Errorf("what a command removed is read: %q", got)
	}
	wants("Write", map[string]any{"file_path": "made/by/tool.txt", "content": "tool\n"}, "")
	runs("cat made/by/tool.txt && rm -r made && mkdir deep && cd deep && echo y > y", "tool")
	if want := filepath.Join(dir, "deep"); s.Cwd() != want {
		t.Errorf("the session is in %s, not in %s", s.Cwd(), want)
	}
	runs("cat y; cd ..", "y")
	if now := snapshot(t, dir); now != before {
		t.Errorf("the disk changed: %s", now)
	}
	must(t, s.Close(t.Context()))
	s = session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true})
	runs("cat a.txt new.txt deep/y; ls sub", "one\ntwo\nnew\ny")
	if now := snapshot(t, dir); now != before {
		t.Errorf("the disk changed: %s", now)
	}
}

// TestStagedCommandsApply applies the changes of commands.
func TestStagedCommandsApply(t *testing.T) {
	t.Parallel()
	change := "echo two >> a.txt; chmod 755 a.txt; rm sub/b.txt; mv c.txt d.txt; ln -s a.txt l; mkdir -p x/y; echo z > x/y/z; rm -r gone"
	names := map[string]string{"a.txt": "one\n", "sub/b.txt": "b\n", "sub/keep": "k\n", "c.txt": "c\n", "gone/f": "f\n"}
	dir, other := settledFiles(t, names), settledFiles(t, names)
	h := newShelled(t)
	s := stagedShell(t, h, dir)
	for at, one := range map[string]*host.Session{dir: s, other: session(t, h.Host, host.SessionOptions{Cwd: other, Mode: permissions.ModeAcceptEdits})} {
		if got := told(t, one, change); strings.Contains(got, "rror") {
			t.Fatalf("%s: %s", at, got)
		}
	}
	if _, err := s.Stage().Apply(t.Context(), stage.Selection{}); err != nil {
		t.Fatal(err)
	}
	if d := testenv.TreeDiff(testenv.Tree(t, other), testenv.Tree(t, dir)); d != "" {
		t.Errorf("applied it is not as unstaged:\n%s", d)
	}
	if got := told(t, s, "cat x/y/z; echo more >> a.txt; cat a.txt"); got != "z\none\ntwo\nmore" {
		t.Errorf("the next command says %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("on the disk is %q, %v", text, err)
	}
}

// TestStagedTasks checks that a background task and tools see the same tree.
func TestStagedTasks(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"a.txt": "one\n"})
	before := snapshot(t, dir)
	s := stagedShell(t, newShelled(t), dir)
	id := background(t, s, "until [ -e go ]; do sleep 0.02; done; cat go; echo done > ended")
	if got := answers(t, s, "Write", map[string]any{"file_path": "go", "content": "by a tool\n"}); strings.HasPrefix(got, "ERROR") {
		t.Fatal(got)
	}
	taskEnds(t, s, id)
	if got := answers(t, s, "TaskOutput", map[string]any{"task_id": id}); !strings.Contains(got, "by a tool") {
		t.Errorf("it says %q", got)
	}
	list, err := s.Stage().List(stage.Selection{})
	must(t, err)
	var paths []string
	for i := range list {
		paths = append(paths, filepath.Base(list[i].Path))
	}
	if slices.Sort(paths); !slices.Equal(paths, []string{"ended", "go"}) {
		t.Errorf("staged are %q", paths)
	}
	if now := snapshot(t, dir); now != before {
		t.Errorf("the disk changed: %s", now)
	}
}

// TestUnstagedCommands refuses commands in a staged session without asking: those that would leave the
// sandbox and, where commands cannot be staged, all.
func TestUnstagedCommands(t *testing.T) {
	t.Parallel()
	outside := newShelled(t, func(o *host.Options) { o.Permissions.Rules = nil })
	s := stagedShell(t, outside, files(t, nil))
	must(t, s.Close(t.Context()))
	s = session(t, outside.Host, host.SessionOptions{Stage: true, Asker: nobody{t}})
	result, _ := one(t, s, "Bash", string(bash("1", "touch a", map[string]any{"dangerouslyDisableSandbox": true}).Input))
	wantError(t, result, abi.CodeDenied, "outside the sandbox", "toolquay stage")
	dir := files(t, nil)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	for _, around := range []string{dir, link} {
		h := newShelled(t, func(o *host.Options) { o.Storage.Sessions = filepath.Join(around, "below", "sessions") })
		s = session(t, h.Host, host.SessionOptions{Cwd: dir, Stage: true})
		result, _ = one(t, s, "Bash", string(bash("1", "cat a").Input))
		wantError(t, result, abi.CodeDenied, "holds the directory of sessions", "work in a directory below")
	}
	off := newShelled(t, func(o *host.Options) { o.Permissions.Rules, o.Shell.Sandbox.Mode = nil, sandbox.Off })
	s = session(t, off.Host, host.SessionOptions{Stage: true, Asker: nobody{t}})
	for _, command := range []string{"cat a", "touch a"} {
		result, _ := one(t, s, "Bash", string(bash("1", command).Input))
		wantError(t, result, abi.CodeDenied, "Bash runs commands", "without a sandbox here", "toolquay stage")
	}
}

// TestStagedRepository asks nobody about git in a repository that a command made in the stage, even
// when its configuration is changed, until the repository holds a file that a rule denies.
func TestStagedRepository(t *testing.T) {
	t.Parallel()
	testenv.NeedTool(t, "git")
	dir := settledFiles(t, nil)
	before := snapshot(t, dir)
	h := newShelled(t, func(o *host.Options) {
		o.Permissions.Rules = rules("Read(.env)", "", "")
		o.Shell.Environ = append(o.Shell.Environ, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	})
	must(t, stagedShell(t, h, dir).Close(t.Context()))
	asked := &counting{}
	s := session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true, Asker: asked})
	for _, step := range []struct {
		command, want string
		asks          int
	}{
		{"git init -q app && cd app && echo a > f && git add -A && git commit -qm one && echo ok", "ok", 0},
		{"echo b > f && git diff | tail -n 1", "+b", 0},
		{"git log -p -1 | tail -n 1", "+a", 0},
		{"sed -i s/b/c/ f && git diff f | grep '^[+-]'", "+c", 0},
		{"git stash -q && git stash show -p | tail -n 1; git stash pop -q", "+c", 0},
		{"git config user.email agent@example.com && git config user.email", "agent@example.com", 0},
		{"git checkout -qb other && git mv f g && git commit -qam two && git log --format=%s%ae -1", "twoa@b", 0},
		{"printf '100644 %s\\t.en''v\\n' $(git hash-object -w g) | git update-index --index-info && git commit -qm three && echo ok", "ok", 0},
		{"git log -p -1 | tail -n 1", "denied", 1},
	} {
		asked.n.Store(0)
		got := told(t, s, step.command)
		if n := asked.n.Load(); int(n) != step.asks || !strings.Contains(got, step.want) {
			t.Errorf("%s: asked %d times, and got %s", step.command, n, got)
		}
	}
	if now := snapshot(t, dir); now != before {
		t.Errorf("the disk changed: %s", now)
	}
	must(t, s.Close(t.Context()))
	s = session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true, Asker: asked})
	asked.n.Store(0)
	if got := told(t, s, "cd app && git log -p -1 | tail -n 1"); asked.n.Load() != 1 {
		t.Errorf("the first command of another process is judged by the disk: %s", got)
	}
	if got := told(t, s, "cd "+dir+"/app && git reset -q --hard HEAD~1 && git reflog expire --expire=now --all && git gc -q --prune=now && echo ok"); !strings.Contains(got, "ok") {
		t.Error(got)
	}
	must(t, s.Close(t.Context()))
	s = session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true, Asker: asked})
	asked.n.Store(0)
	if got := told(t, s, "cd app && git log -p -1 | grep -c '^diff'"); asked.n.Load() != 0 || !strings.Contains(got, "1") {
		t.Errorf("the first command of another process is judged by the disk: %s", got)
	}
}

// counting counts questions, and answers no.
type counting struct{ n atomic.Int32 }

func (*counting) Carries(kind host.QuestionKind) bool { return kind == host.QuestionApproval }

func (a *counting) Ask(context.Context, host.Question) (host.Reply, error) {
	a.n.Add(1)
	return host.Reply{}, nil
}
