package powershell

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestParts holds parts and accesses against testdata/parts.txt. A line that starts
// with "$ " is a command; what follows is how it is understood.
func TestParts(t *testing.T) {
	t.Parallel()
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
		case strings.HasPrefix(line, "$ "):
			out.WriteString(line)
			c := Analyse(strings.TrimSuffix(line[2:], "\n"), testPlace)
			for i := range c.Parts {
				writePart(&out, &c.Parts[i])
			}
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

// writePart writes what rules see of a part. Words that are not literal are in angle
// brackets.
func writePart(out *strings.Builder, p *permissions.Part) {
	grade := "open"
	if p.ReadOnly {
		grade = "ro"
	}
	if p.Inner {
		grade = "(" + grade + ")"
	}
	out.WriteString("  " + grade)
	for _, w := range p.Words {
		if w.Literal {
			fmt.Fprintf(out, " %s", w.Text)
		} else {
			fmt.Fprintf(out, " <%s>", w.Text)
		}
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
