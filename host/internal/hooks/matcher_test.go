package hooks

import (
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// TestMain has tests of hooks run side by side, as they wait.
func TestMain(m *testing.M) {
	testenv.Waiting()
	m.Run()
}

func TestMatcher(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		matcher, name string
		aliases       []string
		want          bool
	}{
		{"", "Bash", nil, true},
		{"*", "Bash", nil, true},
		{"Bash", "Bash", nil, true},
		{"Bash", "bash", nil, false},
		{"Bash", "BashOutput", nil, false},
		{"Bash", "MyBash", nil, false},
		{"Edit|Write", "Write", nil, true},
		{"Edit|Write", "Edit", nil, true},
		{"Edit|Write", "Edit|Write", nil, false},
		{"Edit|Write", "NotebookEdit", nil, false},
		{"*Edit|Write", "NotebookEdit", nil, true},
		{"Notebook*", "NotebookEdit", nil, true},
		{"Notebook*", "Notebook", nil, true},
		{"N*b*k*t", "NotebookEdit", nil, true},
		{"N*b*k*x", "NotebookEdit", nil, false},
		{"***", "X", nil, true},
		{"Bash|*", "X", nil, true},
		{"mcp__memory__*", "mcp__memory__read", nil, true},
		{"mcp__memory__*", "mcp__memory2__read", nil, false},
		{"mcp__*", "mcp__a__b", nil, true},
		{"mcp__*__write*", "mcp__a__write_file", nil, true},
		{"Task", "Agent", []string{"Task"}, true},
		{"Task", "Agent", []string{"Old", "Older"}, false},
		{strings.Repeat("*a", 60), strings.Repeat("a", 59), nil, false},
		{strings.Repeat("*a", 60), strings.Repeat("a", 61), nil, true},
	} {
		m, err := parseMatcher(c.matcher)
		if err != nil {
			t.Errorf("%q: %v", c.matcher, err)
			continue
		}
		if got := m.matches(c.name, c.aliases); got != c.want {
			t.Errorf("%q on %s %v: %v", c.matcher, c.name, c.aliases, got)
		}
	}
}

func TestMatcherFaults(t *testing.T) {
	t.Parallel()
	for matcher, want := range map[string]string{
		"Edit||Write":               "a name is missing",
		"|":                         "a name is missing",
		"mcp__memory__.*":           `write "mcp__memory__*"`,
		"^Bash$":                    `'^' cannot be in a tool's name`,
		"Bash(git *)":               `'('`,
		"Edit | Write":              `' '`,
		"Bash?":                     `'?'`,
		"B\u0430sh":                 "'\u0430'", // a Cyrillic letter
		"mcp__memory":               `write "mcp__memory__*"`,
		strings.Repeat("a", 20<<10): "at most",
		strings.Repeat("a|", 300):   "301 alternatives",
	} {
		_, err := parseMatcher(matcher)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, want %s", matcher, err, want)
		}
	}
}
