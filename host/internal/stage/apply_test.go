package stage_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/changes"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
	"github.com/toolquay/toolquay/internal/testenv"
)

// said is what was applied, a word each.
func (r *room) said(done []stage.Applied) string {
	var out []string
	for _, d := range done {
		rel, _ := filepath.Rel(r.work, d.Path)
		word := "wrote"
		switch {
		case d.Same:
			word = "same"
		case d.Created:
			word = "made"
		case d.Removed:
			word = "removed"
		}
		out = append(out, word+" "+filepath.ToSlash(rel))
	}
	return strings.Join(out, ", ")
}

// TestApply writes what is staged, keeps modes, and can be undone.
func TestApply(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.put("a", "old")
	if err := os.Chmod(r.path("a"), 0o750); err != nil {
		t.Fatal(err)
	}
	r.put("c", "other")
	before := tree(t, r.work)
	r.stage("a", "new")
	r.stage("deep/er/b", "made")
	r.stage("c", "same")
	r.put("c", "same")
	done, err := r.Apply(t.Context(), everything)
	if err != nil || r.said(done) != "wrote a, same c, made deep/er/b" || r.staged() != "" {
		t.Fatalf("%s, %v, left %s", r.said(done), err, r.staged())
	}
	const want = "---------- a: new\n---------- c: same\nd--------- deep\nd--------- deep/er\n---------- deep/er/b: made\n"
	if got := tree(t, r.work); got != want {
		t.Errorf("the disk:\n%s", got)
	}
	if info, err := os.Stat(r.path("a")); err != nil || info.Mode().Perm() != 0o750 && os.PathSeparator == '/' {
		t.Errorf("the mode: %v, %v", info.Mode(), err)
	}
	r.emptied()
	if _, err := r.history.Restore(t.Context(), history.Selection{Call: done[0].Call}, history.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	r.put("c", "other")
	if got := strings.Replace(tree(t, r.work), "d--------- deep\nd--------- deep/er\n", "", 1); got != before {
		t.Errorf("undone:\n%s", got)
	}
	if _, err := r.Apply(t.Context(), everything); !errors.Is(err, stage.ErrNothing) {
		t.Errorf("nothing: %v", err)
	}
}

// emptied checks that nothing is left of what was staged.
func (r *room) emptied() {
	r.tb.Helper()
	for _, name := range []string{"upper", "work", "new", "gone"} {
		if _, err := os.Lstat(filepath.Join(r.dir, name)); err == nil {
			r.tb.Errorf("left: %s", tree(r.tb, filepath.Join(r.dir, name)))
		}
	}
}

// TestConflicts checks that nothing is applied if one file on the disk has changed, and that the
// others can be applied by name.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(r *room) error
		why    string
	}{
		"changed": {func(r *room) error { r.put("a", "somebody's"); return nil }, "changed by something else"},
		"removed": {func(r *room) error { return os.Remove(r.path("a")) }, "removed since"},
		"made":    {func(r *room) error { r.put("new", "somebody's"); return nil }, "created by something else"},
		"a directory": {func(r *room) error {
			return errors.Join(os.Remove(r.path("a")), os.Mkdir(r.path("a"), 0o700))
		}, "changed by something else"},
		"a link": {func(r *room) error {
			return errors.Join(os.Rename(r.path("a"), r.path("x")), os.Symlink("x", r.path("a")))
		}, "changed by something else"},
		"a link above": {func(r *room) error {
			return errors.Join(os.Rename(r.path("sub"), r.path("other")), os.Symlink("other", r.path("sub")))
		}, "the path leads to"},
		"a file above": {func(r *room) error {
			return errors.Join(os.RemoveAll(r.path("sub")), os.WriteFile(r.path("sub"), nil, 0o600))
		}, "changed by something else"},
		"read-only": {func(r *room) error { return os.Chmod(r.path("a"), 0o400) }, "read-only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t)
			r.put("a", "old")
			r.put("fine", "old")
			r.put("sub/b", "old")
			for _, file := range []string{"a", "fine", "new", "sub/b"} {
				r.stage(file, "new")
			}
			if err := c.change(r); err != nil {
				t.Fatal(err)
			}
			before, staged := tree(t, r.work), stagedNames(t, r)
			done, err := r.Apply(t.Context(), everything)
			conflicts, ok := errors.AsType[*stage.ConflictError](err)
			if !ok || len(done) != 0 || !slices.ContainsFunc(conflicts.Conflicts, func(f stage.Conflict) bool { return strings.Contains(f.Why, c.why) }) {
				t.Fatalf("%v, %v", done, err)
			}
			if got := tree(t, r.work); got != before || stagedNames(t, r) != staged {
				t.Errorf("something was done:\n%s", got)
			}
			if _, err := r.Apply(t.Context(), stage.Selection{Paths: []string{r.path("fine")}}); err != nil {
				t.Errorf("the other: %v", err)
			}
			if text, _ := os.ReadFile(r.path("fine")); string(text) != "new" {
				t.Errorf("the other is %q", text)
			}
		})
	}
}

func stagedNames(tb testing.TB, r *room) string {
	tb.Helper()
	list, err := r.List(everything)
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Path)
	}
	return strings.Join(out, " ")
}

// meddler is a history that calls do between the check of a file and the write.
type meddler struct {
	stage.History
	do     func()
	voided int
}

func (m *meddler) KeepAll(ctx context.Context, by capability.Call, list []changes.Change, before []io.Reader) ([]string, error) {
	ids, err := m.History.KeepAll(ctx, by, list, before)
	m.do()
	return ids, err
}

func (m *meddler) Void(id string) error {
	m.voided++
	return m.History.Void(id)
}

// TestChangedUnderneath changes files after they were looked at, at the last moment:
// what somebody wrote stays, nothing is written elsewhere, and the rest stays staged.
func TestChangedUnderneath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file   string
		change func(r *room)
	}{
		"written":  {"sub/a", func(r *room) { r.put("sub/a", "somebody's") }},
		"replaced": {"sub/a", func(r *room) { r.put("x", "somebody's"); _ = os.Rename(r.path("x"), r.path("sub/a")) }},
		"made":     {"sub/new", func(r *room) { r.put("sub/new", "somebody's") }},
		"a link in its place": {"sub/a", func(r *room) {
			_ = os.Remove(r.path("sub/a"))
			_ = os.Symlink("../elsewhere/a", r.path("sub/a"))
		}},
		"the directory gives way to a link": {"sub/a", func(r *room) {
			_ = os.Rename(r.path("sub"), r.path("was"))
			_ = os.Symlink("elsewhere", r.path("sub"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t)
			r.put("sub/a", "old")
			r.put("elsewhere/a", "old")
			m := &meddler{History: r.history, do: func() {}}
			r.Store = r.open(m)
			r.stage(c.file, "new")
			r.stage("z", "last")
			var after string
			m.do = func() { c.change(r); after = tree(t, r.work); m.do = func() {} }
			done, err := r.Apply(t.Context(), everything)
			moved := strings.HasPrefix(name, "the directory") && err == nil
			if moved { // the directory that was judged was held, and got it
				if text, _ := os.ReadFile(r.path("was/a")); string(text) != "new" {
					t.Errorf("it went elsewhere: %s", tree(t, r.work))
				}
				return
			}
			if abi.CodeOf(err) != abi.CodeChanged || len(done) != 0 || m.voided == 0 {
				t.Fatalf("%v, %v, %d voided", done, err, m.voided)
			}
			if got := tree(t, r.work); got != after {
				t.Errorf("got:\n%s\nwant:\n%s", got, after)
			}
			if got := stagedNames(t, r); !strings.HasSuffix(got, r.path(c.file)+" "+r.path("z")) {
				t.Errorf("staged still: %s", got)
			}
		})
	}
}

// TestPatch has git apply what stage diff prints, and compares with applying.
func TestPatch(t *testing.T) {
	t.Parallel()
	git := testenv.NeedTool(t, "git")
	r := newRoom(t)
	r.put("a b", "one\ntwo\n")
	r.put("bin", "\x00\x01")
	r.put("same", "same")
	r.stage("a b", "one\nTWO\n")
	r.stage("bin", "\x00\x02")
	r.stage("deep/new", "made\n")
	r.stage("empty", "")
	odd := "odd"
	if os.PathSeparator == '/' { // others have no such names
		odd = "t\tab\nl\"ine\\ \u00e9"
	}
	r.stage(odd, "made\n")
	r.stage("same", "same")
	outside := filepath.Join(filepath.Dir(r.work), "outside")
	if err := stageIn(r.Store, outside, "x"); err != nil {
		t.Fatal(err)
	}
	var patch bytes.Buffer
	notes, err := r.Patch(t.Context(), &patch, everything, history.PatchOptions{Dir: r.work})
	if err != nil || len(notes) != 2 || notes[0].Path != outside || !notes[0].Left || notes[1].Path != r.path("same") || !notes[1].Same {
		t.Fatalf("%+v, %v", notes, err)
	}
	cmd := exec.CommandContext(t.Context(), git, "apply")
	cmd.Dir, cmd.Stdin = r.work, &patch
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git: %v\n%s", err, out)
	}
	want := "same a b, same bin, same deep/new, same empty, same " + min(odd, "same") + ", same " + max(odd, "same")
	done, err := r.Apply(t.Context(), stage.Selection{Paths: []string{r.work}})
	if err != nil || r.said(done) != want {
		t.Errorf("what git made differs: %s, %v", r.said(done), err)
	}
	r.put("z", "one")
	r.stage("z", "two")
	r.put("z", "three")
	patch.Reset()
	notes, err = r.Patch(t.Context(), &patch, stage.Selection{Paths: []string{r.path("z")}}, history.PatchOptions{Dir: r.work})
	if err != nil || len(notes) != 1 || notes[0].Left || !strings.Contains(patch.String(), "-three\n") {
		t.Errorf("changed since: %+v, %v\n%s", notes, err, &patch)
	}
}
