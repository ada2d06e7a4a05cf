package tasks_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// room is a session's directory and the registry that is open on it.
type room struct {
	testing.TB
	parent string
	folder *sessiondir.Dir
	*tasks.Registry
	options tasks.Options
	log     *bytes.Buffer
}

// newRoom opens the registry of a new session.
func newRoom(tb testing.TB, o tasks.Options) *room {
	tb.Helper()
	r := &room{TB: tb, parent: filepath.Join(tb.TempDir(), "sessions"), options: o, log: new(bytes.Buffer)}
	r.open()
	tb.Cleanup(func() {
		if err := r.folder.Close(); err != nil {
			tb.Error(err)
		}
		if r.log.Len() > 0 {
			tb.Errorf("it was told: %s", r.log)
		}
	})
	return r
}

func (r *room) open() {
	r.Helper()
	logger := slog.New(slog.NewTextHandler(r.log, nil))
	f, err := sessiondir.Open(r.parent, "s", logger)
	if err != nil {
		r.Fatal(err)
	}
	r.folder = f
	r.options.Dir, r.options.Logger = f, logger
	if r.Registry, err = tasks.Open(r.options); err != nil {
		r.Fatal(err)
	}
}

// again closes the session and opens it as another process would.
func (r *room) again() {
	r.Helper()
	if err := r.folder.Close(); err != nil {
		r.Fatal(err)
	}
	r.open()
}

// memory is a registry without a directory.
func memory(tb testing.TB, o tasks.Options) *tasks.Registry {
	tb.Helper()
	r, err := tasks.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// begin enters a task that nothing ends but the test.
func begin(tb testing.TB, r *tasks.Registry, title, output string) capability.Task {
	tb.Helper()
	t, err := r.Begin(capability.NewTask{Kind: 'b', Title: title, Output: output, Stop: func() {}})
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// get is a task that there is.
func get(tb testing.TB, r *tasks.Registry, id string) tasks.Info {
	tb.Helper()
	t, ok := r.Get(id)
	if !ok {
		tb.Fatalf("there is no task %s", id)
	}
	return t
}

// write adds to a file.
func write(tb testing.TB, path, text string) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		tb.Error(err)
	}
	if err := f.Close(); err != nil {
		tb.Error(err)
	}
}
