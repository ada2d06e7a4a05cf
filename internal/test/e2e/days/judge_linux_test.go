package days

import (
	"strings"
	"testing"
)

// TestDataFiles reads the days without spending them.
func TestDataFiles(t *testing.T) {
	for _, name := range names {
		if d := readDay(t, name); len(d.Steps) < 30 {
			t.Errorf("%s has %d steps, which is no day", name, len(d.Steps))
		}
	}
}

func TestJudge(t *testing.T) {
	well := answer{state: "ok", text: "one\ntwo\n"}
	asked, denied := well, answer{state: "denied", text: "a rule"}
	asked.asked = []string{"it runs code"}
	for name, test := range map[string]struct {
		step    step
		answer  answer
		problem string
		ok      bool
	}{
		"well":                  {step{Wants: "^two$"}, well, "", true},
		"a question":            {step{}, asked, "asked: it runs code", false},
		"no question":           {step{Asks: true}, well, "not asked", false},
		"a right question":      {step{Asks: true}, asked, "", true},
		"not what it wants":     {step{Wants: "^three$"}, well, `no "^three$" in`, false},
		"what it must lack":     {step{Lacks: "one"}, well, `"one" in`, false},
		"refused":               {step{}, denied, "denied, not ok", false},
		"rightly refused":       {step{State: "denied"}, denied, "", true},
		"not refused":           {step{State: "denied"}, well, "ok, not denied", false},
		"two faults":            {step{Wants: "^three$"}, asked, `code; no "^three$"`, false},
		"known":                 {step{Todo: "later"}, asked, "asked: it runs code", true},
		"known, and not so now": {step{Todo: "later"}, well, "remove the todo: later", false},
	} {
		problem, ok := test.step.judge(test.answer)
		if ok != test.ok || !strings.Contains(problem, test.problem) || test.problem == "" && problem != "" {
			t.Errorf("%s: %q, %v", name, problem, ok)
		}
	}
}
