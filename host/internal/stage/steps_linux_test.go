package stage_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/host/internal/capability/workspace"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/internal/testenv"
)

// much returns a stage with a change of each kind, and a directory with the result of applying
// it.
func much(t *testing.T) (r *room, want string) {
	t.Helper()
	want = t.TempDir()
	project(t, want)
	err := errors.Join(
		os.Remove(want+"/a"), mkdir(want, "a"), write(want, "a/x", "x", 0o644), // a file becomes a directory
		os.RemoveAll(want+"/d"), mkdir(want, "d"), write(want, "d/x", "X", 0o644), write(want, "d/z", "z", 0o755), // a directory is replaced
		os.Remove(want+"/l"), write(want, "l", "l", 0o644), // a link becomes a file
		os.Remove(want+"/ro"), // a file is removed
		mkdir(want, "n"), mkdir(want, "n/m"), write(want, "n/m/f", "f", 0o644), os.Symlink("m", want+"/n/k"),
		write(want, "tool", "tool", 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	r, u := layered(t)
	u.opaque("a")
	u.write("a/x", "x", 0o644)
	u.opaque("d")
	u.write("d/x", "X", 0o644)
	u.write("d/z", "z", 0o755)
	u.write("l", "l", 0o644)
	u.remove("ro")
	u.opaque("n")
	u.opaque("n/m")
	u.write("n/m/f", "f", 0o644)
	u.link("n/k", "m")
	r.ran()
	r.stage("tool", "tool")
	return r, want
}

// TestKilledAtEachStep kills a process at each step of an apply, and applies again: then all
// changes are made, nothing is left in the stage, and everything can be undone.
func TestKilledAtEachStep(t *testing.T) {
	t.Parallel()
	ended := false
	for step := 1; !ended; step++ {
		r, want := much(t)
		before := modes(t, r.work)
		ended = !r.dies("", step)
		if _, err := r.Apply(t.Context(), everything); err != nil && !errors.Is(err, stage.ErrNothing) {
			t.Fatalf("killed at step %d: %v\n%s", step, err, modes(t, r.work))
		}
		if got, want := tidied(t, r.work), modes(t, want); got != want {
			t.Fatalf("killed at step %d:\n%s\nwant:\n%s", step, got, want)
		}
		r.emptied()
		if _, err := r.history.Restore(t.Context(), history.Selection{}, history.RestoreOptions{}); err != nil {
			t.Fatalf("killed at step %d: undoing: %v", step, err)
		}
		if got := tidied(t, r.work); got != before {
			t.Fatalf("killed at step %d, undone:\n%s\nwant:\n%s", step, got, before)
		}
		const fewest = 20
		if ended && step < fewest {
			t.Errorf("it has %d steps", step)
		}
	}
}

// TestKilledWhileRemoving kills a process at each step of an apply, and then renames a file of a
// removed directory, as a process that is killed while it removes the file. Applying again removes
// it, and undoing does not bring it back under that name.
func TestKilledWhileRemoving(t *testing.T) {
	t.Parallel()
	aside := 0
	for step, dies := 1, true; dies; step++ {
		r, want := much(t)
		before := modes(t, r.work)
		dies = r.dies("", step)
		records, _, err := r.history.Records()
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.ContainsFunc(records, func(k history.Record) bool { return k.Path == r.path("d/sub/y") })
		if kept && os.Rename(r.path("d/sub/y"), r.path("d/sub/"+workspace.TemporaryName("y"))) == nil {
			aside++
		}
		if _, err := r.Apply(t.Context(), everything); err != nil && !errors.Is(err, stage.ErrNothing) {
			t.Fatalf("killed at step %d: %v\n%s", step, err, modes(t, r.work))
		}
		if got, want := modes(t, r.work), modes(t, want); got != want {
			t.Fatalf("killed at step %d:\n%s\nwant:\n%s", step, got, want)
		}
		if _, err := r.history.Restore(t.Context(), history.Selection{}, history.RestoreOptions{}); err != nil {
			t.Fatalf("killed at step %d: undoing: %v", step, err)
		}
		if got := modes(t, r.work); got != before {
			t.Fatalf("killed at step %d, undone:\n%s\nwant:\n%s", step, got, before)
		}
	}
	if aside == 0 {
		t.Error("it was never killed before the file was removed")
	}
}

// dies runs a process that does something, and reports whether the process was killed at a step.
func (r *room) dies(what string, step int) bool {
	r.tb.Helper()
	cmd := exec.CommandContext(r.tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%d\n%s", victim, r.dir, filepath.Join(filepath.Dir(r.dir), "history"), step, what))
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); err != nil && (!ok || status.Signal() != syscall.SIGKILL) {
		r.tb.Fatalf("step %d: %v\n%s", step, err, out)
	}
	r.Store = r.open(r.history)
	return err != nil
}

// TestKilledWhileStaging kills a process at each step of staging and of discarding. The disk is
// unchanged, each file is staged in its former or its new state, and doing the same again has the
// result of doing it once.
func TestKilledWhileStaging(t *testing.T) {
	t.Parallel()
	const first = "a: a file of 1 bytes > a file of 3 bytes, d/sub: a directory > nothing, d/sub/y: a file of 1 bytes > nothing, d/x: a file of 1 bytes > nothing, d/z: nothing > a file of 1 bytes, "
	const other = "other: nothing > a file of 5 bytes"
	for what, want := range map[string]string{
		"put": strings.Replace(first, "3 bytes", "5 bytes", 1) + "deep/er/b: nothing > a file of 4 bytes, " + other, "discard": "", "discard some": other,
	} {
		for step, dies := 1, true; dies; step++ {
			r, u := layered(t)
			before := modes(t, r.work)
			r.stage("a", "new")
			u.opaque("d")
			u.write("d/z", "z", 0o644)
			u.write("other", "other", 0o644)
			r.ran()
			const fewest = 3
			if dies = r.dies(what, step); !dies && step <= fewest {
				t.Errorf("%s has %d steps", what, step)
			}
			got := r.kinds()
			if modes(t, r.work) != before {
				t.Errorf("%s, killed at step %d: the disk is\n%s", what, step, modes(t, r.work))
			}
			for part := range strings.SplitSeq(got, ", ") {
				if part != "" && !strings.Contains(first+other+want, part) && part != "deep/er: nothing > a directory" {
					t.Errorf("%s, killed at step %d: staged are %s", what, step, got)
				}
			}
			if what == "discard" && got == "" {
				r.anew()
			}
			if err := does(r.Store, what, r.work); err != nil && !errors.Is(err, stage.ErrNothing) {
				t.Errorf("%s, killed at step %d: once more: %v", what, step, err)
			}
			if got := r.kinds(); got != want {
				t.Errorf("%s, killed at step %d, done again:\n%s\nwant:\n%s", what, step, got, want)
			}
		}
	}
}

// anew changes a file on the disk for which something was staged and discarded, has a command
// change it after that, and applies the result.
func (r *room) anew() {
	r.tb.Helper()
	r.put("a", "theirs")
	layers, err := r.Layers([]string{r.work})
	if err != nil {
		r.tb.Fatal(err)
	}
	if err := write(layers[0].Upper, "a", "last", 0o644); err != nil {
		r.tb.Fatal(err)
	}
	r.ran()
	if done, err := r.Apply(r.tb.Context(), everything); err != nil || r.said(done) != "wrote a" {
		r.tb.Errorf("staged anew: %s, %v", r.said(done), err)
	}
	r.emptied()
}

// tidied returns the contents of a directory, without the temporary files that a killed host may
// leave.
func tidied(t *testing.T, dir string) string {
	t.Helper()
	var left []string
	for line := range strings.Lines(modes(t, dir)) {
		if strings.Contains(line, ".toolquay-") {
			left = append(left, line)
		}
	}
	if len(left) > 0 {
		t.Logf("left beside: %q", left)
	}
	text := modes(t, dir)
	for _, line := range left {
		text = strings.Replace(text, line, "", 1)
	}
	return text
}

// TestFullDisk applies to a full disk: changes are applied or stay staged, and once there is
// room, applying again makes the others.
func TestFullDisk(t *testing.T) {
	small := testenv.SmallDisk(t, 8<<20)
	if small == "" {
		return
	}
	r := newRoom(t)
	r.work = filepath.Join(small, "work")
	if err := os.Mkdir(r.work, 0o755); err != nil {
		t.Fatal(err)
	}
	const files, size = 12, 1 << 20
	for i := range files {
		r.stage(fmt.Sprintf("f%02d", i), strings.Repeat(string(rune('a'+i)), size))
	}
	done, err := r.Apply(t.Context(), everything)
	if err == nil || len(done) == 0 || len(done) == files {
		t.Fatalf("%d applied, %v", len(done), err)
	}
	if left := strings.Fields(stagedNames(t, r)); len(left) != files-len(done) {
		t.Errorf("%d applied, %d staged still", len(done), len(left))
	}
	for i := range done {
		path := r.path(fmt.Sprintf("f%02d", i))
		if text, err := os.ReadFile(path); err != nil || len(text) != size {
			t.Errorf("%s has %d bytes, %v", path, len(text), err)
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Apply(t.Context(), everything); err != nil || stagedNames(t, r) != "" {
		t.Errorf("with room: %v, left %s", err, stagedNames(t, r))
	}
}

// TestFullStage stages on a full disk: the failed write changes nothing in the stage.
func TestFullStage(t *testing.T) {
	small := testenv.SmallDisk(t, 4<<20)
	if small == "" {
		return
	}
	r := newRoom(t)
	r.dir = filepath.Join(small, "stage")
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Store = r.open(r.history)
	r.stage("a", "first")
	var err error
	for i := 0; err == nil && i < 20; i++ {
		err = stageIn(r.Store, r.path("a"), strings.Repeat("x", (i+1)<<20))
	}
	if err == nil {
		t.Fatal("there was room")
	}
	r.Store = r.open(r.history)
	if got := r.staged(); strings.Trim(got, "x") != "a=" && got != "a=first" {
		t.Errorf("it is a mix of %d bytes", len(got))
	}
	if _, err := r.Discard(t.Context(), everything); err != nil {
		t.Error(err)
	}
	r.emptied()
}
