package proof

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
)

// comparison runs scripts under every treatment.
type comparison struct {
	t      *testing.T
	config wazero.RuntimeConfig
	total  *tally
	// mine counts this script's commands.
	mine tally
	// spent is set once the module at hand was to run out of stack. The stack it
	// had taken is not given back, so that calls after that may run out too;
	// runners throw such an instance away.
	spent bool
}

func (c *comparison) run(s script) {
	c.t.Helper()
	var stages []*stage
	for _, how := range treatments {
		stages = append(stages, newStage(c.t.Context(), c.t, c.config, how, s))
	}
	c.mine.files++
	for _, cmd := range s.Commands {
		var outcomes []outcome
		for _, st := range stages {
			if o, done := st.do(cmd); done {
				outcomes = append(outcomes, o)
			}
		}
		c.mine.executions += len(outcomes)
		switch len(outcomes) {
		case 0:
			c.mine.skipped++
			continue
		case len(stages):
			c.mine.commands++
		default:
			c.t.Fatalf("line %d: only %d of %d could do %s", cmd.Line, len(outcomes), len(stages), cmd.Type)
		}
		c.check(cmd, outcomes)
	}
	c.total.add(&c.mine)
}

// check holds what came of a command against what was to come of it, and the
// treatments' against the original's.
func (c *comparison) check(cmd command, outcomes []outcome) {
	c.t.Helper()
	switch cmd.Type {
	case "module":
		c.spent = false
	case "assert_exhaustion":
		c.spent = true
	}
	for i, o := range outcomes {
		if c.spent && i > 0 && o.class == exhausted {
			c.mine.spent++
			continue
		}
		if !asExpected(cmd, o) {
			c.t.Errorf("line %d: %s %s of the %s: %s, want %s", cmd.Line, cmd.Type, cmd.Action.Field, treatments[i].name, o, want(cmd))
		}
		if !alike(cmd, outcomes[0], o) {
			c.t.Errorf("line %d: %s %s of the %s: %s, of the original: %s", cmd.Line, cmd.Type, cmd.Action.Field, treatments[i].name, o, outcomes[0])
		}
	}
}

// alike reports whether two treatments ended alike. A module that is invalid may
// be found so sooner or later.
func alike(cmd command, original, other outcome) bool {
	switch cmd.Type {
	case "assert_invalid", "assert_malformed":
		return original.class != returned && other.class != returned
	default:
		return original.equal(other)
	}
}

func want(cmd command) string {
	if cmd.Text != "" {
		return cmd.Text
	}
	return fmt.Sprintf("%+v", cmd.Expected)
}

// asExpected reports whether a command ended as the suite says.
func asExpected(cmd command, o outcome) bool {
	switch cmd.Type {
	case "module", "action":
		return o.class == returned
	case "assert_return":
		return o.class == returned && match(cmd.Expected, o.results)
	case "assert_invalid", "assert_malformed", "assert_unlinkable":
		// wazero looks at the type of an imported global only when it links.
		return o.class != returned
	case "assert_uninstantiable":
		if cmd.Text == "out of bounds table access" {
			// wazero goes on after an element segment that does not fit, so
			// that other modules keep the functions it put there before.
			return o.class == returned
		}
		return o.class == expectedTrap(cmd.Text)
	default:
		return o.class == expectedTrap(cmd.Text)
	}
}

func expectedTrap(text string) class {
	for _, e := range expectedTraps {
		if strings.HasPrefix(text, e.prefix) {
			return e.class
		}
	}
	return class("none of the known traps: " + text)
}

// tally counts what was compared.
type tally struct {
	mu                                          sync.Mutex
	files, commands, executions, skipped, spent int
}

func (t *tally) add(other *tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files += other.files
	t.commands += other.commands
	t.executions += other.executions
	t.skipped += other.skipped
	t.spent += other.spent
}

func (t *tally) String() string {
	return fmt.Sprintf("%d files, %d commands compared, %d executions; %d commands on text or without an outcome; %d times out of stack",
		t.files, t.commands, t.executions, t.skipped, t.spent)
}
