package protected

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/internal/paths"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// walker walks a directory again and again, as the commands of a session have it done.
type walker struct {
	tb     testing.TB
	dir    string
	policy *permissions.Policy
	memory Memory
	most   int
}

func newWalker(tb testing.TB, dir string) *walker {
	tb.Helper()
	policy, _, err := permissions.Compile(permissions.Setup{
		Layout: permissions.Layout{Cwd: permissions.Dir{Path: dir, Real: paths.Real(dir)}},
		Rules:  []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Read(*.key)")}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return &walker{tb: tb, dir: dir, policy: policy, most: MaxNames}
}

// walk is what is found to be hidden, as paths in the directory.
func (w *walker) walk() (hidden, unwalked []string) {
	w.tb.Helper()
	walk := w.memory.NewWalk(w.tb.Context(), w.policy, w.policy.SandboxPolicy(nil), Bounds{Names: w.most})
	if err := walk.Ruled([]string{w.dir}); err != nil {
		w.tb.Fatal(err)
	}
	walk.Remember()
	relative := func(paths []string) (out []string) {
		for _, path := range paths {
			rel, err := filepath.Rel(w.dir, path)
			if err != nil {
				w.tb.Fatal(err)
			}
			out = append(out, rel)
		}
		slices.Sort(out)
		return out
	}
	return relative(walk.Hidden), relative(walk.Unwalked)
}

func (w *walker) make(names ...string) {
	w.tb.Helper()
	for _, name := range names {
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			w.tb.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// TestWalkRemembers finds what comes, goes and is called otherwise between two walks,
// also where the directories have been left alone for long enough to be remembered.
func TestWalkRemembers(t *testing.T) {
	t.Parallel()
	w := newWalker(t, t.TempDir())
	w.make("a/b/c/plain", "a/b/x.key", "z/other")
	rename := func(from, to string) func() error {
		return func() error { return os.Rename(filepath.Join(w.dir, from), filepath.Join(w.dir, to)) }
	}
	for _, step := range []struct {
		name string
		do   func() error
		want string
	}{
		{"at first", func() error { return nil }, "a/b/x.key"},
		{"nothing", func() error { return nil }, "a/b/x.key"},
		{"a file", func() error { w.make("a/b/c/y.key"); return nil }, "a/b/c/y.key a/b/x.key"},
		{"a name", rename("a/b/c/plain", "a/b/c/plain.key"), "a/b/c/plain.key a/b/c/y.key a/b/x.key"},
		{"a plain name", rename("a/b/c/y.key", "a/b/c/y"), "a/b/c/plain.key a/b/x.key"},
		{"a directory's name", rename("a/b", "a/d"), "a/d/c/plain.key a/d/x.key"},
		{"a directory moved", rename("a/d", "z/d"), "z/d/c/plain.key z/d/x.key"},
		{"a directory that is hidden", rename("z/d/c", "z/d/c.key"), "z/d/c.key z/d/x.key"},
		{"a removal", func() error { return os.Remove(filepath.Join(w.dir, "z/d/x.key")) }, "z/d/c.key"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if hidden, _ := w.walk(); strings.Join(hidden, " ") != step.want {
				t.Errorf("%s: %v, want %s", step.name, hidden, step.want)
			}
			time.Sleep(2 * settlingTime)
		}
	}
}

// settlingTime is for how long directories are left alone before they are remembered.
const settlingTime = 25 * time.Millisecond

// TestWalkOfWhatChangesAllTheTime misses nothing where files come and go as fast as can
// be, and the clock of the file system stands still meanwhile.
func TestWalkOfWhatChangesAllTheTime(t *testing.T) {
	t.Parallel()
	w := newWalker(t, t.TempDir())
	w.make("a/b/plain")
	secret := filepath.Join(w.dir, "a/b/x.key")
	for i := range testenv.Sample(2000) {
		w.make("a/b/x.key")
		if hidden, _ := w.walk(); !slices.Equal(hidden, []string{"a/b/x.key"}) {
			t.Fatalf("round %d: %v", i, hidden)
		}
		if err := os.Remove(secret); err != nil {
			t.Fatal(err)
		}
		if hidden, _ := w.walk(); hidden != nil {
			t.Fatalf("round %d: %v", i, hidden)
		}
	}
}

// TestWalkForgets goes by no other policy's walk.
func TestWalkForgets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWalker(t, dir)
	w.make("a/x.key")
	time.Sleep(2 * settlingTime)
	w.walk()
	other := newWalker(t, dir)
	last := w.memory.last.Load()
	other.memory.last.Store(last)
	for _, known := range last.dirs {
		known.odd = nil // which nobody would notice by the directory
	}
	if hidden, _ := other.walk(); !slices.Equal(hidden, []string{"a/x.key"}) {
		t.Errorf("got %v", hidden)
	}
}

// TestWalkGivesUp leaves out what lies deepest, and the same where it remembers.
func TestWalkGivesUp(t *testing.T) {
	t.Parallel()
	w := newWalker(t, t.TempDir())
	w.most = 8
	w.make("a/x.key", "b/1", "c/d/1", "c/d/2", "c/d/3", "c/d/4.key")
	time.Sleep(2 * settlingTime)
	for range 2 { // 3 names on top, 1 in each of a, b and c, and then there are 2 left
		hidden, unwalked := w.walk()
		if !slices.Equal(hidden, []string{"a/x.key"}) || !slices.Equal(unwalked, []string{"c/d"}) {
			t.Errorf("hidden %v, not looked at %v", hidden, unwalked)
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	w := newWalker(b, b.TempDir())
	for i := range 10_000 {
		w.make(fmt.Sprintf("d%d/f%d", i%100, i))
	}
	time.Sleep(2 * settlingTime)
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			w.memory.last.Store(nil)
			w.walk()
		}
	})
	b.Run("warm", func(b *testing.B) {
		for b.Loop() {
			w.walk()
		}
	})
}
