package history_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/internal/testenv"
)

// restore restores and says which files were, and why others cannot be.
func (r *room) restore(sel history.Selection, o history.RestoreOptions) string {
	r.tb.Helper()
	done, err := r.Restore(r.tb.Context(), sel, o)
	var conflicts *history.ConflictError
	if err != nil && !errors.As(err, &conflicts) {
		r.tb.Fatal(err)
	}
	var out []string
	for _, d := range done {
		how := d.ID
		if d.Same {
			how = "same"
		}
		out = append(out, filepath.Base(d.Path)+" "+how)
	}
	if conflicts != nil {
		for _, c := range conflicts.Conflicts {
			out = append(out, filepath.Base(c.Path)+": "+c.Why)
		}
	}
	return strings.Join(out, "\n")
}

func TestRestore(t *testing.T) {
	t.Parallel()
	// begin writes a twice and new once, by two calls.
	begin := func(t *testing.T) *room {
		t.Helper()
		r := newRoom(t, history.Options{})
		r.put("a", "first")
		r.do("c1", "a", "second")
		r.do("c1", "new", "made")
		r.do("c2", "a", "third")
		return r
	}
	tests := map[string]struct {
		change func(*room)
		sel    history.Selection
		force  bool
		says   string
		a, new string
	}{
		"one write":           {nil, history.Selection{ID: "h3"}, false, "a h4", "second", "made"},
		"all":                 {nil, all, false, "a h4\nnew h5", "first", "-"},
		"a call":              {nil, history.Selection{Call: "c2"}, false, "a h4", "second", "made"},
		"a call before":       {nil, history.Selection{Call: "c1"}, false, "a: h3 (call c2) wrote it since", "third", "made"},
		"a call before, all":  {nil, history.Selection{Call: "c1"}, true, "a h4\nnew h5", "first", "-"},
		"an earlier write":    {nil, history.Selection{ID: "h1"}, false, "a: h3 (call c2) wrote it since", "third", "made"},
		"a new file":          {nil, history.Selection{ID: "h2"}, false, "new h4", "third", "-"},
		"changed":             {func(r *room) { r.put("a", "mine") }, all, false, "a: something else changed it since", "mine", "made"},
		"changed, forced":     {func(r *room) { r.put("a", "mine") }, all, true, "a h4\nnew h5", "first", "-"},
		"changed new file":    {func(r *room) { r.put("new", "mine") }, all, false, "new: something else changed it since", "third", "mine"},
		"removed":             {func(r *room) { _ = os.Remove(r.path("a")) }, all, false, "a: something else changed it since", "-", "made"},
		"removed, forced":     {func(r *room) { _ = os.Remove(r.path("a")) }, all, true, "a h4\nnew h5", "first", "-"},
		"as it was already":   {func(r *room) { r.put("a", "first") }, all, false, "a same\nnew h4", "first", "-"},
		"removed new file":    {func(r *room) { _ = os.Remove(r.path("new")) }, all, false, "a h4", "first", "-"},
		"changed in between":  {func(r *room) { r.put("a", "mine"); r.do("c3", "a", "fourth") }, all, false, "a: something else changed it between h3 and h4", "fourth", "made"},
		"written in between":  {func(r *room) { r.do("c1", "a", "fourth") }, history.Selection{Call: "c1"}, false, "a: h3 (call c2) wrote it too in between", "fourth", "made"},
		"not done":            {func(r *room) { r.keep("c3", "a", "never") }, all, false, "a h5\nnew h6", "first", "-"},
		"only not done":       {func(r *room) { r.keep("c3", "a", "never") }, history.Selection{Call: "c3"}, false, "", "third", "made"},
		"not done in between": {func(r *room) { r.keep("c3", "a", "never"); r.do("c4", "a", "fourth") }, all, false, "a h6\nnew h7", "first", "-"},
		"its directory is gone": {func(r *room) { _ = os.Remove(r.path("a")); _ = os.Mkdir(r.path("a"), 0o700) }, all, true,
			"a: it is a directory now", "", "made"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := begin(t)
			if test.change != nil {
				test.change(r)
			}
			for _, dry := range []bool{true, false} {
				got := strings.ReplaceAll(r.restore(test.sel, history.RestoreOptions{Force: test.force, DryRun: dry}), r.dir, "%")
				if dry {
					got = strings.ReplaceAll(got+"\n", " \n", " ?\n")
					if strings.Contains(got, ":") != strings.Contains(test.says, ":") || strings.Count(got, "\n") != len(strings.Split(test.says, "\n")) {
						t.Errorf("it would say %q", got)
					}
					continue
				}
				if got != test.says {
					t.Errorf("it says:\n%s\nwant:\n%s", got, test.says)
				}
			}
			if test.a != "" {
				r.is("a", test.a)
			}
			r.is("new", test.new)
			if entries, err := os.ReadDir(r.dir); err != nil || len(entries) > 2 {
				t.Errorf("it left %v, %v", entries, err)
			}
		})
	}
}

// TestUndoIsUndone goes back and forth, also by another process.
// TestRestoreOfAFullHistory gives all files back though what they are now has to be kept
// where there is no room.
func TestRestoreOfAFullHistory(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{MaxBytes: 100 << 10})
	random := rand.NewChaCha8([32]byte{1})
	content := func() string {
		text := make([]byte, 9<<10)
		_, _ = random.Read(text) // never fails
		return string(text)
	}
	first := make(map[string]string)
	for i := range 10 {
		name := strconv.Itoa(i)
		first[name] = content()
		r.put(name, first[name])
		r.do("c1", name, content())
	}
	r.restore(all, history.RestoreOptions{})
	for name, want := range first {
		if got, err := os.ReadFile(r.path(name)); string(got) != want {
			t.Errorf("%s is not what it was: %v", name, err)
		}
	}
}

func TestUndoIsUndone(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.put("a", "first")
	r.do("c", "a", "second")
	r.do("c", "new", "made")
	r.restore(all, history.RestoreOptions{})
	r.is("a", "first")
	r.Store = r.open(history.Options{})
	for _, step := range []struct{ id, a, new string }{{"h4", "first", "made"}, {"h3", "second", "made"}, {"h5", "second", "-"}} {
		r.restore(history.Selection{ID: step.id}, history.RestoreOptions{})
		r.is("a", step.a)
		r.is("new", step.new)
	}
	const want = "h1 write c a: 5>6 done\nh2 write c new: ->4 done\nh3 restore restore-h3 all a: 6>5 done\nh4 restore restore-h3 all new: 4>- done\n" +
		"h5 restore restore-h5 h4 new: ->4 done\nh6 restore restore-h6 h3 a: 5>6 done\nh7 restore restore-h7 h5 new: 4>- done"
	if got := r.list(all); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestForceKeepsWhatIsThere: nothing is ever lost by restoring.
func TestForceKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	r.do("c", "new", "made")
	r.put("new", "mine, and long worked on")
	r.restore(all, history.RestoreOptions{Force: true})
	r.is("new", "-")
	r.restore(history.Selection{ID: "h2"}, history.RestoreOptions{})
	r.is("new", "mine, and long worked on")
}

func TestModeIsRestored(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	for name, change := range map[string]func(path string) error{
		"changed": func(path string) error { return os.Chmod(path, 0o640) },
		"removed": os.Remove,
	} {
		r := newRoom(t, history.Options{})
		r.put("a", "first")
		if err := os.Chmod(r.path("a"), 0o751); err != nil {
			t.Fatal(err)
		}
		r.do("c", "a", "second")
		if err := change(r.path("a")); err != nil {
			t.Fatal(err)
		}
		r.restore(history.Selection{ID: "h1"}, history.RestoreOptions{Force: true})
		if info, err := os.Stat(r.path("a")); err != nil || info.Mode().Perm() != 0o751 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		r.is("a", "first")
	}
}

// TestLinksAreNotFollowed puts links where files were, and where their directories
// were.
func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	testenv.Permitted(t, testenv.Unix)
	for _, way := range []string{"file", "directory"} {
		r := newRoom(t, history.Options{})
		r.put("d/a", "first")
		r.do("c", "d/a", "second")
		r.put("other/a", "second")
		link, to := r.path("d/a"), r.path("other/a")
		if way == "directory" {
			link, to = r.path("d"), r.path("other")
		}
		if err := os.RemoveAll(link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		want := "a: " + map[string]string{"file": "it is a link to ", "directory": "the path leads to "}[way] + r.path("other/a") + " now"
		if got := r.restore(all, history.RestoreOptions{Force: true}); got != want {
			t.Errorf("%s: %s", way, got)
		}
		r.is("other/a", "second")
		if now, err := os.Readlink(link); err != nil || now != to {
			t.Errorf("%s: the link leads to %s, %v", way, now, err)
		}
	}
}

func TestNothingToRestore(t *testing.T) {
	t.Parallel()
	r := newRoom(t, history.Options{})
	if _, err := r.Restore(t.Context(), all, history.RestoreOptions{}); !errors.Is(err, history.ErrNothing) {
		t.Error(err)
	}
	r.do("c", "a", "1")
	if _, err := r.Restore(t.Context(), history.Selection{ID: "h9"}, history.RestoreOptions{}); !errors.Is(err, history.ErrNothing) {
		t.Error(err)
	}
}
