package programs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/permissions"
)

// The files under testdata hold lines such as
//
//	ro: grep -r foo src => R src
//
// A verdict: "ro" is read-only; "blind" is read-only but reads what is not
// listed; "complete" is not read-only, but all it does is listed; "no" is
// neither. Then a command line, and behind "=>", where given, what it touches:
// "r" reads, "w" writes, "x" removes, in capitals with all that is below, "@" behind them with what links lead to; "n" is
// a host, "h" one for deny and ask rules alone; "[cmd]" is started, "<cmd>" is looked through, "{text}" is for a shell.

// example is a line of testdata.
type example struct {
	at, verdict, command, effects string
	hasEffects                    bool
}

// examples reads the lines of testdata.
func examples(tb testing.TB) []example {
	tb.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		tb.Fatalf("no examples: %v", err)
	}
	var out []example
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			e := example{at: fmt.Sprintf("%s:%d", name, n)}
			verdict, rest, ok := strings.Cut(line, ": ")
			if !ok {
				tb.Fatalf("%s: no verdict", e.at)
			}
			e.verdict = verdict
			e.command, e.effects, e.hasEffects = strings.Cut(rest, " =>")
			e.effects = strings.TrimSpace(e.effects)
			out = append(out, e)
		}
	}
	return out
}

// split splits a command line into words, as much like a shell as examples need.
func split(line string) []Arg {
	var out []Arg
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		var a Arg
		a, line = word(line)
		out = append(out, a)
	}
	return out
}

// word takes the first word off a line.
func word(line string) (Arg, string) {
	var text strings.Builder
	var bare, dollar, glob bool // "bare" is a "$" outside quotes
	quote, i := byte(0), 0
	for ; i < len(line) && (quote != 0 || line[i] != ' '); i++ {
		c := line[i]
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			continue
		case c == quote && quote != 0:
			quote = 0
			continue
		case c == '$' && quote != '\'':
			dollar, bare = true, bare || quote == 0
		case quote == 0 && strings.IndexByte("*?[", c) >= 0 && line[i:] != "[" && !strings.HasPrefix(line[i:], "[ "):
			glob = true
		}
		text.WriteByte(c)
	}
	a := Arg{Text: text.String(), Literal: !dollar && !glob, Glob: glob && !dollar}
	if dollar {
		a.Text, a.Single = line[:i], !bare && !glob
	}
	return a, line[i:]
}

// verdict names a finding as the examples do.
func (f Finding) verdict() string {
	switch {
	case f.ReadOnly && f.Unknown != 0:
		return "blind"
	case f.ReadOnly:
		return "ro"
	case f.Complete:
		return "complete"
	}
	return "no"
}

// show writes effects and inner commands as the examples do.
func (f Finding) show() string {
	var out []string
	for _, e := range f.Effects {
		mark := map[permissions.AccessKind]string{
			permissions.AccessRead: "r", permissions.AccessWrite: "w", permissions.AccessNet: "n",
		}[e.Kind]
		switch {
		case e.Removal:
			mark = "x"
		case e.Git:
			mark = "g"
		}
		if e.Held {
			mark = "h"
		}
		if e.Tree {
			mark = strings.ToUpper(mark)
			if e.Links {
				mark += "@"
			}
		}
		out = append(out, mark+" "+e.Name)
	}
	for _, in := range f.Inner {
		var words []string
		for _, a := range in.Args {
			words = append(words, a.Text)
		}
		text := strings.Join(words, " ")
		if in.More {
			text += " ..."
		}
		switch {
		case in.Shell != "":
			out = append(out, "{"+in.Shell+"}")
		case in.Transparent:
			out = append(out, "<"+text+">")
		default:
			out = append(out, "["+text+"]")
		}
	}
	return strings.Join(out, ", ")
}

func TestJudge(t *testing.T) {
	for _, e := range examples(t) {
		f := Judge(split(e.command))
		if got := f.verdict(); got != e.verdict {
			t.Errorf("%s: %s\n\tis %s, want %s: %s", e.at, e.command, got, e.verdict, f.Reason)
		}
		if got := f.show(); e.hasEffects && got != e.effects {
			t.Errorf("%s: %s\n\ttouches %s\n\twant    %s", e.at, e.command, got, e.effects)
		}
		if f.Reason == "" {
			t.Errorf("%s: %s gives no reason", e.at, e.command)
		}
	}
}

func TestSplit(t *testing.T) {
	got := split(`a 'b c' "$d" $e *.f -x"y" [ "*"`)
	want := []Arg{
		{Text: "a", Literal: true},
		{Text: "b c", Literal: true},
		{Text: `"$d"`, Single: true},
		{Text: "$e"},
		{Text: "*.f", Glob: true},
		{Text: "-xy", Literal: true},
		{Text: "[", Literal: true},
		{Text: "*", Literal: true},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestJudgeNothing(t *testing.T) {
	for _, argv := range [][]Arg{nil, {{}}, {{Text: "$x"}}, {{Literal: true}}} {
		if f := Judge(argv); f.ReadOnly || f.Complete || f.Reason == "" {
			t.Errorf("%v: %+v", argv, f)
		}
	}
}

// What begins with a word of the table and goes on with anything must not bring
// the judgement down.
func FuzzJudge(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(e.command)
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv := split(line)
		found := Judge(argv)
		if found.ReadOnly && writes(found.Effects) {
			t.Errorf("%q is read-only and writes", line)
		}
		if found.Unknown != 0 && found.Complete {
			t.Errorf("%q is complete and reads what is not named", line)
		}
		if again := Judge(argv); again.show() != found.show() || again.verdict() != found.verdict() {
			t.Errorf("%q is judged twice, differently", line)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	for _, line := range []string{
		"ls -la src", "grep -rn --include=x foo src", "git log --oneline -n 5", "cp -r a b c/d", "timeout 5 ls",
	} {
		argv := split(line)
		b.Run(strings.Fields(line)[0], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Judge(argv)
			}
		})
	}
}
