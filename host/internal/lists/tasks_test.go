package lists_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/lists"
	"github.com/toolquay/toolquay/internal/privatedir"
)

type jsonText = json.RawMessage

// room is a list of tasks of a test.
type room struct {
	*testing.T
	dir string
	log bytes.Buffer
	*lists.Tasks
}

func placeOf(dir string) lists.Place {
	return lists.Place{Path: func() string { return dir }, Make: func() error { return privatedir.Make(dir) }}
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{T: t, dir: filepath.Join(t.TempDir(), "work")}
	r.reopen()
	return r
}

// reopen goes on as another process does.
func (r *room) reopen() {
	r.Tasks = lists.NewTasks(placeOf(r.dir), slog.New(slog.NewTextHandler(&r.log, nil)))
}

// create makes tasks with these subjects.
func (r *room) create(subjects ...string) {
	r.Helper()
	for _, subject := range subjects {
		if _, err := r.Create(r.Context(), &abi.WorkChange{Subject: &subject, Description: new("to do")}, nil); err != nil {
			r.Fatal(err)
		}
	}
}

// change changes a task as the agent main does, and says what became of it: the fields, how
// the status changed, and the notes.
func (r *room) change(id, change string) string {
	r.Helper()
	var c abi.WorkChange
	if err := json.Unmarshal([]byte(change), &c); err != nil {
		r.Fatal(err)
	}
	u, err := r.Update(r.Context(), id, &c, "main", nil)
	if err != nil {
		return fmt.Sprintf("%s: %v", abi.CodeOf(err), err)
	}
	said := strings.Join(u.Fields, " ")
	if u.From != "" {
		said += fmt.Sprintf("; %s to %s", u.From, u.To)
	}
	if u.Unchecked {
		said += "; unchecked"
	}
	return strings.Join(append([]string{said}, u.Notes...), "; ")
}

// all are the tasks, one a line: number, subject, status, owner, and the edges.
func (r *room) all() string {
	r.Helper()
	l, err := r.All(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	var text []string
	for _, t := range l.Tasks {
		text = append(text, fmt.Sprintf("%s %s %s %s %v %v", t.ID, t.Subject, t.Status, t.Owner, t.Blocks, t.BlockedBy))
	}
	return strings.Join(append(text, l.Notes...), "\n")
}

func (r *room) files() []string {
	r.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		r.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func (r *room) write(name, content string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), 0o600); err != nil {
		r.Fatal(err)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	if got := r.all(); got != "" {
		t.Errorf("a list that is not there yet: %q", got)
	}
	r.create("a", "b", "c", "d")
	for _, step := range []struct{ id, change, want string }{
		{"1", `{"subject":"A","description":"new","activeForm":"doing A"}`, "subject description activeForm"},
		{"1", `{"subject":"A"}`, "; nothing changed: the task is so already"},
		{"1", `{"addBlocks":["2","3","2"]}`, "blocks"},
		{"2", `{"addBlockedBy":["1"]}`, "; nothing changed: the task is so already"},
		{"4", `{"addBlockedBy":["2","3"],"owner":"eve"}`, "owner blockedBy"},
		{"4", `{"status":"in_progress"}`, "status owner; pending to in_progress; task 4 was owned by eve; it is yours now; task 4 waits for 2, 3, not completed yet"},
		{"4", `{"status":"in_progress"}`, "; nothing changed: the task is so already"},
		{"1", `{"status":"in_progress","owner":"eve"}`, "owner status; pending to in_progress"},
		{"1", `{"status":"in_progress"}`, "; task 1 was in progress already, and eve works on it; set owner to take it over; nothing changed: the task is so already"},
		{"1", `{"status":"completed"}`, "status; in_progress to completed"},
		{"2", `{"status":"completed"}`, "status; pending to completed"},
		{"3", `{"status":"completed"}`, "status; pending to completed; unchecked"},
		{"3", `{"status":"pending"}`, "status; completed to pending"},
		{"3", `{"status":"deleted","subject":"ignored"}`, "deleted; pending to deleted"},
		{"3", `{"status":"deleted"}`, "not_found: taskId: there is no task \"3\"; there are 1, 2, 4"},
		{"4", `{"status":"completed","subject":"Test it","owner":""}`, "subject owner status; in_progress to completed"},
	} {
		if got := r.change(step.id, step.change); got != step.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", step.id, step.change, got, step.want)
		}
	}
	const want = "1 A completed eve [2] []\n2 b completed  [4] [1]\n4 Test it completed  [] [2]"
	if got := r.all(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.reopen()
	if got := r.all(); got != want {
		t.Errorf("another process has\n%s", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.create("a", "b", "c", "gone")
	r.change("1", `{"addBlocks":["2"]}`)
	r.change("2", `{"addBlocks":["3"]}`)
	r.change("4", `{"status":"deleted"}`)
	before := r.all()
	many, err := json.Marshal(slices.Repeat([]string{"1"}, 100_000))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]int{}
	for i := range 65 {
		keys[strconv.Itoa(i)] = i
	}
	tooMany, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ id, change, want string }{
		"no id":              {"", `{"subject":"x"}`, `not_found: taskId: there is no task ""; there are 1, 2, 3`},
		"unknown":            {"9", `{"subject":"x"}`, `not_found: taskId: there is no task "9"; there are 1, 2, 3`},
		"written otherwise":  {"01", `{"subject":"x"}`, `no task "01"`},
		"a path":             {"../1", `{"subject":"x"}`, `no task "../1"`},
		"a huge id":          {strings.Repeat("9", 100_000), `{"subject":"x"}`, `there are 1, 2, 3`},
		"negative":           {"-1", `{"subject":"x"}`, `no task "-1"`},
		"unknown edge":       {"1", `{"addBlocks":["2","9"]}`, `not_found: addBlocks: there is no task "9"; there are 1, 2, 3`},
		"edge to the gone":   {"1", `{"addBlockedBy":["4"]}`, `not_found: addBlockedBy: there is no task "4"`},
		"itself":             {"1", `{"addBlocks":["1"]}`, "addBlocks: task 1 cannot wait for itself"},
		"a cycle of two":     {"2", `{"addBlocks":["1"]}`, "tasks would wait for each other: 2 -> 1 -> 2; nothing was changed"},
		"a cycle of three":   {"1", `{"subject":"x","addBlockedBy":["3"]}`, "tasks would wait for each other: 1 -> 2 -> 3 -> 1"},
		"a cycle of its own": {"3", `{"addBlocks":["1"],"addBlockedBy":["1"]}`, "3 -> 1 -> 3"},
		"too many edges":     {"1", `{"addBlocks":` + string(many) + `}`, "addBlocks has 100000 ids"},
		"no subject":         {"1", `{"subject":" "}`, "subject is empty"},
		"long subject":       {"1", `{"subject":"` + strings.Repeat("é", 501) + `"}`, "subject has 501 characters; at most 500"},
		"subject of lines":   {"1", `{"subject":"a\nb"}`, "subject has the control character U+000A"},
		"an escape":          {"1", `{"description":"a\u001b]0;x\u0007"}`, "description has the control character U+001B"},
		"long description":   {"1", `{"description":"` + strings.Repeat("x", 20_001) + `"}`, "description has 20001 characters"},
		"long form":          {"1", `{"activeForm":"` + strings.Repeat("x", 501) + `"}`, "activeForm has 501"},
		"long owner":         {"1", `{"owner":"` + strings.Repeat("x", 257) + `"}`, "owner has 257"},
		"another status":     {"1", `{"status":"done"}`, `status is "done"; there are pending, in_progress, completed and deleted`},
		"no status":          {"1", `{"status":""}`, `status is ""`},
		"many keys":          {"1", `{"metadata":` + string(tooMany) + `}`, "metadata has 65 keys; at most 64"},
		"long metadata":      {"1", `{"metadata":{"a":"` + strings.Repeat("x", 17_000) + `"}}`, "metadata has 17003 bytes; at most 16384"},
		"a long key":         {"1", `{"metadata":{"` + strings.Repeat("x", 101) + `":1}}`, "a key of metadata has 101"},
		"an odd key":         {"1", `{"metadata":{"a\nb":1}}`, "a key of metadata has the control character"},
	} {
		if got := r.change(test.id, test.change); !strings.Contains(got, test.want) || len(got) > 2000 {
			t.Errorf("%s: got %.300s, not %s", name, got, test.want)
		}
	}
	if got := r.all(); got != before {
		t.Errorf("it is now\n%s", got)
	}
	for _, c := range []abi.WorkChange{
		{}, {Subject: new("")}, {Subject: new("a\x00")}, {Subject: new("a"), Status: new("completed")}, {Subject: new("a"), AddBlocks: []string{"1"}},
	} {
		if _, err := r.Create(t.Context(), &c, nil); abi.CodeOf(err) != abi.CodeInvalidInput {
			t.Errorf("%+v: %v", c, err)
		}
	}
	r.create("next")
	if got, want := r.all(), before+"\n5 next pending  [] []"; got != want {
		t.Errorf("it is now\n%s", got)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.create("a", "hidden")
	for _, step := range []struct{ change, said, want string }{
		{`{"a": 1, "b": {"c": [1, 2]}}`, "metadata", `{"a":1,"b":{"c":[1,2]}}`},
		{`{"a":null,"d":"x"}`, "metadata", `{"b":{"c":[1,2]},"d":"x"}`},
		{`{"a":null}`, "; nothing changed: the task is so already", `{"b":{"c":[1,2]},"d":"x"}`},
		{`{"b":{"e":null}}`, "metadata", `{"b":{"e":null},"d":"x"}`},
		{`{"b":null,"d":null}`, "metadata", `null`},
	} {
		if said := r.change("1", `{"metadata":`+step.change+`}`); said != step.said {
			t.Errorf("%s: %s", step.change, said)
		}
		task, _, err := r.Get(t.Context(), "1")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(task.Metadata); err != nil || string(got) != step.want {
			t.Errorf("%s: it is %s, %v", step.change, got, err)
		}
	}
	for value, hidden := range map[string]int{`true`: 1, `{"x":1}`: 1, `1`: 1, `false`: 0, `0`: 0, `""`: 0, `null`: 0} {
		r.change("2", `{"metadata":{"_internal":`+value+`}}`)
		l, count, err := r.Open(t.Context())
		if err != nil || count != hidden || len(l.Tasks) != 2-hidden {
			t.Errorf("_internal %s: %d hidden, %+v, %v", value, count, l, err)
		}
	}
}

// TestMetadataIsKeptAsItWasChecked reads back as many bytes as there may be, of characters that
// JSON can also have as six.
func TestMetadataIsKeptAsItWasChecked(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"<", "\u2028"} {
		r := newRoom(t)
		r.create("a")
		value := `"` + strings.Repeat(text, ((16<<10)-len(`k""`))/len(text)) + `"`
		if said := r.change("1", `{"metadata":{"k":`+value+`}}`); said != "metadata" {
			t.Fatalf("%q: %s", text, said)
		}
		task, notes, err := r.Get(t.Context(), "1")
		if err != nil || task == nil || string(task.Metadata["k"]) != value {
			t.Errorf("%q is not what it was: %q, %v", text, notes, err)
		}
	}
}

// What a model is shown of the list.
func TestOpen(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	if l, hidden, err := r.Open(t.Context()); err != nil || hidden != 0 || l.Tasks == nil {
		t.Errorf("an empty list: %+v, %v", l, err)
	}
	r.create("a", "b", "c")
	r.change("3", `{"addBlockedBy":["1","2"],"metadata":{"a":1}}`)
	r.change("1", `{"status":"completed"}`)
	l, _, err := r.Open(t.Context())
	if err != nil || len(l.Tasks) != 3 {
		t.Fatalf("got %+v, %v", l, err)
	}
	if c := l.Tasks[2]; !slices.Equal(c.BlockedBy, []string{"2"}) || c.Description != "" || c.Metadata != nil || c.Subject != "c" {
		t.Errorf("got %+v", c)
	}
	task, notes, err := r.Get(t.Context(), "3")
	if err != nil || len(notes) > 0 || !slices.Equal(task.BlockedBy, []string{"1", "2"}) || task.Description != "to do" {
		t.Errorf("got %+v, %v, %v", task, notes, err)
	}
	task, notes, err = r.Get(t.Context(), "7")
	if err != nil || task != nil || len(notes) != 1 || !strings.Contains(notes[0], `no task "7"; there are 1, 2, 3`) {
		t.Errorf("got %+v, %v, %v", task, notes, err)
	}
}

func TestNumbersAreNotReused(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.create("a", "b", "c")
	r.change("3", `{"status":"deleted"}`)
	r.change("2", `{"status":"deleted"}`)
	r.reopen()
	r.create("d")
	if got, want := r.all(), "1 a pending  [] []\n4 d pending  [] []"; got != want {
		t.Errorf("got\n%s", got)
	}
	r.change("1", `{"status":"deleted"}`)
	r.change("4", `{"status":"deleted"}`)
	if got, want := r.files(), []string{"4.gone", "lock"}; !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
	r.create("e")
	if got, want := r.files(), []string{"5.json", "lock"}; !slices.Equal(got, want) || r.all() != "5 e pending  [] []" {
		t.Errorf("there are %q, and\n%s", got, r.all())
	}
	r.write("999999999.gone", "")
	if _, err := r.Create(t.Context(), &abi.WorkChange{Subject: new("x")}, nil); abi.CodeOf(err) != abi.CodeLimit || !strings.Contains(err.Error(), "used up") {
		t.Errorf("got %v", err)
	}
}

func TestTooManyTasks(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.create("a")
	raw, err := os.ReadFile(filepath.Join(r.dir, "1.json"))
	if err != nil {
		t.Fatal(err)
	}
	for id := 2; id <= lists.MaxTasks; id++ {
		r.write(fmt.Sprint(id, ".json"), strings.Replace(string(raw), `"id":1,`, fmt.Sprintf(`"id":%d,`, id), 1))
	}
	_, err = r.Create(t.Context(), &abi.WorkChange{Subject: new("x")}, nil)
	if abi.CodeOf(err) != abi.CodeLimit || !strings.Contains(err.Error(), "1000 tasks") || !strings.Contains(err.Error(), "delete those that are done") {
		t.Errorf("got %v", err)
	}
	if got := r.change("2", `{"status":"deleted"}`); !strings.HasPrefix(got, "deleted") {
		t.Error(got)
	}
	r.create("in its place")
	if task, _, err := r.Get(t.Context(), "1001"); err != nil || task == nil {
		t.Errorf("got %+v, %v", task, err)
	}
}

var errNo = errors.New("not so")

func TestApproval(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	var asked []abi.WorkItem
	answer := error(nil)
	approve := func(_ context.Context, task abi.WorkItem) error {
		asked = append(asked, task)
		return answer
	}
	subject := abi.WorkChange{Subject: new("a")}
	for i, fails := range []error{nil, errNo, nil} {
		answer = fails
		task, err := r.Create(t.Context(), &subject, approve)
		if !errors.Is(err, fails) || task.ID != strconv.Itoa(i+1) {
			t.Errorf("got %+v, %v", task, err)
		}
	}
	if len(asked) != 3 || asked[1].ID != "2" || asked[1].Subject != "a" || asked[1].Status != "pending" {
		t.Errorf("asked %+v", asked)
	}
	if got, want := r.all(), "1 a pending  [] []\n3 a pending  [] []"; got != want {
		t.Errorf("got\n%s", got)
	}
	asked, answer = nil, errNo
	done := abi.WorkChange{Status: new("completed"), Subject: new("b")}
	u, err := r.Update(t.Context(), "1", &done, "main", approve)
	if !errors.Is(err, errNo) || u.Task.Status != "pending" || len(u.Fields) > 0 || len(asked) != 1 || asked[0].Status != "completed" || asked[0].Subject != "b" {
		t.Errorf("got %+v, %v, asked %+v", u, err, asked)
	}
	if got := r.all(); !strings.HasPrefix(got, "1 a pending") {
		t.Errorf("got\n%s", got)
	}
	answer = nil
	for _, change := range []*abi.WorkChange{&done, &done, {Status: new("in_progress")}, {Subject: new("c")}, {Status: new("deleted")}} {
		if _, err := r.Update(t.Context(), "1", change, "main", approve); err != nil {
			t.Error(err)
		}
	}
	if len(asked) != 2 {
		t.Errorf("asked %d times, not once for each time that it becomes completed", len(asked))
	}
	// What changed while somebody was asked.
	meanwhile := func(context.Context, abi.WorkItem) error { r.change("3", `{"status":"deleted"}`); return nil }
	if _, err := r.Update(t.Context(), "3", &done, "main", meanwhile); abi.CodeOf(err) != abi.CodeNotFound {
		t.Errorf("got %v", err)
	}
	// Others make tasks while somebody is asked, and the number stays its own.
	other := func(context.Context, abi.WorkItem) error { r.create("other"); return nil }
	if task, err := r.Create(t.Context(), &subject, other); err != nil || task.ID != "4" {
		t.Errorf("got %+v, %v", task, err)
	}
	if got, want := r.all(), "4 a pending  [] []\n5 other pending  [] []"; got != want {
		t.Errorf("got\n%s", got)
	}
	if got, want := r.files(), []string{"4.json", "5.json", "lock"}; !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "half": `{"version":1,"id":2,"sub`, "another's": `{"version":1,"id":1,"subject":"b","status":"pending"}`,
		"what no model may say": `{"version":1,"id":2,"subject":"b\u001b","status":"pending"}`,
		"no status":             `{"version":1,"id":2,"subject":"b"}`,
		"huge":                  `{"version":1,"id":2,"subject":"b","status":"pending"}` + strings.Repeat(" ", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRoom(t)
			r.create("a", "b")
			r.change("1", `{"addBlocks":["2"]}`)
			r.write("2.json", content)
			outside, err := lists.Read(r.dir)
			if err != nil || len(outside.Tasks) != 1 || len(outside.Notes) != 1 || strings.Contains(outside.Notes[0], "put aside") {
				t.Errorf("read %+v, %v", outside, err)
			}
			got := r.all()
			if !strings.HasPrefix(got, "1 a pending  [] []\ntask 2 is lost: ") || !strings.Contains(got, "2.damaged") || !strings.Contains(r.log.String(), "2.json") {
				t.Errorf("got\n%s\ntold %s", got, r.log.String())
			}
			if aside, err := os.ReadFile(filepath.Join(r.dir, "2.damaged")); err != nil || string(aside) != content {
				t.Errorf("put aside %d bytes, %v", len(aside), err)
			}
			r.create("c") // its number is not 2
			if got, want := r.all(), "1 a pending  [] []\n3 c pending  [] []"; got != want {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.create("a")
	r.write(".tmp-123", "half")
	r.write("notes.txt", "a person's")
	r.write("7.json.bak", "a person's")
	r.create("b")
	if got, want := r.files(), []string{"1.json", "2.json", "7.json.bak", "lock", "notes.txt"}; !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
	r.write("3.json", `{"version":2,"id":3}`)
	if _, err := r.All(t.Context()); abi.CodeOf(err) != abi.CodeIO || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("a later version: %v", err)
	}
}
