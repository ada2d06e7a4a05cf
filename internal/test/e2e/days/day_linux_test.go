package days

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// day is one project and what is done in it. In all its texts these stand for what is only
// known when it runs: @URL@ for the registry, @REMOTE@ for the remote's address, @BARE@ for
// where the remote lies on the disk, @DIR@ for the session's directory, @PORT@ for a free
// port, and @TASK@ for the last background task.
type day struct {
	// Tools are the programs without which there is no such day.
	Tools []string `toml:"tools"`
	// Home are files of the person's home, and Files those of the repository.
	Home  map[string]string `toml:"home"`
	Files map[string]string `toml:"files"`
	Steps []step            `toml:"step"`
}

// step is one call of the agent, or one thing that the person does meanwhile.
type step struct {
	// Run is a command: the agent's, or the person's in a terminal of their own, outside
	// the sandbox.
	Run    string `toml:"run"`
	Person bool   `toml:"person"`
	// Here says that the person's step is about files in the session's directory. A staged session
	// has its changes elsewhere, so the step is left out there.
	Here bool `toml:"here"`
	// Background has the command go on.
	Background bool `toml:"background"`
	// Tool is another tool than Bash, with its input.
	Tool  string         `toml:"tool"`
	Input map[string]any `toml:"input"`
	// Needs is a program without which the step is left out.
	Needs string `toml:"needs"`

	// State is how the call ends, "ok" where there is none, and Wants a regular
	// expression that is found in the result. Lacks is one that is not.
	State string `toml:"state"`
	Wants string `toml:"wants"`
	Lacks string `toml:"lacks"`
	// Asks says that a person is rightly asked.
	Asks bool `toml:"asks"`
	// What Todo says is why the step does not go well today. If it goes well, the test fails.
	Todo string `toml:"todo"`
}

// readDay reads a file of testdata.
func readDay(t *testing.T, name string) day {
	t.Helper()
	var d day
	meta, err := toml.DecodeFile(filepath.Join("testdata", name+".toml"), &d)
	if err != nil {
		t.Fatal(err)
	}
	if odd := meta.Undecoded(); len(odd) > 0 {
		t.Fatalf("testdata/%s.toml has keys that nobody reads: %v", name, odd)
	}
	for i, s := range d.Steps {
		if (s.Run == "") == (s.Tool == "") {
			t.Errorf("step %d has to have either run or tool", i+1)
		}
		for _, expr := range []string{s.Wants, s.Lacks} {
			if _, err := regexp.Compile("(?m)" + expr); err != nil {
				t.Errorf("step %d: %v", i+1, err)
			}
		}
	}
	return d
}

// String is the step's beginning, for people.
func (s step) String() string {
	text := s.Run
	if s.Tool != "" {
		text = fmt.Sprint(s.Tool, " ", s.Input)
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return text
}

// call is the tool and its input.
func (s step) call(fill func(string) string) (tool string, input map[string]any) {
	if s.Tool == "" {
		input = map[string]any{"command": fill(s.Run)}
		if s.Background {
			input["run_in_background"] = true
		}
		return "Bash", input
	}
	input = make(map[string]any, len(s.Input))
	for key, value := range s.Input {
		if text, ok := value.(string); ok {
			value = fill(text)
		}
		input[key] = value
	}
	return s.Tool, input
}

// wantsAlone is what the step's output has by bash alone too: nothing hides there what a
// rule denies, and of tools there is no output.
func (s step) wantsAlone() string {
	if s.Run == "" || s.State != "" || s.Lacks != "" || s.Background {
		return ""
	}
	return s.Wants
}

// questions says what is wrong with what was asked; it is empty where nothing is.
func (s step) questions(a answer) string {
	switch {
	case len(a.asked) > 0 && !s.Asks:
		return "asked: " + strings.Join(a.asked, "; ")
	case len(a.asked) == 0 && s.Asks:
		return "not asked"
	}
	return ""
}

// outcome says what is wrong with what came of it.
func (s step) outcome(a answer) string {
	state := cmp.Or(s.State, "ok")
	found := func(expr string) bool { return regexp.MustCompile("(?m)" + expr).MatchString(a.text) }
	switch {
	case a.state != state:
		return a.state + ", not " + state + ": " + a.text
	case s.Wants != "" && !found(s.Wants):
		return fmt.Sprintf("no %q in: %s", s.Wants, a.text)
	case s.Lacks != "" && found(s.Lacks):
		return fmt.Sprintf("%q in: %s", s.Lacks, a.text)
	}
	return ""
}

// judge says what is wrong with an answer, and whether that is as the step has it today.
func (s step) judge(a answer) (problem string, ok bool) {
	problem = strings.Trim(s.questions(a)+"; "+s.outcome(a), "; ")
	if problem == "" && s.Todo != "" {
		return "it goes well now; remove the todo: " + s.Todo, false
	}
	return problem, problem == "" || s.Todo != ""
}

// answer is what came of a step.
type answer struct {
	state, text string
	// asked are the reasons of the questions.
	asked   []string
	seconds float64
}
