package storage_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/storage"
)

// options are those of a session with a directory.
func options(tb testing.TB) storage.Options {
	tb.Helper()
	return storage.Options{Parent: filepath.Join(tb.TempDir(), "sessions"), ID: "mine", Logger: slog.New(slog.DiscardHandler)}
}

func open(tb testing.TB, o storage.Options) *storage.Session {
	tb.Helper()
	s, err := storage.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { closed(tb, s) })
	return s
}

func closed(tb testing.TB, s *storage.Session) {
	tb.Helper()
	if err := errors.Join(s.EndTasks(context.Background()), s.Close()); err != nil {
		tb.Error(err)
	}
}

func TestJournal(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	if _, err := os.Lstat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made before anything is kept in it: %v", err)
	}
	for _, n := range []int{1, 2} {
		if err := s.Remember("number", n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := storage.Open(o); !errors.Is(err, sessiondir.ErrInUse) {
		t.Errorf("a second session opened the directory: %v", err)
	}
	closed(t, s)
	if err := s.Remember("number", 3); err != nil {
		t.Errorf("a closed session does not ignore what is to be remembered: %v", err)
	}
	s = open(t, o)
	if got := fmt.Sprintf("%s", s.Recall("number")); got != "[1 2]" {
		t.Errorf("recalled %s", got)
	}
	if got := s.Recall("number"); got != nil {
		t.Errorf("recalled again %s", got)
	}
}

func TestWithoutDirectory(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Parent, o.Tasks = "", &storage.TaskOptions{}
	s := open(t, o)
	if s.Dir() != "" || s.History() != nil || s.Stage() != nil || s.Tasks() != nil || s.Results().Spiller() != nil {
		t.Error("a session without a directory keeps something in it")
	}
	var scope capability.Scope
	s.Provide(&scope)
	if scope.History != nil || scope.Stage != nil || scope.Tasks != nil {
		t.Errorf("it provides %v, %v, %v", scope.History, scope.Stage, scope.Tasks)
	}
	if err := s.Remember("number", 1); err != nil {
		t.Error(err)
	}
	if s.Recall("number") != nil || s.Notice() != "" || s.Place("/a") != "/a" {
		t.Error("it knows something of an earlier process")
	}
	o.Stage = true
	if _, err := storage.Open(o); err == nil {
		t.Error("it stages writes without a directory")
	}
}

func TestCommandDirectories(t *testing.T) {
	t.Parallel()
	kept, o := open(t, options(t)), options(t)
	o.Parent = ""
	scratch := open(t, o)
	var dirs []string
	for _, made := range []func() (string, error){kept.Outputs, kept.Outputs, kept.Temp, scratch.Outputs, scratch.Temp} {
		dir, err := made()
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", dir, err)
		}
		dirs = append(dirs, dir)
	}
	if dirs[0] != filepath.Join(kept.Dir(), "output") || dirs[1] != dirs[0] {
		t.Errorf("the output goes to %q", dirs[:2])
	}
	closed(t, kept)
	closed(t, scratch)
	for i, stays := range []bool{true, true, false, false, false} {
		if _, err := os.Stat(dirs[i]); (err == nil) != stays {
			t.Errorf("%s after the end: %v", dirs[i], err)
		}
	}
	if _, err := kept.Temp(); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("a closed session has a directory for temporary files: %v", err)
	}
}

func TestStage(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Stage = true
	s := open(t, o)
	var scope capability.Scope
	s.Provide(&scope)
	if scope.Stage == nil || scope.History != nil {
		t.Fatalf("it provides the stage %v and the history %v", scope.Stage, scope.History)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "new.txt")
	place, err := s.Stage().Place()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, []byte("staged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Stage().Put(t.Context(), capability.StagedWrite{Path: path, Place: place, Hash: sha256.Sum256([]byte("staged")), Size: 6}); err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(s.Place(path)); string(content) != "staged" {
		t.Errorf("the content at its place is %q, %v", content, err)
	}
	node, err := s.Overlay(dir, "new.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(node.Err(), node.Close()); err != nil {
		t.Errorf("tools do not see what is staged: %v", err)
	}
	closed(t, s)
	o.Stage = false
	if _, err := storage.Open(o); !errors.Is(err, storage.ErrStaged) {
		t.Errorf("the session goes on without its stage: %v", err)
	}
	o.Stage = true
	closed(t, open(t, o)) // what failed to open has released the directory
}

// TestStagingAfterKill begins a command after a process was killed while it discarded: this
// command and later ones get the same overlays.
func TestStagingAfterKill(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Stage = true
	s := open(t, o)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	begin := func() storage.Layer {
		t.Helper()
		layers, end, err := s.Staging().Begin([]string{root})
		if err != nil {
			t.Fatal(err)
		}
		end()
		return layers[0]
	}
	upper := filepath.Join(s.Dir(), "stage", "upper")
	begin()
	if err := os.Rename(upper, filepath.Join(filepath.Dir(upper), "gone")); err != nil { // as discarding begins
		t.Fatal(err)
	}
	if first, second := begin(), begin(); first != second {
		t.Errorf("the first command finds %+v, and the next %+v", first, second)
	}
}

// TestMountedAfterClose opens no overlay for a session that is closed: nothing would close it.
func TestMountedAfterClose(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Stage = true
	s := open(t, o)
	staging := s.Staging()
	closed(t, s)
	err := staging.Mounted(storage.Layer{Root: t.TempDir()}, func() (*os.File, error) {
		t.Error("the overlay was opened")
		return nil, os.ErrInvalid
	})
	if !errors.Is(err, storage.ErrClosed) {
		t.Error(err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	o := options(t)
	s := open(t, o)
	var scope capability.Scope
	if s.Provide(&scope); s.History() == nil || scope.History == nil {
		t.Error("a session with a directory has no history")
	}
	closed(t, s)
	o.NoHistory = true
	if s = open(t, o); s.History() != nil {
		t.Error("the history that is switched off is there")
	}
}

// TestLostTasks: a process that ends loses its tasks, and the next one says so, once.
func TestLostTasks(t *testing.T) {
	t.Parallel()
	const many = 12
	o := options(t)
	told := 0
	o.Tasks = &storage.TaskOptions{Begin: true, Notify: func(capability.TaskInfo) { told++ }}
	s, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for range many {
		if _, err := s.Tasks().Begin(capability.NewTask{Kind: 'b', Title: "sleep", Stop: func() {}}); err != nil {
			t.Fatal(err)
		}
	}
	if told != many || s.Notice() != "" {
		t.Errorf("told of %d tasks that began; the model %q", told, s.Notice())
	}
	if err := s.Close(); err != nil { // as a process that is killed
		t.Fatal(err)
	}
	o.Tasks.Begin = false // they can still be read
	s = open(t, o)
	lines := strings.Split(s.Notice(), "\n")
	if len(lines) != 11 || lines[10] != "And 2 more background tasks have ended." {
		t.Errorf("the notice is %q", lines)
	}
	if again := s.Notice(); again != "" || len(s.Tasks().List()) != many {
		t.Errorf("the second notice is %q; there are %d tasks", again, len(s.Tasks().List()))
	}
}
