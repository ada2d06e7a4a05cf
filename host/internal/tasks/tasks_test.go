package tasks_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tasks"
)

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outcome       capability.TaskOutcome
		state, notice string
	}{
		"success":           {capability.TaskOutcome{Exit: new(0)}, abi.TaskCompleted, "completed with exit status 0."},
		"no exit status":    {capability.TaskOutcome{}, abi.TaskCompleted, "completed."},
		"failure":           {capability.TaskOutcome{Exit: new(2)}, abi.TaskFailed, "failed with exit status 2."},
		"a limit":           {capability.TaskOutcome{Exit: new(0), Reason: "over 1 GiB."}, abi.TaskFailed, "failed with exit status 0: over 1 GiB."},
		"killed":            {capability.TaskOutcome{Exit: new(143), Killed: true, Left: 3}, abi.TaskKilled, "was ended with exit status 143."},
		"killed for a word": {capability.TaskOutcome{Killed: true, Reason: "enough"}, abi.TaskKilled, "was ended: enough."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			r := memory(t, tasks.Options{Notify: func(i tasks.Info) { told = append(told, i.State) }})
			task := begin(t, r, "make  all\nthe things", "")
			task.End(test.outcome)
			task.End(capability.TaskOutcome{Reason: "a second time"})
			got := get(t, r, task.ID())
			if got.State != test.state || got.Reason != test.outcome.Reason || got.Left != test.outcome.Left || !got.Over() || got.Ended.Before(got.Began) {
				t.Errorf("got %+v", got)
			}
			if want := "Background task " + task.ID() + " (make all the things) " + test.notice; tasks.Notice(got) != want {
				t.Errorf("got  %s\nwant %s", tasks.Notice(got), want)
			}
			if !slices.Equal(told, []string{abi.TaskRunning, test.state}) {
				t.Errorf("told of %v", told)
			}
		})
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	const n = 20_000
	r := memory(t, tasks.Options{MaxRunning: n, MaxKept: n})
	id := regexp.MustCompile(`^[bart][0-9a-z]{8}$`)
	seen := make(map[string]bool)
	var digits [256]int
	for i := range n {
		task, err := r.Begin(capability.NewTask{Kind: "bart"[i%4], Stop: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		if seen[task.ID()] || !id.MatchString(task.ID()) {
			t.Fatalf("the id %s", task.ID())
		}
		seen[task.ID()] = true
		for _, c := range []byte(task.ID()[1:]) {
			digits[c]++
		}
	}
	for c, count := range digits {
		if want := n * 8 / 36; count > 0 && (count < want*8/10 || count > want*12/10) {
			t.Errorf("the digit %c is there %d times, not about %d", c, count, want)
		}
	}
	for _, kind := range []byte{'w', 'm', 'd', 'x', 0} {
		if _, err := r.Begin(capability.NewTask{Kind: kind, Stop: func() {}}); abi.CodeOf(err) != abi.CodeInternal {
			t.Errorf("the kind %q: %v", kind, err)
		}
	}
}

func TestTooManyRun(t *testing.T) {
	t.Parallel()
	r := memory(t, tasks.Options{MaxRunning: 3})
	first := begin(t, r, "one", "")
	begin(t, r, "two", "")
	begin(t, r, "three", "")
	_, err := r.Begin(capability.NewTask{Kind: 'b', Stop: func() {}})
	if abi.CodeOf(err) != abi.CodeLimit || !strings.Contains(err.Error(), "TaskStop") || !strings.Contains(err.Error(), first.ID()+" (one)") {
		t.Errorf("got %v", err)
	}
	first.End(capability.TaskOutcome{})
	begin(t, r, "four", "")
}

func TestForgetting(t *testing.T) {
	t.Parallel()
	outputs, elsewhere := t.TempDir(), t.TempDir()
	r := newRoom(t, tasks.Options{MaxRunning: 2, MaxKept: 4, Outputs: outputs})
	path := func(dir, name string) string { return filepath.Join(dir, name) }
	var ids []string
	add := func(title, output string, over bool) {
		t.Helper()
		write(t, output, title)
		task := begin(t, r.Registry, title, output)
		ids = append(ids, task.ID())
		if over {
			task.End(capability.TaskOutcome{})
		}
	}
	add("runs", path(outputs, "0"), false)
	add("ours", path(outputs, "1"), true)
	add("another's", path(elsewhere, "2"), true)
	add("third", path(outputs, "3"), true)
	add("fourth", path(outputs, "4"), true)
	add("fifth", path(outputs, "5"), true)
	check := func(what string) {
		t.Helper()
		var got []string
		for _, task := range r.List() {
			got = append(got, task.Title)
		}
		if want := []string{"runs", "third", "fourth", "fifth"}; !slices.Equal(got, want) {
			t.Errorf("%s there are %v, not %v", what, got, want)
		}
	}
	check("before")
	for output, want := range map[string]bool{path(outputs, "0"): true, path(outputs, "1"): false, path(elsewhere, "2"): true, path(outputs, "3"): true} {
		if _, err := os.Stat(output); (err == nil) != want {
			t.Errorf("%s: %v", output, err)
		}
	}
	if _, ok := r.Get(ids[1]); ok {
		t.Error("what is forgotten is there")
	}
	r.again()
	check("after")
}

// A task that cannot be kept does not begin, and takes no place.
func TestNotKept(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tasks.Options{MaxRunning: 1})
	if err := r.folder.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.Begin(capability.NewTask{Kind: 'b', Stop: func() {}}); abi.CodeOf(err) != abi.CodeIO {
			t.Errorf("got %v", err)
		}
	}
	if n := len(r.List()); n > 0 {
		t.Errorf("%d tasks are there", n)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	r := memory(t, tasks.Options{MaxRunning: 20})
	calls := map[string]func(id string) error{
		"wait": func(id string) error { _, err := r.Wait(t.Context(), id, 0); return err },
		"read": func(id string) error { _, err := r.Read(t.Context(), id, capability.TaskRead{}); return err },
		"stop": func(id string) error { _, err := r.Stop(t.Context(), id); return err },
	}
	check := func(want string) {
		t.Helper()
		for name, call := range calls {
			if err := call("b1234567\n"); abi.CodeOf(err) != abi.CodeNotFound || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, not %s", name, err, want)
			}
		}
	}
	check("none runs")
	task := begin(t, r, "sleep 60", "")
	check(task.ID() + " (sleep 60)")
	for range 15 {
		begin(t, r, strings.Repeat("long ", 100), "")
	}
	check("and 6 more")
}

// What people and programs put into titles and commands fits the journal, whatever it is.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	r := newRoom(t, tasks.Options{})
	for _, text := range []string{
		strings.Repeat("\x00", 128<<10), strings.Repeat("\xff", 128<<10), strings.Repeat("日本", 64<<10),
		strings.Repeat("x", 127) + "é" + strings.Repeat("\x80", 10_000),
	} {
		task, err := r.Begin(capability.NewTask{Kind: 'b', Title: text, Command: text, Stop: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		task.End(capability.TaskOutcome{Reason: text})
		got := get(t, r.Registry, task.ID())
		for _, kept := range []string{got.Title, got.Command, got.Reason} {
			if !utf8.ValidString(kept) || len(kept) > 4<<10 || kept == "" {
				t.Errorf("%d bytes are kept of %.10q", len(kept), text)
			}
		}
	}
	before := r.List()
	r.again()
	for i, got := range r.List() {
		if got.Title != before[i].Title || got.Command != before[i].Command || got.Reason != before[i].Reason {
			t.Errorf("the text %d is another one after", i)
		}
	}
}
