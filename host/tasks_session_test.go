package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// background starts a command in the background and returns the task's id.
func background(tb testing.TB, s *host.Session, command string) string {
	tb.Helper()
	return taskOf(tb, s.Results(tb.Context(), []abi.ToolUse{bash("start", command, inBackground)})[0])
}

// taskOf is the task that a result of Bash names.
func taskOf(tb testing.TB, r abi.ToolResult) string {
	tb.Helper()
	var answer struct {
		Task string `json:"task_id"`
	}
	if err := json.Unmarshal(r.Structured, &answer); err != nil || answer.Task == "" {
		tb.Fatalf("no task: %s", r.Text())
	}
	return answer.Task
}

// taskEnds waits for the end of a task.
func taskEnds(tb testing.TB, s *host.Session, id string) {
	tb.Helper()
	soon(tb, "the end of "+id, func() bool {
		i := slices.IndexFunc(s.Tasks(), func(info capability.TaskInfo) bool { return info.ID == id })
		return i >= 0 && s.Tasks()[i].Over()
	})
}

// TestTaskNotice tells the model once of a task that has ended: with the next result
// that leaves, and not with one of a call that another one makes.
func TestTaskNotice(t *testing.T) {
	t.Parallel()
	var s *host.Session
	var inner string
	outer := does("Outer", func(ctx context.Context, _ *host.Call) (string, error) {
		inner = s.Results(ctx, []abi.ToolUse{use("i", "Echo", `{"s":"inner"}`)})[0].Text()
		return "outer", nil
	}, alone)
	h := newShelled(t, func(o *host.Options) { o.Tools = []host.NativeTool{echo("Echo"), outer} })
	dir := files(t, nil)
	s = session(t, h.Host, host.SessionOptions{Cwd: dir})
	// A task that ends before the result that begins it has left is told with that one.
	id := background(t, s, "until [ -e go ]; do sleep 0.01; done; exit 3")
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	taskEnds(t, s, id)
	st := s.Stream(t.Context())
	void := listen(t, st.Events())
	must(t, st.Add(bash("void", "while :; do sleep 1; done")))
	void.await(host.EventStarted, "void")
	st.Discard()
	void.all()
	results := s.Results(t.Context(), []abi.ToolUse{use("1", "Outer", `{}`), use("2", "Echo", `{"s":"x"}`)})
	if got := results[0].Text(); !strings.HasPrefix(got, "outer\nBackground task "+id) || !strings.Contains(got, "failed with exit status 3") {
		t.Errorf("got %q", got)
	}
	if inner != "inner" || results[1].Text() != "x" {
		t.Errorf("got %q and %q", inner, results[1].Text())
	}
}

// TestLongTaskIsReadOn shows a model all of a long output, each part once and whole.
func TestLongTaskIsReadOn(t *testing.T) {
	t.Parallel()
	dir := files(t, nil)
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	// It writes nothing before the result that begins it has left, which would show that.
	id := background(t, s, "until [ -e go ]; do sleep 0.01; done; seq 150000")
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	taskEnds(t, s, id)
	var all strings.Builder
	for range 100 {
		text := s.Results(t.Context(), []abi.ToolUse{use("r", "TaskOutput", `{"task_id":"`+id+`"}`)})[0].Text()
		if strings.Contains(text, "<persisted-output>") {
			t.Fatalf("got %.500s", text)
		}
		for strings.HasPrefix(text, "[") { // the notes
			_, text, _ = strings.Cut(text, "\n")
		}
		if text == "" {
			break
		}
		all.WriteString(text)
	}
	var want strings.Builder
	for i := range 150_000 {
		fmt.Fprintln(&want, i+1)
	}
	if all.String() != want.String() {
		t.Errorf("%d bytes were read of %d", all.Len(), want.Len())
	}
}

// TestManyNotices does not tell the model of each of very many tasks, which end together.
func TestManyNotices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	for range 12 {
		background(t, s, "until [ -e go ]; do sleep 0.05; done")
	}
	must(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	for _, info := range s.Tasks() {
		taskEnds(t, s, info.ID)
	}
	got := told(t, s, "true")
	if n := strings.Count(got, "Background task "); n != 10 || !strings.Contains(got, "2 more") {
		t.Errorf("%d in %q", n, got)
	}
}

// TestTaskEvents tells of a task in order, beside all turns, and of what it did before
// it ended; also where the observer ends the goroutine that it is called on.
func TestTaskEvents(t *testing.T) {
	t.Parallel()
	var h *shelled
	h = newShelled(t, func(o *host.Options) {
		o.Shell.Sandbox.Mode = sandbox.Off
		o.Observe.Events = func(e host.Event) {
			h.see(e)
			if e.Turn == "" {
				runtime.Goexit()
			}
		}
	})
	s := session(t, h.Host, host.SessionOptions{Cwd: repository(t)})
	id := background(t, s, "sleep 0.2; "+commit)
	taskEnds(t, s, id)
	must(t, s.Close(t.Context()))
	var got []string
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if e.Turn != "" {
			continue
		}
		state := ""
		if e.Task != nil {
			state = e.Task.State
		}
		got = append(got, strings.TrimSpace(string(e.Kind)+" "+state))
		if e.Session != s.ID() || e.CallID != "start" || e.Tool != "Bash" || e.Time.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	if want := "task running, deed, task completed"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	for _, e := range h.events {
		if e.Turn != "" && e.Kind == host.EventGit {
			t.Error("the deed is told as a part of the call")
		}
	}
}

// TestSessionEndsTasks has nothing of a task outlast its session, and the next one know
// how it ended and what it put out.
func TestSessionEndsTasks(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	dir := t.TempDir()
	s := session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir})
	id := background(t, s, "trap '' TERM; echo begun; touch alive begun; while :; do touch alive; sleep 0.01; done")
	appears(t, filepath.Join(dir, "begun"))
	must(t, s.Close(t.Context()))
	told := h.heard(host.EventTask)
	if last := told[len(told)-1].Task; last.ID != id || last.State != abi.TaskKilled {
		t.Errorf("the last that was told is %+v", last)
	}
	must(t, os.Remove(filepath.Join(dir, "alive")))
	s = session(t, h.Host, host.SessionOptions{ID: "mine", Cwd: dir})
	if list := s.Tasks(); len(list) != 1 || list[0].ID != id || list[0].State != abi.TaskKilled {
		t.Errorf("the next session knows %+v", list)
	}
	got := answers(t, s, "TaskOutput", map[string]any{"task_id": id})
	if !strings.Contains(got, "begun") {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "alive")); err == nil {
		t.Error("the task runs on")
	}
}

// TestMoveToBackground moves a command there by hand.
func TestMoveToBackground(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := session(t, newShelled(t).Host, host.SessionOptions{Cwd: dir})
	if s.MoveToBackground("1") {
		t.Error("a command was moved that there is not")
	}
	st := s.Stream(t.Context())
	heard := listen(t, st.Events())
	must(t, st.Add(bash("1", "touch begun; sleep 100; true")))
	st.Close()
	appears(t, filepath.Join(dir, "begun"))
	soon(t, "the command", func() bool { return s.MoveToBackground("1") })
	result := resultsOf(heard.all())["1"]
	if !strings.Contains(result.Text(), "moved to the background by the user") {
		t.Errorf("got %q", result.Text())
	}
	info, err := s.StopTask(t.Context(), taskOf(t, result))
	if err != nil || info.State != abi.TaskKilled {
		t.Errorf("got %+v, %v", info, err)
	}
	if _, err := s.StopTask(t.Context(), "b00000000"); abi.CodeOf(err) != abi.CodeNotFound {
		t.Error(err)
	}
}

// TestNoBackground offers nothing that is for tasks, and starts none, where there are none,
// or the model has nothing to read and end them with.
func TestNoBackground(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *host.Options){
		"no tasks":      func(o *host.Options) { o.Shell.MaxBackground = -1 },
		"nothing reads": func(o *host.Options) { o.Model.Toolset.Only = []string{"Bash", "Sleep", "TaskStop"} },
		"nothing ends":  func(o *host.Options) { o.Model.Toolset.Only = []string{"Bash", "Sleep", "TaskOutput"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session(t, newShelled(t, change).Host, host.SessionOptions{})
			definitions := definitions(t, s, host.FormatAnthropic)
			for name, offered := range map[string]bool{"Bash": true, "Sleep": true, "TaskOutput": false, "TaskStop": false} {
				if got := strings.Contains(definitions, `"name":"`+name+`"`); got != offered {
					t.Errorf("%s is offered: %v", name, got)
				}
			}
			if strings.Contains(definitions, "run_in_background") {
				t.Error("the model is told of run_in_background")
			}
			result := s.Results(t.Context(), []abi.ToolUse{bash("1", "true", inBackground)})[0]
			if !result.IsError || !strings.Contains(result.Text(), "in the background here") {
				t.Errorf("got %q", result.Text())
			}
			if got := told(t, s, "true; sleep 100", map[string]any{"timeout": 100}); !strings.Contains(got, "time limit") {
				t.Errorf("got %q", got)
			}
			if len(s.Tasks()) != 0 || s.MoveToBackground("1") {
				t.Error("there are tasks")
			}
		})
	}
}

// TestKeptTasksAreRead has the tasks of an earlier process be read where nothing more runs
// in the background, and no more than that.
func TestKeptTasksAreRead(t *testing.T) {
	t.Parallel()
	h := newShelled(t)
	first := session(t, h.Host, host.SessionOptions{})
	task := background(t, first, "echo done")
	taskEnds(t, first, task)
	must(t, first.Close(t.Context()))

	later := newShelled(t, func(o *host.Options) { o.Shell.MaxBackground, o.Storage.Sessions = -1, h.sessions })
	s := session(t, later.Host, host.SessionOptions{ID: first.ID()})
	if r, _ := one(t, s, "TaskOutput", `{"task_id":"`+task+`"}`); r.IsError || !strings.Contains(r.Text(), "done") {
		t.Errorf("its output: %s", r.Text())
	}
	if r, _ := one(t, s, "TaskStop", `{"task_id":"`+task+`"}`); !r.IsError || r.Error.Code != abi.CodeDisabled {
		t.Errorf("it was stopped: %s", r.Text())
	}
	if got := told(t, s, "true", inBackground); !strings.Contains(got, "in the background here") {
		t.Errorf("another one began: %s", got)
	}
	other := session(t, later.Host, host.SessionOptions{})
	if r, _ := one(t, other, "TaskOutput", `{"task_id":"`+task+`"}`); !r.IsError || r.Error.Code != abi.CodeDisabled {
		t.Errorf("a session without tasks: %s", r.Text())
	}
}

// TestTemporaryFilesAreForAllTools has Read find, unasked, what a command wrote to its
// folder for temporary files, by the name that the command has told.
func TestTemporaryFilesAreForAllTools(t *testing.T) {
	t.Parallel()
	s := session(t, newShelled(t).Host, host.SessionOptions{Asker: agreeing()})
	made := s.Results(t.Context(), []abi.ToolUse{bash("1", `f=$(mktemp); echo for both >"$f"; echo "$f"`)})[0]
	name := strings.TrimSpace(made.Text())
	read := s.Results(t.Context(), []abi.ToolUse{use("2", "Read", `{"file_path":"`+name+`"}`)})[0]
	if made.IsError || read.IsError || !strings.Contains(read.Text(), "for both") {
		t.Errorf("got %q and %q", made.Text(), read.Text())
	}
	if next := s.Results(t.Context(), []abi.ToolUse{bash("3", `cat `+name)})[0]; next.Text() != "for both\n" {
		t.Errorf("got %q", next.Text())
	}
}
