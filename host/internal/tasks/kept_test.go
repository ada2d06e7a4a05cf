package tasks_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sessiondir"
	"github.com/toolquay/toolquay/host/internal/tasks"
	"github.com/toolquay/toolquay/internal/testenv"
)

// text is a task as JSON, without what differs after a restart.
func text(tb testing.TB, t tasks.Info) string {
	tb.Helper()
	t.Began, t.Ended = t.Began.UTC().Round(0), t.Ended.UTC().Round(0)
	b, err := json.Marshal(t)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func TestReopened(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tasks.Options{})
	output := filepath.Join(r.folder.Path(), "tasks", "out")
	failed, runs := begin(t, r.Registry, "fails", output), begin(t, r.Registry, "runs", output)
	if err := os.Mkdir(filepath.Dir(output), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, output, "first\n")
	if _, err := r.Read(t.Context(), failed.ID(), capability.TaskRead{}); err != nil {
		t.Fatal(err)
	}
	write(t, output, "second\n")
	failed.End(capability.TaskOutcome{Exit: new(7), Reason: "why", Left: 2})
	before := text(t, get(t, r.Registry, failed.ID()))
	for range 2 {
		r.again()
		if got := text(t, get(t, r.Registry, failed.ID())); got != before {
			t.Errorf("it is %s\nand was %s", got, before)
		}
		got := get(t, r.Registry, runs.ID())
		if got.State != abi.TaskLost || got.Reason != "the host ended before it did" || got.Exit != nil || got.Bytes != 13 || got.Elapsed() != 0 {
			t.Errorf("what ran is %+v", got)
		}
	}
	if out, err := r.Read(t.Context(), failed.ID(), capability.TaskRead{}); err != nil || string(out.Text) != "second\n" || out.From != 6 {
		t.Errorf("read %q, %v", out.Text, err)
	}
	if id, err := r.NextEnd(t.Context(), 0); id != "" || err != nil {
		t.Errorf("woken by %s, %v", id, err)
	}
	got, err := r.Stop(t.Context(), runs.ID())
	if err != nil || got.State != abi.TaskLost || !strings.HasPrefix(got.Reason, "it had ended already: ") {
		t.Errorf("stopped, it is %+v, %v", got, err)
	}
}

// The model is told once of each end, whatever comes between.
// A command that becomes a task while it runs began before that, and what its model was
// shown by then it does not get again.
func TestMoved(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tasks.Options{})
	output := filepath.Join(t.TempDir(), "out")
	write(t, output, "seen\nnew\n")
	at := time.Now().Add(-time.Hour)
	moved, err := r.Begin(capability.NewTask{Kind: 'b', Output: output, Shown: 5, Began: at, Stop: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := get(t, r.Registry, moved.ID()); got.Shown != 5 || !got.Began.Equal(at) {
			t.Errorf("it is %+v", got)
		}
		r.again()
	}
	if out, err := r.Read(t.Context(), moved.ID(), capability.TaskRead{}); err != nil || string(out.Text) != "new\n" {
		t.Errorf("read %q, %v", out.Text, err)
	}
	r.again()
	if got := get(t, r.Registry, moved.ID()); got.Shown != 9 {
		t.Errorf("it is %+v", got)
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tasks.Options{})
	notices := func() []string {
		var ids []string
		for _, task := range r.Notices() {
			ids = append(ids, task.Title)
		}
		return ids
	}
	check := func(want ...string) {
		t.Helper()
		if got := notices(); !slices.Equal(got, want) {
			t.Errorf("told of %q, not %q", got, want)
		}
	}
	all := make(map[string]capability.Task)
	for _, title := range []string{"a", "b", "read", "peeked", "stopped", "lost", "also lost"} {
		all[title] = begin(t, r.Registry, title, "")
	}
	check()
	all["b"].End(capability.TaskOutcome{})
	all["a"].End(capability.TaskOutcome{})
	check("b", "a")
	check()
	for _, title := range []string{"read", "peeked", "stopped"} {
		all[title].End(capability.TaskOutcome{})
		_, err := r.Read(t.Context(), all[title].ID(), capability.TaskRead{Peek: title != "read"})
		if title == "stopped" && err == nil {
			_, err = r.Stop(t.Context(), all[title].ID())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r.again()
	check("peeked", "lost", "also lost")
	r.again()
	check()
}

// Another process sees what is so, whether or not the session is in use.
func TestRead(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tasks.Options{})
	check := func(want ...string) {
		t.Helper()
		got := states(t, r.folder.Path())
		// A process that another test starts holds the lock until it is one.
		for patience := time.Now().Add(testenv.Patience); !slices.Equal(got, want) && time.Now().Before(patience); {
			got = states(t, r.folder.Path())
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	check() // there is no directory yet
	if err := r.folder.Append(sessiondir.Record{Kind: "other", Data: `"task.`}); err != nil {
		t.Fatal(err)
	}
	check()
	one := begin(t, r.Registry, "one", "")
	begin(t, r.Registry, "two", "")
	check("one running", "two running")
	one.End(capability.TaskOutcome{})
	check("one completed", "two running")
	if err := r.folder.Close(); err != nil {
		t.Fatal(err)
	}
	check("one completed", "two lost")
	r.open()
	check("one completed", "two lost")
	begin(t, r.Registry, "three", "")
	check("one completed", "two lost", "three running")
	tear(t, filepath.Join(r.folder.Path(), "journal.jsonl"))
	check("one completed", "two lost", "three running")
}

// states is what another process sees.
func states(t *testing.T, dir string) []string {
	t.Helper()
	list, err := tasks.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range list {
		got = append(got, task.Title+" "+task.State)
	}
	return got
}

// tear leaves half a line at the end of a journal, and takes it away when the test ends.
func tear(t *testing.T, journal string) {
	t.Helper()
	info, err := os.Stat(journal)
	if err != nil {
		t.Fatal(err)
	}
	write(t, journal, `{"kind":"task.ended","ti`)
	t.Cleanup(func() {
		if err := os.Truncate(journal, info.Size()); err != nil {
			t.Error(err)
		}
	})
}
