package shell

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// testPlace is where the commands of the tables run.
var testPlace = Place{Cwd: "/ws/proj", Home: "/home/u", Working: []string{"/ws/proj", "/ws/lib"}}

// verdictLine is one line of a table: `ro|no|fault : command`, or with :q and
// the command as a Go string.
type verdictLine struct{ where, want, command string }

// verdictLines reads the tables under testdata/verdicts.
func verdictLines(tb testing.TB) []verdictLine {
	tb.Helper()
	files, err := filepath.Glob("testdata/verdicts/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatal("no tables", err)
	}
	var out []verdictLine
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			where := filepath.Base(file) + ":" + strconv.Itoa(i+1)
			want, command, ok := strings.Cut(line, " : ")
			if head, text, isQuoted := strings.Cut(line, " :q "); isQuoted && !ok {
				want, ok = head, true
				if command, err = strconv.Unquote(text); err != nil {
					tb.Fatalf("%s: %v", where, err)
				}
			}
			if !ok {
				tb.Fatalf("%s: no verdict in %q", where, line)
			}
			out = append(out, verdictLine{where, want, command})
		}
	}
	return out
}

func TestVerdicts(t *testing.T) {
	for _, line := range verdictLines(t) {
		c := Analyse(line.command, testPlace)
		got := "no"
		switch {
		case c.Fault != "":
			got = "fault"
		case c.ReadOnly:
			got = "ro"
		}
		if got != line.want {
			t.Errorf("%s: %q is %s, want %s: %s", line.where, line.command, got, line.want, c.Reason)
		}
		if c.Reason == "" {
			t.Errorf("%s: %q has no reason", line.where, line.command)
		}
	}
}
