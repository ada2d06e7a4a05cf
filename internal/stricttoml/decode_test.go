package stricttoml_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/internal/testenv"
)

type level string

type item struct {
	Name  string    `toml:"name"`
	Trait abi.Trait `toml:"trait"`
	Tags  []string  `toml:"tags"`
	Sub   *item     `toml:"sub"`
}

type config struct {
	Name    string            `toml:"name"`
	Level   level             `toml:"level"`
	On      bool              `toml:"on"`
	Count   int               `toml:"count"`
	Small   int8              `toml:"small"`
	Natural uint              `toml:"natural"`
	Ratio   float64           `toml:"ratio"`
	Size    abi.Size          `toml:"size"`
	Time    abi.Duration      `toml:"time"`
	When    time.Time         `toml:"when"`
	Any     any               `toml:"any"`
	Limits  map[string]int    `toml:"limits"`
	Env     map[string]string `toml:"env"`
	Items   []item            `toml:"items"`
	Grid    [][]int           `toml:"grid"`
	Hidden  string
}

func TestDecodeFields(t *testing.T) {
	t.Parallel()
	const src = `
name = "n"
level = 'high'
on = true
count = -3
natural = 7
ratio = 1
size = "2KiB"
when = 2026-01-02T03:04:05Z
any = [1, "a"]
grid = [[1, 2],
  [3]]
limits = { a = 1, "b c" = 2 }
env.PATH = "/bin"
[[items]]
name = "first"
trait = true
[items.sub]
name = "below"
[[items]]
trait = "derived"
tags = ["x",
  "y"]
`
	var c config
	doc, faults := stricttoml.Decode([]byte(src), &c)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if c.Name != "n" || c.Level != "high" || !c.On || c.Count != -3 || c.Natural != 7 || c.Ratio != 1 ||
		c.Size != 2048 || c.When.Year() != 2026 || len(c.Any.([]any)) != 2 || c.Grid[1][0] != 3 ||
		c.Limits["b c"] != 2 || c.Env["PATH"] != "/bin" {
		t.Errorf("decoded %+v", c)
	}
	if len(c.Items) != 2 || c.Items[0].Trait != abi.TraitTrue || c.Items[0].Sub.Name != "below" ||
		c.Items[1].Trait != abi.TraitDerived || !slices.Equal(c.Items[1].Tags, []string{"x", "y"}) {
		t.Errorf("items %+v", c.Items)
	}
	for path, line := range map[string]int{
		"name": 2, "grid": 11, "grid[1]": 12, "grid[1][0]": 12, `limits."b c"`: 13, "env.PATH": 14,
		"items[0]": 15, "items[0].sub": 18, "items[0].sub.name": 19, "items[1].tags[1]": 23,
		"items[1].missing.more": 20, "items[9]": 15, "nothing": 1, "[": 1, `"`: 1, "items[x]": 15,
	} {
		if got := doc.Line(path); got != line {
			t.Errorf("Line(%s) = %d, want %d", path, got, line)
		}
	}
	for path, want := range map[string]bool{"env.PATH": true, "env.HOME": false, "items[1]": true, "items[2]": false} {
		if doc.Has(path) != want {
			t.Errorf("Has(%s) = %t", path, !want)
		}
	}
	if got := doc.Fault("items[1].tags", "too %s", "many").String(); got != "line 22: items[1].tags: too many" {
		t.Error(got)
	}
}

func TestDecodeFaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ src, want string }{
		"all at once": {
			"nam = 1\non = 'yes'\n\n[[items]]\ntags = [1, 'a', true]\n",
			"line 1: nam: unknown key; did you mean \"name\"?\n" +
				"line 2: on: found the string \"yes\", expected a boolean\n" +
				"line 5: items[0].tags[0]: found the integer 1, expected a string\n" +
				"line 5: items[0].tags[2]: found the boolean true, expected a string",
		},
		"untagged field":   {"Hidden = 'x'", `line 1: Hidden: unknown key`},
		"far name":         {"zzzzzz = 1", "line 1: zzzzzz: unknown key"},
		"quoted key":       {`"a b" = 1`, `line 1: "a b": unknown key`},
		"overflow":         {"small = 200", "line 1: small: 200 does not fit int8"},
		"negative":         {"natural = -1", "line 1: natural: -1 does not fit uint"},
		"array for table":  {"limits = []", "line 1: limits: found an array, expected a table"},
		"table for array":  {"[items]", "line 1: items: found a table, expected an array, each element a table"},
		"text unmarshaler": {"size = 'big'", `line 1: size: "big" is not a size; write it as 512KiB, 64MiB or 1GiB`},
		"integer duration": {"time = 5", `line 1: time: "5" is not a duration; write it as 500ms, 30s or 2m`},
		"float for trait":  {"items = [{trait = 1.5}]", "line 1: items[0].trait: found the number 1.5, expected a boolean or a string"},
		"date":             {"name = 2026-01-01", "line 1: name: found a date or time, expected a string"},
		"syntax":           {"name = 'a'\non =\n", `line 2: on: expected value but found '\n' instead`},
		"duplicate":        {"name = 'a'\nname = 'b'\n", "line 2: name: Key 'name' has already been defined."},
		"mark":             {"\xef\xbb\xbfname = 'a'", "line 1: the document starts with a byte order mark; save it as UTF-8 without one"},
		"NUL":              {"on = true\nname = '\x00'", "line 2: a NUL byte; the document must be UTF-8 text"},
		"not UTF-8":        {"on = true\nname = '\xff'", "line 2: not valid UTF-8"},
		"depth":            {"any = " + strings.Repeat("[", 100_000), "line 1: arrays and tables nest deeper than 64"},
		"long dotted key":  {strings.Repeat("a.", 100_000) + "a = 1", "line 1: keys are too long, or too many under long names"},
		"long header": {
			"[" + strings.Repeat("a", 400_000) + "]\n" + strings.Repeat("b = 1\n", 100_000),
			"line 42: keys are too long, or too many under long names",
		},
		"long inline table": {
			"any = {" + strings.Repeat("a", 400_000) + " = [" + strings.Repeat("{b = 1},\n", 50_000) + "]}",
			"line 41: keys are too long, or too many under long names",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c config
			var doc *stricttoml.Document
			var faults []stricttoml.Fault
			work := testenv.Work(func() { doc, faults = stricttoml.Decode([]byte(tt.src), &c) })
			lines := make([]string, len(faults))
			for i, f := range faults {
				lines[i] = f.String()
			}
			if got := strings.Join(lines, "\n"); doc == nil || got != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
			if work > 5*time.Second {
				t.Errorf("took %v", work)
			}
		})
	}
}

func TestDecodeBounds(t *testing.T) {
	t.Parallel()
	var c config
	if _, faults := stricttoml.Decode(make([]byte, stricttoml.MaxSize+1), &c); len(faults) != 1 ||
		!strings.Contains(faults[0].Message, "at most 1048576") {
		t.Errorf("long document: %v", faults)
	}
	_, faults := stricttoml.Decode([]byte(strings.Repeat("[[items]]\nx = 1\n", 500)), &c)
	if len(faults) != 101 || faults[100].Message != "and 400 more faults" {
		t.Errorf("%d faults, last %v", len(faults), faults[len(faults)-1])
	}
	for _, into := range []any{nil, 1, c, (*config)(nil), new(int)} {
		if doc, faults := stricttoml.Decode(nil, into); len(faults) != 1 || doc.Line("a") != 1 || doc.Has("a") {
			t.Errorf("into %T: %v", into, faults)
		}
	}
}
