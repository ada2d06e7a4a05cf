package stage_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/history"
	"github.com/toolquay/toolquay/host/internal/stage"
)

// room is a stage, the history beside it, and a directory with files.
type room struct {
	*stage.Store
	tb        testing.TB
	dir, work string
	history   *history.Store
}

func newRoom(tb testing.TB) *room {
	tb.Helper()
	root, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	r := &room{tb: tb, dir: filepath.Join(root, "stage"), work: filepath.Join(root, "work")}
	past := filepath.Join(root, "history")
	for _, dir := range []string{r.dir, r.work, past} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	r.history = history.Open(past, history.Options{})
	tb.Cleanup(func() { _ = r.history.Close() })
	r.Store = r.open(r.history)
	return r
}

// open opens the stage as another process would.
func (r *room) open(h stage.History) *stage.Store {
	return stage.Open(r.dir, stage.Options{History: h})
}

func (r *room) path(name string) string { return filepath.Join(r.work, filepath.FromSlash(name)) }

// put writes a file to the disk.
func (r *room) put(name, content string) {
	r.tb.Helper()
	err := os.MkdirAll(filepath.Dir(r.path(name)), 0o700)
	if err == nil {
		err = os.WriteFile(r.path(name), []byte(content), 0o600)
	}
	if err != nil {
		r.tb.Fatal(err)
	}
}

// stage stages a content for a file, as it now is on the disk.
func (r *room) stage(name, content string) {
	r.tb.Helper()
	if err := stageIn(r.Store, r.path(name), content); err != nil {
		r.tb.Fatal(err)
	}
}

func stageIn(s *stage.Store, path, content string) error {
	place, err := s.Place()
	if err != nil {
		return err
	}
	if err := os.WriteFile(place, []byte(content), 0o644); err != nil { //nolint:gosec // the mode of new files
		return err
	}
	w := capability.StagedWrite{
		Call: capability.Call{ID: "c1", Tool: "Write"}, Path: path,
		Place: place, Hash: sha256.Sum256([]byte(content)), Size: int64(len(content)),
	}
	was, ok, err := s.Lookup(path)
	if err != nil {
		return err
	}
	if w.Was = was.Version; !ok {
		text, err := os.ReadFile(path)
		if err == nil {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			w.Base = &capability.StagedBase{Hash: sha256.Sum256(text), Size: int64(len(text)), Mode: uint32(info.Mode().Perm())}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.Put(context.Background(), w)
}

// tree is all that lies in a directory, a line each.
func tree(tb testing.TB, dir string) string {
	tb.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		out.WriteString(e.Type().String() + " " + filepath.ToSlash(rel))
		if e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out.WriteString(": " + string(text))
		}
		out.WriteByte('\n')
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// staged is what a stage holds, as a line of names and contents.
func (r *room) staged() string {
	r.tb.Helper()
	list, err := r.List(stage.Selection{})
	if err != nil {
		r.tb.Fatal(err)
	}
	var out []string
	for _, e := range list {
		at, ok, err := r.Lookup(e.Path)
		if err != nil || !ok {
			r.tb.Fatal(ok, err)
		}
		text, err := os.ReadFile(at.Place)
		if err != nil {
			r.tb.Fatal(err)
		}
		rel, _ := filepath.Rel(r.work, e.Path)
		out = append(out, filepath.ToSlash(rel)+"="+string(text))
	}
	return strings.Join(out, " ")
}

var everything = stage.Selection{}

func TestStaged(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.put("a", "old")
	before := tree(t, r.work)
	r.stage("a", "new")
	r.stage("sub/b", "made")
	r.stage("a", "newer")
	if got := r.staged(); got != "a=newer sub/b=made" {
		t.Errorf("staged: %s", got)
	}
	if got := tree(t, r.work); got != before {
		t.Errorf("the disk changed:\n%s", got)
	}
	if files, _ := filepath.Glob(filepath.Join(r.dir, "new", "*")); len(files) != 0 {
		t.Errorf("content that counts no more is left: %v", files)
	}
	r.Store = r.open(nil)
	list, err := r.List(everything)
	if err != nil || len(list) != 2 || !slices.Equal(list[0].Calls, []string{"c1", "c1"}) || list[0].Base == nil || list[0].Base.Size != 3 || list[1].Base != nil {
		t.Errorf("another process finds %+v, %v", list, err)
	}
	below, err := r.Below(r.work)
	if err != nil || len(below) != 3 || below[2].Path != r.path("sub/b") || below[1].Kind != abi.KindDirectory {
		t.Errorf("below: %+v, %v", below, err)
	}
	if below, err = r.Below(r.path("su")); err != nil || len(below) != 0 {
		t.Errorf("below what only begins like it: %+v, %v", below, err)
	}
}

// TestExpected takes content only in place of what it was made from.
func TestExpected(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.stage("a", "first")
	was, _, _ := r.Lookup(r.path("a"))
	for name, expected := range map[string]string{"nothing staged": "", "other content": "x"} {
		place, err := r.Place()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(place, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		err = r.Put(t.Context(), capability.StagedWrite{Path: r.path("a"), Place: place, Was: expected})
		if abi.CodeOf(err) != abi.CodeChanged {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(place); err == nil {
			t.Errorf("%s: the content is left", name)
		}
	}
	if _, err := r.open(nil).Discard(t.Context(), everything); err != nil {
		t.Fatal(err)
	}
	place, _ := r.Place()
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	err := r.Put(t.Context(), capability.StagedWrite{Path: r.path("a"), Place: place, Was: was.Version})
	if abi.CodeOf(err) != abi.CodeChanged || r.staged() != "" {
		t.Errorf("over what was discarded: %v, %s", err, r.staged())
	}
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for _, name := range []string{"a", "sub/b", "sub/c", "subway"} {
		r.stage(name, name)
	}
	gone, err := r.Discard(t.Context(), stage.Selection{Paths: []string{r.path("sub"), r.path("a")}})
	if err != nil || len(gone) != 3 || r.staged() != "subway=subway" {
		t.Errorf("%+v, %v, left: %s", gone, err, r.staged())
	}
	if _, err := r.Discard(t.Context(), stage.Selection{Paths: []string{r.path("a")}}); !errors.Is(err, stage.ErrNothing) {
		t.Errorf("twice: %v", err)
	}
	if left := tree(t, filepath.Join(r.dir, "upper")); strings.Contains(left, "sub\n") || strings.Count(left, ": ") != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestDamaged has a log that cannot be read stop everything but beginning anew: what
// is staged must not seem to be missing.
func TestDamaged(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.stage("a", "first")
	r.stage("b", "second")
	path := filepath.Join(r.dir, "log.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(`"put"`), []byte(`"pux"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	s := r.open(nil)
	_, _, lookup := s.Lookup(r.path("b"))
	_, below := s.Below(r.work)
	_, apply := s.Apply(t.Context(), everything)
	_, part := s.Discard(t.Context(), stage.Selection{Paths: []string{r.path("b")}})
	put := stageIn(s, r.path("c"), "third")
	for name, err := range map[string]error{"Lookup": lookup, "Below": below, "Apply": apply, "Discard": part, "Put": put} {
		if !errors.Is(err, stage.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Discard(t.Context(), everything); err != nil {
		t.Fatal(err)
	}
	if err := stageIn(s, r.path("c"), "third"); err != nil {
		t.Error(err)
	}
	if r.Store = r.open(nil); r.staged() != "c=third" {
		t.Errorf("anew: %s", r.staged())
	}
}

// TestTorn cuts the log at every place within its last line, as a crash can. What is staged
// stays, because the last line only notes who wrote it, and later writes are staged too.
func TestTorn(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.stage("a", "first")
	path := filepath.Join(r.dir, "log.jsonl")
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r.stage("b", "second")
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(first); cut < len(all); cut += 17 {
		if err := os.WriteFile(path, all[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if r.Store = r.open(nil); r.staged() != "a=first b=second" {
			t.Fatalf("cut at %d: %s", cut, r.staged())
		}
	}
	if err := os.WriteFile(path, append(first, bytes.Repeat([]byte("x"), 2000)...), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Store = r.open(nil)
	r.stage("c", "third")
	if r.Store = r.open(nil); r.staged() != "a=first b=second c=third" {
		t.Errorf("then: %s", r.staged())
	}
}
