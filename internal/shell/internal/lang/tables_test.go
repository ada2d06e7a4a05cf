package lang

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/internal/testenv"
)

// line is one line of a table in testdata: what is to be said of a script.
type line struct {
	script  string
	verdict string
	at      int
}

// The verdicts of tables: read-only; not; not, as the real tool shows by
// changing something.
var verdicts = []string{"ok", "no", "acts"}

// table reads testdata/NAME.txt. A line holds a verdict, the script, in which ␤
// is a newline, and why, with tabs between.
func table(t *testing.T, name string) []line {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	for i, row := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if row == "" || strings.HasPrefix(row, "//") {
			continue
		}
		verdict, rest, _ := strings.Cut(row, "\t")
		script, _, _ := strings.Cut(rest, "\t")
		if !slices.Contains(verdicts, verdict) {
			t.Fatalf("%s.txt:%d: the verdict %q is none of %v", name, i+1, verdict, verdicts)
		}
		lines = append(lines, line{strings.ReplaceAll(script, "␤", "\n"), verdict, i + 1})
	}
	return lines
}

func TestTables(t *testing.T) {
	t.Parallel()
	for name, language := range languages {
		lines := table(t, name)
		if len(lines) < 60 {
			t.Errorf("%s.txt has %d lines; want 60 at least", name, len(lines))
		}
		for _, l := range lines {
			found := language.judge(l.script)
			if found.ReadOnly != (l.verdict == "ok") {
				t.Errorf("%s.txt:%d: %s\nread-only: %v (%s); want %s", name, l.at, l.script, found.ReadOnly, found.Reason, l.verdict)
			}
			if found.ReadOnly == (found.Reason != "") {
				t.Errorf("%s.txt:%d: %s\nread-only: %v, reason %q", name, l.at, l.script, found.ReadOnly, found.Reason)
			}
		}
	}
}

// TestTablesAreTrue has the real tools run what the tables hold: what is said to
// be read-only changes nothing with any tool there is, and what is said to act does so
// with the first.
func TestTablesAreTrue(t *testing.T) {
	t.Parallel()
	for name, language := range languages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tools := language.installed(t)
			scripts := map[string][]string{}
			for _, l := range table(t, name) {
				scripts[l.verdict] = append(scripts[l.verdict], l.script)
			}
			for verdict, all := range scripts {
				scripts[verdict] = testenv.Some(all)
			}
			for _, tool := range tools {
				language.mustOnlyRead(t, tool, scripts["ok"])
			}
			for _, script := range scripts["acts"] {
				s := newScratch(t)
				s.runEach(t, toEnd, tools[0], [][]string{language.script(script)})
				if !s.changed(t) {
					t.Errorf("%s changes nothing with\n%s", tools[0], script)
				}
			}
		})
	}
}

// mustOnlyRead runs scripts and fails the test for those that change something.
func (l language) mustOnlyRead(t *testing.T, tool, scripts []string) {
	t.Helper()
	var lists [][]string
	for _, script := range scripts {
		lists = append(lists, l.script(script))
	}
	s := newScratch(t)
	s.runEach(t, aMoment, tool, lists)
	if !s.changed(t) {
		return
	}
	if len(scripts) == 1 {
		t.Errorf("%s changes something with\n%s", tool, scripts[0])
		return
	}
	for _, script := range scripts { // which of them it was
		l.mustOnlyRead(t, tool, []string{script})
	}
}
