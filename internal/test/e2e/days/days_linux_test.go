package days

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// registryHost is the name by which commands reach what the test serves on this machine's
// loopback: the host of the one allow rule.
const registryHost = "host.toolquay.internal"

// names are those of the days.
var names = []string{"go", "rust", "node", "python"}

// mostQuestions is how often a person may be asked in a day.
const mostQuestions = 2

// slow is from how many seconds on a step is named that takes twice as long as by bash alone.
const slow = 2

// TestDays spends the days, one after the other, each once in the sandbox and once by bash
// alone, and prints what it counted.
func TestDays(t *testing.T) {
	testenv.SkipUnlessAsked(t, "TOOLQUAY_DAYS")
	testenv.NeedTool(t, "bwrap")
	// A new user has what the system has, and Go.
	t.Setenv("PATH", filepath.Dir(testenv.NeedTool(t, "go"))+":/usr/local/bin:/usr/bin:/bin")
	rows := []string{"", "| day | steps | questions | refused wrongly | seconds | of them commands | beside bash alone |",
		"| --- | --- | --- | --- | --- | --- | --- |"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			d := readDay(t, name)
			for _, tool := range d.Tools {
				testenv.NeedTool(t, tool)
			}
			r := serveRegistry(t)
			in, alone := newSide(t, r, d, name+"-in"), newSide(t, r, d, name+"-alone")
			c := spend(t, d, in, alone)
			rows = append(rows, fmt.Sprintf("| %s | %d | %d | %d | %.1f | %.1f | %.2fx |",
				name, c.steps, c.questions, c.refused, c.all, c.commands, c.commands/c.alone))
			if c.rightly > mostQuestions {
				t.Errorf("a person is asked %d times, more than %d", c.rightly, mostQuestions)
			}
		})
	}
	t.Log(strings.Join(rows, "\n"))
}

// count is what a day came to. Seconds of commands count only those that ran by bash alone
// too and went well in both.
type count struct {
	steps, questions, rightly, refused int
	all, commands, alone               float64
}

// spend goes through a day in the sandbox and by bash alone, step by step.
func spend(t *testing.T, d day, in, alone *side) (c count) {
	t.Helper()
	s := openSession(t, in)
	for i, st := range d.Steps {
		if _, err := exec.LookPath(st.Needs); st.Needs != "" && err != nil {
			t.Logf("step %d is left out, as %s is not installed: %s", i+1, st.Needs, st)
			continue
		}
		plain := byBash(t, st, alone)
		if problem := (step{Wants: st.wantsAlone()}).outcome(plain); problem != "" {
			t.Errorf("step %d does not go well by bash alone: %s: %s", i+1, st, problem)
		}
		if st.Person {
			if problem := st.outcome(in.bash(t, in.project(), in.fill(st.Run))); problem != "" {
				t.Errorf("step %d, the person's: %s: %s", i+1, st, problem)
			}
			continue
		}
		tool, input := st.call(in.fill)
		a := s.call(t, tool, input)
		if id := taskID.FindString(a.text); st.Background && id != "" {
			in.task = id
		}
		c.add(st, a, plain)
		report(t, i+1, st, a)
		if a.seconds > slow && a.seconds > 2*plain.seconds {
			t.Logf("step %d takes %.1f s, by bash alone %.1f: %s", i+1, a.seconds, plain.seconds, st)
		}
		if st.outcome(a) != "" && st.State == "" && st.Run != "" && !st.Background {
			_ = in.bash(t, in.project(), in.fill(st.Run)) // the day is to go on, where it can
		}
	}
	return c
}

// add counts a step of the agent's.
func (c *count) add(st step, a, plain answer) {
	c.steps++
	c.questions += len(a.asked)
	if st.Asks {
		c.rightly += len(a.asked)
	}
	if a.state == "denied" && st.State == "" {
		c.refused++
	}
	c.all += a.seconds
	if st.Run != "" && !st.Background && st.State == "" && st.outcome(a) == "" {
		c.commands += a.seconds
		c.alone += plain.seconds
	}
}

// report holds a step to what is expected of it, and to what is said of it today.
func report(t *testing.T, n int, st step, a answer) {
	t.Helper()
	switch problem, ok := st.judge(a); {
	case !ok:
		t.Errorf("step %d: %s\n\t%s", n, st, problem)
	case problem != "":
		t.Logf("todo: step %d: %s\n\t%s\n\t%s", n, st, st.Todo, problem)
	}
}

// byBash does a step without the command: what runs, runs by bash, and what is edited is
// edited.
func byBash(t *testing.T, st step, s *side) answer {
	t.Helper()
	ok := answer{state: "ok"}
	switch {
	case st.Person:
		return s.bash(t, s.project(), s.fill(st.Run))
	case st.State != "":
		return ok // it is to be refused, or to fail
	}
	tool, input := st.call(s.fill)
	text := func(key string) string {
		got, _ := input[key].(string)
		return got
	}
	switch tool {
	case "Bash":
		if st.Background {
			return s.background(t, text("command"))
		}
		return s.on(t, text("command"))
	case "Write":
		return done(os.WriteFile(text("file_path"), []byte(text("content")), 0o644))
	case "Edit":
		b, err := os.ReadFile(text("file_path"))
		if err != nil || !strings.Contains(string(b), text("old_string")) {
			return answer{state: "failed", text: fmt.Sprint(text("file_path"), " lacks what is edited: ", err)}
		}
		return done(os.WriteFile(text("file_path"), []byte(strings.Replace(string(b), text("old_string"), text("new_string"), 1)), 0o644))
	}
	return ok // it changes nothing
}

func done(err error) answer {
	if err != nil {
		return answer{state: "failed", text: err.Error()}
	}
	return answer{state: "ok"}
}
