package lang

import (
	"reflect"
	"testing"
)

func literal(words ...string) []Arg {
	args := make([]Arg, len(words))
	for i, w := range words {
		args[i] = Arg{Text: w, Literal: true}
	}
	return args
}

// TestFindTells has Find tell what a command touches, also where it is not
// understood.
func TestFindTells(t *testing.T) {
	t.Parallel()
	dot := literal(".")
	tests := []struct {
		words string
		want  FindFinding
	}{
		{"", FindFinding{ReadOnly: true, Complete: true, Starts: dot}},
		{"a b -newer c -samefile d", FindFinding{ReadOnly: true, Complete: true, Starts: literal("a", "b"), Reads: []string{"c", "d"}}},
		{"-delete", FindFinding{Complete: true, Starts: dot, Deletes: true, Reason: "it deletes files (-delete)"}},
		{". -fprintf f %p -fls g", FindFinding{
			Complete: true, Starts: dot, Writes: []string{"f", "g"}, Reason: "it writes a file (-fprint and its like)",
		}},
		{". -exec grep x {} + -execdir cat ./{} ;", FindFinding{
			Complete: true, Starts: dot, Reason: "it starts a program (-exec and its like)",
			Inner: []FindCommand{
				{Args: append(literal("grep", "x"), Arg{Text: "{}"})},
				{Args: append(literal("cat"), Arg{Text: "./{}"}), InDir: true},
			},
		}},
		{"$d -exec rm x ; -nosuch -delete -fprint f", FindFinding{
			Starts: []Arg{{Text: "$d"}}, Inner: []FindCommand{{Args: literal("rm", "x")}}, Deletes: true, Writes: []string{"f"},
			Reason: "the word $d may expand to an action",
		}},
		{"*", FindFinding{Starts: []Arg{{Text: "*", Glob: true}}, Reason: "the word * may expand to an action"}},
	}
	for _, test := range tests {
		if got := Find(findWords(test.words)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("find %s:\ngot  %+v\nwant %+v", test.words, got, test.want)
		}
	}
}

// TestSedTellsFiles has sed's scripts tell the files they name.
func TestSedTellsFiles(t *testing.T) {
	t.Parallel()
	got := Sed("1r a b;c\n$R d\nw e\nw f")
	want := Finding{Reason: "it writes files (w)", StartsNothing: true, Reads: []string{"a b;c", "d"}, Writes: []string{"e", "f"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestAwkAssigned has variables set on the command line: none is to be what awk keeps
// for itself.
func TestAwkAssigned(t *testing.T) {
	t.Parallel()
	tests := []struct {
		program  string
		assigned []string
		want     bool
	}{
		{"$1 > limit", []string{"limit"}, true},
		{"{ print }", []string{"FS", "OFS", "RS"}, true},
		{"BEGIN { for (i = 0; i < n; i++) x }", []string{"n"}, true},
		{"{ print }", []string{"ARGV"}, false},
		{"{ print }", []string{"ENVIRON"}, false},
		{"{ print }", []string{"getline"}, false},
		{"{ print }", []string{"a b"}, false},
	}
	for _, test := range tests {
		if got := Awk(test.program, test.assigned...); got.ReadOnly != test.want {
			t.Errorf("%s with %v: read-only: %v (%s)", test.program, test.assigned, got.ReadOnly, got.Reason)
		}
	}
}

// TestJqKnowsItsTree fails where a new gojq has parts of a filter that jqJudge
// does not look at.
func TestJqKnowsItsTree(t *testing.T) {
	t.Parallel()
	for _, part := range jqParts {
		var names []string
		for field := range reflect.TypeOf(part.value).Fields() {
			names = append(names, field.Name)
		}
		if !reflect.DeepEqual(names, part.fields) {
			t.Errorf("%T has the fields %v; known are %v", part.value, names, part.fields)
		}
	}
}
