package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// worked does calls and returns the text of their results, which must be no errors.
func worked(t *testing.T, s *host.Session, calls ...[2]string) []string {
	t.Helper()
	var said []string
	for i, call := range calls {
		r := s.Results(t.Context(), []abi.ToolUse{use(fmt.Sprint("c", i), call[0], call[1])})[0]
		if r.IsError {
			t.Errorf("%s %s: %s", call[0], call[1], r.Text())
		}
		said = append(said, r.Text())
	}
	return said
}

// items are the tasks of a session in short.
func items(t *testing.T, s *host.Session) string {
	t.Helper()
	list, err := s.Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, i := range list {
		text = append(text, i.ID+" "+i.Subject+" "+i.Status+" "+i.Owner)
	}
	return strings.Join(text, "; ")
}

const firstTask = `{"subject":"First","description":"All of it"}`

// What a model does with its lists is its own affair: nobody is asked, in any mode.
func TestListsInEveryMode(t *testing.T) {
	t.Parallel()
	for _, todos := range []bool{false, true} {
		h := open(t, host.Options{Builtins: true, Model: host.ModelOptions{Todos: todos}})
		for _, mode := range []permissions.Mode{permissions.ModeDefault, permissions.ModePlan, permissions.ModeAcceptEdits, permissions.ModeAuto, permissions.ModeBypass, permissions.ModeDontAsk} {
			asked := &asker{reply: host.Reply{Answer: host.AnswerDeny}}
			s := session(t, h, host.SessionOptions{Mode: mode, Asker: asked})
			calls := [][2]string{
				{"TaskCreate", firstTask}, {"TaskUpdate", `{"taskId":"1","status":"in_progress"}`}, {"TaskGet", `{"taskId":"1"}`}, {"TaskList", `{}`},
			}
			if todos {
				calls = [][2]string{{"TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`}}
			}
			worked(t, s, calls...)
			if n := asked.asked.Load(); n > 0 {
				t.Errorf("%s: asked %d times", mode, n)
			}
			list, err := s.Todos()
			if want := map[bool]string{false: "1 First in_progress main", true: ""}[todos]; items(t, s) != want || err != nil || len(list) != map[bool]int{true: 1}[todos] {
				t.Errorf("%s: there is %q, and %v, %v", mode, items(t, s), list, err)
			}
		}
	}
}

// Lists survive with the session that is resumed, and only with that.
func TestListsSurvive(t *testing.T) {
	t.Parallel()
	o := host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}}
	for i, want := range []string{"", "1 First pending ", "1 First pending ; 2 First pending "} {
		h, err := host.Open(t.Context(), o)
		must(t, err)
		s := session(t, h, host.SessionOptions{ID: "mine"})
		if got := items(t, s); got != want {
			t.Errorf("process %d finds %q", i, got)
		}
		worked(t, s, [2]string{"TaskCreate", firstTask})
		other := session(t, h, host.SessionOptions{ID: "other"})
		brief := session(t, h, host.SessionOptions{ID: "brief", Ephemeral: true})
		worked(t, brief, [2]string{"TaskCreate", firstTask})
		if got := items(t, brief); items(t, other) != "" || got != "1 First pending " {
			t.Errorf("another session has %q, one without a directory %q", items(t, other), got)
		}
		must(t, h.Close(context.WithoutCancel(t.Context())))
	}
	kept, err := host.ReadWork(host.SessionDir(o.Storage.Sessions, "mine"))
	if err != nil || len(kept.Tasks) != 3 || len(kept.Notes) > 0 {
		t.Errorf("read %+v, %v", kept, err)
	}
}

// Of two that begin one session at once, the one that keeps something first has it.
func TestTasksOfASessionInUse(t *testing.T) {
	t.Parallel()
	o := host.Options{Builtins: true, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}}
	first, second := session(t, open(t, o), host.SessionOptions{ID: "one"}), session(t, open(t, o), host.SessionOptions{ID: "one"})
	worked(t, first, [2]string{"TaskCreate", firstTask})
	r := second.Results(t.Context(), []abi.ToolUse{use("c", "TaskCreate", firstTask)})[0]
	if !r.IsError || !strings.Contains(r.Text(), "in use") {
		t.Errorf("the second one is told %q", r.Text())
	}
	if got := items(t, first); got != "1 First pending " {
		t.Errorf("the first one has %q", got)
	}
}

// Agents of a team share its tasks, and nobody else's.
func TestTasksOfATeam(t *testing.T) {
	t.Parallel()
	teams := filepath.Join(t.TempDir(), "teams")
	member := func(team, agent string) *host.Session {
		h := open(t, host.Options{Builtins: true, Storage: host.StorageOptions{Teams: teams}})
		return session(t, h, host.SessionOptions{Caller: host.Caller{Team: team, Agent: agent}})
	}
	ann, bob, eve, alone := member("red", "ann"), member("red", "bob"), member("RED", "eve"), member("", "main")
	worked(t, ann, [2]string{"TaskCreate", firstTask})
	worked(t, bob, [2]string{"TaskUpdate", `{"taskId":"1","status":"in_progress"}`}, [2]string{"TaskCreate", `{"subject":"Second","description":""}`})
	for _, s := range []*host.Session{ann, bob} {
		if got, want := items(t, s), "1 First in_progress bob; 2 Second pending "; got != want {
			t.Errorf("a member sees %q", got)
		}
	}
	said := worked(t, ann, [2]string{"TaskUpdate", `{"taskId":"1","status":"in_progress"}`})
	if !strings.Contains(said[0], "bob works on it") {
		t.Errorf("whose it is already: %q", said)
	}
	if items(t, eve) != "" || items(t, alone) != "" {
		t.Errorf("others see %q and %q", items(t, eve), items(t, alone))
	}
	dir, err := host.TeamDir(teams, "red")
	must(t, err)
	if kept, err := host.ReadWork(dir); err != nil || len(kept.Tasks) != 2 {
		t.Errorf("read %+v, %v", kept, err)
	}
	if _, err := host.TeamDir(teams, "none"); err == nil {
		t.Error("there is a team that nobody is of")
	}
}

// Hooks in Go: what they refuse has not happened, is told to the model and to nobody else, and
// what they add reaches the model.
func TestTaskHooks(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []host.HookInput
	said := map[string]host.HookOutput{}
	failing := map[string]error{}
	hook := func(event host.HookEvent) host.Hook {
		return host.Hook{Event: event, Name: "judge", Func: func(_ context.Context, in host.HookInput) (host.HookOutput, error) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, in)
			return said[in.Task.Subject], failing[in.Task.Subject]
		}}
	}
	said["No"] = host.HookOutput{Verdict: permissions.Deny, Reason: "not now"}
	said["Yes"] = host.HookOutput{Context: "mind the gap"}
	failing["Broken"] = errors.New("out of order")
	set, err := host.CompileHooks([]host.Hook{hook(host.TaskCreated), hook(host.TaskCompleted)}, host.HookOptions{})
	must(t, err)
	h := open(t, host.Options{Builtins: true, Permissions: host.PermissionOptions{Hooks: set}})
	s := session(t, h, host.SessionOptions{})
	for _, test := range []struct {
		tool, input string
		denied      bool
		says        string
		work, hooks int // events
	}{
		{"TaskCreate", `{"subject":"No","description":""}`, true, "not made, as a TaskCreated hook refused it: hook \"judge\": not now", 0, 1},
		{"TaskCreate", `{"subject":"Broken","description":""}`, true, "out of order", 0, 1},
		{"TaskCreate", `{"subject":"Yes","description":""}`, false, "A hook says: \"mind the gap\"", 1, 1},
		{"TaskUpdate", `{"taskId":"3","subject":"No","status":"completed"}`, true, "task 3 was not completed, and is as it was, as a TaskCompleted hook refused that", 0, 1},
		{"TaskUpdate", `{"taskId":"3","subject":"Late"}`, false, "changed subject", 1, 0},
		{"TaskUpdate", `{"taskId":"3","status":"completed"}`, false, "pending -> completed", 1, 1},
		{"TaskUpdate", `{"taskId":"3","status":"completed"}`, false, "as it was", 0, 0},
		{"TaskUpdate", `{"taskId":"3","status":"deleted"}`, false, "Deleted", 1, 0},
		{"TaskUpdate", `{"taskId":"9","status":"completed"}`, true, "no task", 0, 0},
	} {
		r, events := one(t, s, test.tool, test.input)
		work, hooks := 0, 0
		for _, e := range events {
			switch e.Kind {
			case host.EventWork:
				work++
			case host.EventHook:
				hooks++
			}
		}
		if r.IsError != test.denied || !strings.Contains(r.Text(), test.says) && !strings.Contains(fmt.Sprint(r.Error), test.says) || work != test.work || hooks != test.hooks {
			t.Errorf("%s %s: %q, %d work, %d hooks", test.tool, test.input, r.Text(), work, hooks)
		}
	}
	if last := asked[len(asked)-1]; last.Task.ID != "3" || last.Task.Status != abi.WorkCompleted || last.Tool != "TaskUpdate" || last.Agent != "main" || last.SessionID != s.ID() {
		t.Errorf("the hook was told %+v of %+v", last, last.Task)
	}
	worked(t, s, [2]string{"TaskCreate", firstTask})
	if got := items(t, s); got != "4 First pending " {
		t.Errorf("there is %q: numbers of what was refused are not given again", got)
	}
}

// probes is a plugin of a stranger that asks for what its input lists.
func probes(t *testing.T, capabilities ...string) plugins.Source {
	t.Helper()
	var manifest strings.Builder
	manifest.WriteString("manifest = 1\nname = \"probe\"\nversion = \"0.1.0\"\n")
	for _, name := range capabilities {
		fmt.Fprintf(&manifest, "[[capabilities]]\nname = %q\nreason = \"to see\"\n", name)
	}
	manifest.WriteString("[[tools]]\nname = \"Ask\"\nsummary = \"Asks\"\ninput_schema = '{\"type\":\"object\"}'\n")
	return plugins.Source{Origin: plugins.OriginFlag, Path: "/test", FS: fstest.MapFS{
		"probe/plugin.toml": {Data: []byte(manifest.String())},
		"probe/probe.wasm":  {Data: testenv.GoGuest(t, filepath.Join("..", "sdk", "go"), "testdata/probe")},
	}}
}

// A stranger's tools have the lists where they were granted them, and learn nothing without.
func TestListsOfStrangers(t *testing.T) {
	t.Parallel()
	const input = `{"do":[
		{"capability":"session.task","args":{"do":"create","change":{"subject":"Theirs"}}},
		{"capability":"session.todo","args":{},"parts":["[{\"content\":\"a\",\"status\":\"pending\"}]"]},
		{"capability":"session.task","args":{"do":"list"}}]}`
	for name, test := range map[string]struct {
		declared []string
		granted  bool
		codes    []string
	}{
		"granted":    {[]string{abi.CapSessionTodo, abi.CapSessionTask}, true, []string{"", "", ""}},
		"one of two": {[]string{abi.CapSessionTask}, true, []string{"", "undeclared", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, host.Options{Builtins: true, Plugins: host.PluginOptions{Sources: []plugins.Source{probes(t, test.declared...)}, Granted: []string{"probe"}}})
			s := session(t, h, host.SessionOptions{})
			r, events := one(t, s, "Ask", input)
			var told []struct{ Code, Body string }
			if err := json.Unmarshal(r.Structured, &told); err != nil || len(told) != 3 {
				t.Fatalf("%s, %v", r.Text(), err)
			}
			var codes []string
			for _, one := range told {
				codes = append(codes, one.Code)
			}
			if !slices.Equal(codes, test.codes) || !strings.Contains(told[2].Body, "Theirs") || items(t, s) != "1 Theirs pending " {
				t.Errorf("got %q, and %+v; there is %q", codes, told, items(t, s))
			}
			if !slices.ContainsFunc(events, func(e host.Event) bool {
				return e.Kind == host.EventWork && e.Tool == "Ask" && e.Work.Item.Subject == "Theirs"
			}) {
				t.Error("the change was told to nobody")
			}
		})
	}
	t.Run("not granted", func(t *testing.T) {
		t.Parallel()
		h := open(t, host.Options{Builtins: true, Plugins: host.PluginOptions{Sources: []plugins.Source{probes(t, abi.CapSessionTask)}}})
		s := session(t, h, host.SessionOptions{})
		r, _ := one(t, s, "Ask", input)
		if !r.IsError || r.Error.Code != abi.CodeNotGranted || items(t, s) != "" {
			t.Errorf("got %q; there is %q", r.Text(), items(t, s))
		}
	})
}
