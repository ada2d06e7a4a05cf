package programs

import (
	"strings"
	"testing"
	"testing/fstest"
)

// Every row has a reason, and an example in testdata that it judges.
func TestTable(t *testing.T) {
	rows, err := readTable(tableFiles)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range examples(t) {
		words := strings.Fields(e.command)
		name, _ := programName(words[0])
		for i := 1; i < len(words) && rows[name] != nil && strings.HasPrefix(words[i], "-"); i++ {
			words = append(words[:i:i], words[i+1:]...)
			i--
		}
		for seen[name] = true; len(words) > 1; words = words[1:] {
			name += " " + words[1]
			seen[name] = true
		}
	}
	for name, r := range rows {
		if len(r.why) < 10 {
			t.Errorf("%s gives no reason: %q", name, r.why)
		}
		if !seen[name] {
			t.Errorf("%s has no example", name)
		}
		for _, flag := range r.needs {
			if _, ok := r.flags[flag]; !ok {
				t.Errorf("%s needs %s, which it does not list", name, flag)
			}
		}
		if r.never && r.changes || r.transparent && r.opaque {
			t.Errorf("%s is two things at once", name)
		}
	}
}

func TestReadTableFaults(t *testing.T) {
	for text, want := range map[string]string{
		"ls\n":                            `1: "ls" gives no reason`,
		"ls: a\nls: b\n":                  `2: "ls" has two rows`,
		"ls: a\n    is odd\n":             `2: no trait is named "odd"`,
		"ls: a\n    takes money\n":        `2: no kind of operand is named "money"`,
		"ls: a\n    judge nobody\n":       `2: no judge is named "nobody"`,
		"ls: a\n    -ab\n    -b:\n":       `3: ls has the flag -b twice`,
		"ls: a\n    what is it\n":         `2: a line cannot begin with "what"`,
		"git log: it shows the history\n": `"git" has no row of its own`,
	} {
		_, err := readTable(fstest.MapFS{"table/x.txt": {Data: []byte(text)}})
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q:\n\tgot  %v\n\twant %s", text, err, want)
		}
	}
}
