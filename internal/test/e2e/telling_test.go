package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestExamplesTell has the examples tell how much of a long file they have read, and
// run beside others by what they say they touch.
func TestExamplesTell(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Ada,36,London\n", 200_000)
	tests := map[string]struct{ tool, input string }{
		"csvquery":   {"CsvQuery", `{"file_path":"long.csv","limit":1}`},
		"outline-go": {"Outline", `{"file_path":"long.csv"}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.install(t, name)
			u.write(t, "long.csv", "name,age,city\n"+long)
			events := u.stream(t, name, `{"type":"tool_use","id":"a","name":"`+test.tool+`","input":`+test.input+`}`)
			told := 0.0
			for _, e := range events {
				if e.Type != "progress" {
					continue
				}
				if e.Call != "a" || e.Done <= told || e.Done > e.Total {
					t.Errorf("after %g: %+v", told, e)
				}
				told = e.Done
			}
			if last := events[len(events)-1]; told < 1<<20 || last.Type != "done" {
				t.Errorf("%g bytes were told of; it ends with %+v", told, last)
			}
		})
	}
}

// event is a line that toolquay run --stream writes.
type event struct {
	Type        string
	Call        string `json:"tool_use_id"`
	Done, Total float64
}

// stream has the user's agent make calls, as lines of JSON, and returns what it is
// told.
func (u user) stream(t *testing.T, grant string, lines ...string) (events []event) {
	t.Helper()
	u.write(t, "calls.jsonl", strings.Join(lines, "\n")+"\n")
	out, stderr, code := u.toolquay(t, "--grant", grant, "run", "--stream", "calls.jsonl")
	if code != 0 {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for line := range strings.Lines(out) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		events = append(events, e)
	}
	return events
}
