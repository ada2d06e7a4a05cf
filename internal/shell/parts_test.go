package shell

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestParts holds parts and accesses against testdata/parts.txt. A line that
// starts with "$ " is a command, as it is typed or as a Go string behind "$q ";
// what follows is how it is understood.
func TestParts(t *testing.T) {
	const file = "testdata/parts.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.HasPrefix(line, "#"), line == "\n":
			out.WriteString(line)
		case strings.HasPrefix(line, "$"):
			out.WriteString(line)
			writeCommand(&out, Analyse(commandOf(t, strings.TrimSuffix(line, "\n")), testPlace))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, want := strings.Split(out.String(), "\n"), strings.Split(string(data), "\n")
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s:%d: got %q, want %q (-update rewrites the file)", file, i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d lines, want %d (-update rewrites the file)", file, len(got), len(want))
	}
}

func commandOf(t *testing.T, line string) string {
	t.Helper()
	if text, ok := strings.CutPrefix(line, "$q "); ok {
		text, err := strconv.Unquote(text)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return text
	}
	return strings.TrimPrefix(line, "$ ")
}

// writeCommand writes what rules and people see of a command. Words that are
// not literal are in angle brackets.
func writeCommand(out *strings.Builder, c permissions.Command) {
	if c.Cwd != testPlace.Cwd {
		fmt.Fprintf(out, "  cwd %q\n", c.Cwd)
	}
	for _, p := range c.Parts {
		fmt.Fprintf(out, "  %s%s", grade(p), words(p.Words))
		if len(p.Env) > 0 {
			fmt.Fprintf(out, " env %v", p.Env)
		}
		out.WriteByte('\n')
		for _, a := range p.Accesses {
			fmt.Fprintf(out, "    %s %s", a.Kind, a.Target)
			if a.Tree {
				out.WriteString(" tree")
			}
			if a.Removal {
				out.WriteString(" removal")
			}
			out.WriteByte('\n')
		}
		if p.Ask != "" {
			fmt.Fprintf(out, "    ask (critical %t): %s\n", p.Critical, p.Ask)
		}
	}
	if !c.ReadOnly {
		out.WriteString("  not read-only\n")
	}
}

// grade says how much is known of a part: ro, complete, or open.
func grade(p permissions.Part) string {
	grade := "open"
	switch {
	case p.ReadOnly && p.Complete:
		grade = "ro"
	case p.ReadOnly:
		grade = "ro, more"
	case p.Complete:
		grade = "complete"
	}
	if p.Inner {
		return "(" + grade + ")"
	}
	return grade
}

func words(list []permissions.Word) string {
	var b strings.Builder
	for _, w := range list {
		if w.Literal {
			fmt.Fprintf(&b, " %s", plainOrQuoted(w.Text))
		} else {
			fmt.Fprintf(&b, " <%s>", w.Text)
		}
	}
	return b.String()
}

func plainOrQuoted(s string) string {
	if isSimple(s) && s != "" {
		return s
	}
	return strconv.Quote(s)
}

// TestReasons holds what people are told.
func TestReasons(t *testing.T) {
	for command, want := range map[string]string{
		"ls":                        "it only reads",
		"ls && ./make":              "`./make`: it is a program outside of the usual folders (column 7)",
		"ls\n$x":                    "`$x`: which program it is, is only known when it runs (line 2, column 1)",
		"ls > f":                    "it writes to `f` (column 4)",
		"cat < $f":                  "which file `$f` is, is only known when it runs (column 5)",
		"cat < /dev/tcp/h/1":        "it connects to `h` (column 5)",
		"PATH=. ls":                 "it sets PATH for `ls` (column 1)",
		"X=1; ls":                   "it sets X (column 1)",
		"ls &":                      "it is left running in the background (column 1)",
		"while ls; do ls; done":     "a while or until loop need not end (column 1)",
		"cd $X":                     "where `cd` leads is not known (column 1)",
		"cat a/../b":                "where `a/../b` leads is not known (column 1)",
		"echo $((x))":               "arithmetic on variables runs what their values say (column 6)",
		"echo `a 'b'`":              "quotes, backslashes and comments in backquotes are read in two ways; use $( ) (column 6)",
		"ls \r":                     "it holds the hidden character U+000D, column 4",
		strings.Repeat("(", 5000):   "it is not understood: it is nested too deep",
		strings.Repeat("a", 10_001): "it is longer than 10000 bytes",
		strings.Repeat("(a;", 50) + "b" + strings.Repeat(")", 50): "it is nested too deep",
	} {
		if c := Analyse(command, testPlace); c.Reason != want {
			t.Errorf("%.60q: %q, want %q", command, c.Reason, want)
		}
	}
}
