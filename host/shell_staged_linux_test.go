package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// stagedPaths returns the staged paths, relative to a directory.
func stagedPaths(tb testing.TB, s *host.Session, dir string) (paths []string) {
	tb.Helper()
	list, err := s.Stage().List(stage.Selection{})
	must(tb, err)
	for i := range list {
		rel, err := filepath.Rel(dir, list[i].Path)
		must(tb, err)
		paths = append(paths, rel)
	}
	return paths
}

// TestStagedDirectories stages the changes of commands in all directories of a session: nested, named
// by a link, and outside of the first.
func TestStagedDirectories(t *testing.T) {
	t.Parallel()
	root := settledFiles(t, map[string]string{"w/f": "f\n", "w/in/g": "g\n", "real/h": "h\n", "apart/i": "i\n", "w/shut/j": "j\n"})
	must(t, errors.Join(os.Symlink("real", filepath.Join(root, "link")), os.Chmod(filepath.Join(root, "w/shut"), 0o555)))
	t.Cleanup(func() { must(t, os.Chmod(filepath.Join(root, "w/shut"), 0o755)) })
	before := snapshot(t, root)
	h := newShelled(t)
	must(t, stagedShell(t, h, filepath.Join(root, "w")).Close(t.Context()))
	s := session(t, h.Host, host.SessionOptions{
		ID: "mine", Cwd: filepath.Join(root, "w"), Mode: permissions.ModeAcceptEdits, Stage: true,
		AdditionalDirs: []string{filepath.Join(root, "w/in"), filepath.Join(root, "link"), filepath.Join(root, "apart")},
	})
	if got := told(t, s, "echo 1 >> f; echo 2 >> in/g; echo 3 >> ../real/h; echo 4 >> ../apart/i; cat f in/g ../real/h ../apart/i"); !strings.HasSuffix(got, "f\n1\ng\n2\nh\n3\ni\n4") {
		t.Errorf("it prints %q", got)
	}
	if got := told(t, s, "chmod 755 shut && echo 5 > shut/new && cat shut/*"); got != "j\n5" {
		t.Errorf("in a closed directory it prints %q", got)
	}
	if got := answers(t, s, "Read", map[string]any{"file_path": filepath.Join(root, "link/h")}); !strings.Contains(got, "3") {
		t.Errorf("by a link a tool reads %q", got)
	}
	want := []string{"apart/i", "real/h", "w/f", "w/in/g", "w/shut", "w/shut/new"}
	if got := stagedPaths(t, s, root); !slices.Equal(got, want) {
		t.Errorf("staged are %q, and not %q", got, want)
	}
	if now := snapshot(t, root); now != before {
		t.Errorf("the disk changed: %s", now)
	}
	if _, err := s.Stage().Apply(t.Context(), stage.Selection{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"w/f": "f\n1\n", "w/in/g": "g\n2\n", "real/h": "h\n3\n", "apart/i": "i\n4\n", "w/shut/new": "5\n"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
}

// TestStagedWritable stages the changes of commands in a directory that settings make writable and that
// contains the session's.
func TestStagedWritable(t *testing.T) {
	t.Parallel()
	root := settledFiles(t, map[string]string{"work/f": "f\n", "beside": "b\n"})
	h := newShelled(t, func(o *host.Options) { o.Shell.Sandbox.Writable = []string{root} })
	s := stagedShell(t, h, filepath.Join(root, "work"))
	for _, command := range []string{"cat f", "echo 1 >> f; echo 2 >> ../beside; cat f ../beside"} {
		if got := told(t, s, command); !strings.HasPrefix(got, "f") {
			t.Errorf("%s: it prints %q", command, got)
		}
	}
	if got, want := stagedPaths(t, s, root), []string{"beside", "work/f"}; !slices.Equal(got, want) {
		t.Errorf("staged are %q, and not %q", got, want)
	}
	for name, want := range map[string]string{"work/f": "f\n", "beside": "b\n"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
}

// TestStagedCrowd runs fifty commands in one stage at once, while tools write there too.
func TestStagedCrowd(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"f": "f\n"})
	before := snapshot(t, dir)
	s := stagedShell(t, newShelled(t), dir)
	const crowd = 50
	var uses []abi.ToolUse
	for i := range crowd {
		uses = append(uses, bash(fmt.Sprint("b", i), fmt.Sprintf("mkdir -p d/%d && echo %[1]d > d/%[1]d/f && (flock 9; echo %[1]d >> all) 9>lock", i)))
		input, err := json.Marshal(map[string]any{"file_path": fmt.Sprintf("d/%d/by-tool", i), "content": "t\n"})
		must(t, err)
		uses = append(uses, use(fmt.Sprint("w", i), "Write", string(input)))
	}
	for _, r := range s.Results(t.Context(), uses) {
		if text := r.Text(); r.IsError || strings.Contains(text, "looked through") {
			t.Errorf("%s: %s", r.ToolUseID, text)
		}
	}
	if got := told(t, s, "wc -l < all; ls d/*/f | wc -l; cat d/*/by-tool | wc -l"); got != "50\n50\n50" {
		t.Errorf("there are %q", got)
	}
	if got := stagedPaths(t, s, dir); len(got) != 2*crowd+2 {
		t.Errorf("staged are %d: %q", len(got), got)
	}
	if now := snapshot(t, dir); now != before {
		t.Errorf("the disk changed: %s", now)
	}
}

// TestStagedElsewhere applies and discards as another process does, while the session goes on. The
// session's next command sees the result. While a command runs, both are refused.
func TestStagedElsewhere(t *testing.T) {
	t.Parallel()
	dir := settledFiles(t, map[string]string{"f": "f\n", "g": "g\n"})
	h := newShelled(t)
	s := stagedShell(t, h, dir)
	other := stage.Open(filepath.Join(h.sessions, "mine", stage.Dir), stage.Options{})
	told(t, s, "echo 1 >> f; echo 1 >> g; mkdir d; echo 1 > d/n")
	if _, err := other.Apply(t.Context(), stage.Selection{Paths: []string{filepath.Join(dir, "f")}}); err != nil {
		t.Fatal(err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("by a person\n"), 0o644))
	if got := told(t, s, "cat f g d/n"); got != "by a person\ng\n1\n1" {
		t.Errorf("once a file was applied, and changed, a command finds %q", got)
	}
	id := background(t, s, "until [ -e stop ]; do sleep 0.02; done; echo 2 > end")
	if _, err := other.Apply(t.Context(), stage.Selection{}); err == nil || !strings.Contains(err.Error(), "a command of the session still runs") {
		t.Errorf("applied while a command runs: %v", err)
	}
	if got := answers(t, s, "Write", map[string]any{"file_path": "stop", "content": "s\n"}); strings.HasPrefix(got, "ERROR") {
		t.Error(got)
	}
	taskEnds(t, s, id)
	soon(t, "that the task's changes can be discarded", func() bool {
		_, err := other.Discard(t.Context(), stage.Selection{})
		return err == nil
	})
	if got := told(t, s, "cat f g; ls"); !strings.HasPrefix(got, "by a person\ng\nf\ng\n\n") {
		t.Errorf("once all was discarded a command finds %q", got)
	}
	if got := told(t, s, "echo 3 > anew; cat anew"); !strings.HasPrefix(got, "3") {
		t.Errorf("then it writes %q", got)
	}
	if got := stagedPaths(t, s, dir); !slices.Equal(got, []string{"anew"}) {
		t.Errorf("staged are %q", got)
	}
	if got := answers(t, s, "EnterWorktree", map[string]any{"name": "x"}); !strings.HasPrefix(got, "ERROR") || !strings.Contains(got, "staged") {
		t.Errorf("a worktree: %s", got)
	}
}

// TestStagedVanished refuses commands if a working directory was replaced or removed since it was staged.
func TestStagedVanished(t *testing.T) {
	t.Parallel()
	root := settledFiles(t, map[string]string{"w/f": "f\n"})
	dir := filepath.Join(root, "w")
	s := stagedShell(t, newShelled(t), dir)
	told(t, s, "echo 1 >> f")
	must(t, errors.Join(os.Rename(dir, dir+"-before"), os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "f"), []byte("other\n"), 0o644)))
	if got := told(t, s, "echo 2 >> f"); !strings.Contains(got, "was moved or replaced") {
		t.Errorf("a command in another directory: %s", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(text) != "other\n" {
		t.Errorf("it holds %q, %v", text, err)
	}
	must(t, os.RemoveAll(dir))
	if got := told(t, s, "echo 3 > f"); !strings.Contains(got, "could not be made") {
		t.Errorf("a command in none: %s", got)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
}

// TestStagedFull fills the disk that holds the stage: commands fail, the working directory does not
// change, and discarding makes room.
func TestStagedFull(t *testing.T) {
	const size = 16 << 20
	disk := testenv.SmallDisk(t, size)
	if disk == "" {
		return
	}
	dir := settledFiles(t, map[string]string{"f": "f\n"})
	before := snapshot(t, dir)
	h := newShelled(t, func(o *host.Options) { o.Storage.Sessions = filepath.Join(disk, "sessions") })
	h.sessions = filepath.Join(disk, "sessions")
	s := stagedShell(t, h, dir)
	if got := told(t, s, "head -c 30M /dev/zero > big; echo more >> f"); !strings.Contains(got, "No space left") {
		t.Errorf("it prints %q", got)
	}
	if got := answers(t, s, "Write", map[string]any{"file_path": "by-tool", "content": strings.Repeat("x", 1<<20)}); !strings.HasPrefix(got, "ERROR") {
		t.Errorf("a tool writes: %s", got)
	}
	if now := snapshot(t, dir); now != before {
		t.Errorf("the disk changed: %s", now)
	}
	if _, err := s.Stage().Discard(t.Context(), stage.Selection{}); err != nil {
		t.Fatal(err)
	}
	if got := told(t, s, "ls; echo more >> f; cat f"); got != "f\nf\nmore" {
		t.Errorf("then it prints %q", got)
	}
}

// stagedVictim is the variable that makes a test process a host to be killed while a command runs. Its
// value is the working directory.
const stagedVictim = "TOOLQUAY_TEST_STAGED_VICTIM"

// TestStagedKilled kills a host while a command runs: the disk has not changed, the next session has the
// command's changes staged, and they can be applied.
func TestStagedKilled(t *testing.T) {
	if dir := os.Getenv(stagedVictim); dir != "" {
		h := newShelled(t, func(o *host.Options) { o.Storage.Sessions = filepath.Join(filepath.Dir(dir), "sessions") })
		s := stagedShell(t, h, dir)
		told(t, s, "echo before >> f")
		told(t, s, "echo while >> f; rm g; mkdir d; echo new > d/n; echo > ../ready 2>/dev/null; touch ready; sleep 600")
		return
	}
	testenv.NeedTool(t, "bwrap")
	root := settledFiles(t, map[string]string{"w/f": "f\n", "w/g": "g\n"})
	dir, sessions := filepath.Join(root, "w"), filepath.Join(root, "sessions")
	before := snapshot(t, dir)
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), stagedVictim+"="+dir, "TMPDIR="+t.TempDir()) // it is killed with files in it
	must(t, cmd.Start())
	upper := filepath.Join(sessions, "mine", stage.Dir, "upper", dir)
	soon(t, "the command", func() bool {
		_, err := os.Lstat(filepath.Join(upper, "ready"))
		return err == nil
	})
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if now := snapshot(t, dir); now != before {
		t.Errorf("the disk changed: %s", now)
	}
	h := newShelled(t, func(o *host.Options) { o.Storage.Sessions = sessions })
	s := stagedShell(t, h, dir)
	if got := told(t, s, "cat f d/n; ls"); got != "f\nbefore\nwhile\nnew\nd\nf\nready" {
		t.Errorf("the next session finds %q", got)
	}
	soon(t, "the end of the command that ran", func() bool {
		_, err := s.Stage().Apply(t.Context(), stage.Selection{})
		return err == nil
	})
	names := slices.Sorted(maps.Keys(testenv.Tree(t, dir)))
	if want := []string{".", "d", "d/n", "f", "ready"}; !slices.Equal(names, want) {
		t.Errorf("applied there are %q", names)
	}
}

// TestStagedOverOverlay offers no commands if the directories of sessions lie in an overlay, which
// cannot be the upper layer of another one. The refusal says so.
func TestStagedOverOverlay(t *testing.T) {
	disk := testenv.OverlaidDisk(t)
	if disk == "" {
		return
	}
	dir := files(t, map[string]string{"f": "f\n"})
	h := newShelled(t, func(o *host.Options) { o.Storage.Sessions = filepath.Join(disk, "sessions") })
	s := session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir, Mode: permissions.ModeAcceptEdits, Stage: true, Asker: nobody{t}})
	result, _ := one(t, s, "Bash", `{"command":"echo more >> f"}`)
	wantError(t, result, abi.CodeDenied, "Bash runs commands", "cannot stage", "overlay", "toolquay stage")
	if strings.Contains(definitions(t, s, host.FormatAnthropic), `"Bash"`) {
		t.Error("the model is offered Bash")
	}
	if got := answers(t, s, "Write", map[string]any{"file_path": "new", "content": "n"}); strings.HasPrefix(got, "ERROR") {
		t.Errorf("tools stage nothing either: %s", got)
	}
}
