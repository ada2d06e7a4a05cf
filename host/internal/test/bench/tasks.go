package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

// taskRows say what it costs to look at many background tasks: for who has the session,
// and for who finds its folder, as the command tasks does.
func taskRows() []row {
	return fine([]row{
		{name: "1,000 background tasks listed by their session", ours: listed(1000, (*tasks.Registry).List), baseline: "100", theirs: listed(100, (*tasks.Registry).List), compare: ratio, limit: "under 10 ms"},
		{name: "1,000 background tasks read from a session's folder", ours: read(1000), baseline: "100", theirs: read(100), compare: ratio, limit: "under 10 ms"},
	})
}

// entered makes a folder of a session that has had so many tasks, each with an output.
func entered(b *testing.B, n int) (r *tasks.Registry, dir string) {
	b.Helper()
	f, err := sessiondir.Open(filepath.Join(b.TempDir(), "kept"), "session", slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() }) // nobody reads it again
	if r, err = tasks.Open(tasks.Options{Dir: f, MaxKept: n}); err != nil {
		b.Fatal(err)
	}
	outputs := b.TempDir()
	for i := range n {
		output := filepath.Join(outputs, strconv.Itoa(i)+".out")
		if err := os.WriteFile(output, content[:100], 0o600); err != nil {
			b.Fatal(err)
		}
		task, err := r.Begin(capability.NewTask{Kind: 'b', Title: "Run the tests", Command: "go test ./...", Output: output, Stop: func() {}})
		if err != nil {
			b.Fatal(err)
		}
		task.End(capability.TaskOutcome{Exit: new(int)})
	}
	return r, f.Path()
}

// listed has the session list its tasks.
func listed(n int, list func(*tasks.Registry) []tasks.Info) func(*testing.B, *lab) {
	return func(b *testing.B, _ *lab) {
		r, _ := entered(b, n)
		for b.Loop() {
			if len(list(r)) != n {
				b.Fatal("tasks are missing")
			}
		}
	}
}

// read finds them in the folder.
func read(n int) func(*testing.B, *lab) {
	return func(b *testing.B, _ *lab) {
		_, dir := entered(b, n)
		for b.Loop() {
			if list, err := tasks.Read(dir); err != nil || len(list) != n {
				b.Fatal(len(list), err)
			}
		}
	}
}
