package display_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/display"
	"github.com/toolquay/toolquay/internal/visible"
)

// call is a call of a tool that has these lines.
func call(lines abi.Lines, input string) *display.Call {
	tool := &abi.Tool{Name: "Paint", Lines: lines, Fields: []abi.Field{{Name: "path", Kind: abi.FieldPath, Effect: abi.EffectRead}}}
	return &display.Call{Tool: tool, Title: "a title", Cwd: "/w", Fields: func() (map[string]json.RawMessage, error) {
		var fields map[string]json.RawMessage
		err := json.Unmarshal([]byte(input), &fields)
		return fields, err
	}}
}

func TestUse(t *testing.T) {
	t.Parallel()
	million := strings.Repeat("x", 1<<20)
	for _, tt := range []struct{ template, input, want string }{
		{"{a}", `{"a":"b"}`, "b"},
		{"{a} {b}", `{"a":"x"}`, "x"},
		{"{pattern}[ in {path}][ ({glob})]", `{"pattern":"TODO","path":"/w/src","glob":"*.go"}`, "TODO in src (*.go)"},
		{"{pattern}[ in {path}][ ({glob})]", `{"pattern":"TODO","glob":""}`, "TODO"},
		{"{pattern}[ in {path}]", `{"pattern":"TODO","path":null}`, "TODO"},
		{"[{a} and {b}]or", `{"a":"x"}`, "or"},
		{"{path}", `{"path":"/w"}`, "."},
		{"{path}", `{"path":"/work"}`, "/work"},
		{"{input.path}", `{"path":"/w/a b"}`, "a b"},
		{"{n|file}", `{"n":1}`, "1 file"},
		{"{n|file}", `{"n":0}`, "0 files"},
		{"{n|entry|entries}", `{"n":[1,2]}`, "2 entries"},
		{"{n|line}", `{"n":"a\nb\n"}`, "2 lines"},
		{"{n|line}", `{"n":"a\nb"}`, "2 lines"},
		{"x[ {n|file}]", `{"n":{"a":1}}`, "x"},
		{"x[ ({all?in every file})]", `{"all":true}`, "x (in every file)"},
		{"x[ ({all?in every file})]", `{"all":false}`, "x"},
		{"x[ ({all?yes})]", `{"all":0}`, "x"},
		{"x[ ({all?yes})]", `{"all":"0"}`, "x (yes)"},
		{"{q.0.text}", `{"q":[{"text":"Which?"},{"text":"Why?"}]}`, "Which?"},
		{"x[{q.5.text}][{q.x}][{q.-1}][{a.b}]", `{"q":[1],"a":"text"}`, "x"},
		{"{list}", `{"list":["a","b"]}`, "a, b"},
		{"{list}", `{"list":["a","b",3,4,5]}`, "a, b, 3 and 2 more"},
		{"{list}", `{"list":[[1],[],{"a":1}]}`, `[1], {"a":1}`},
		{"{a}", `{"a":1e3}`, "1e3"},
		{"{a}", `{"a":true}`, "true"},
		{"{{a}} [[b]]", `{}`, "{a} [b]"},
		{"{input}", `{"input":"a field of that name"}`, "a field of that name"},
		{"{input.input}", `{"input":{"input":"nested"}}`, "nested"},
		{"", `{}`, "a title"},
		{"{a}", `{}`, "a title"},
		{"[{a}]", `[]`, "a title"},

		{"{a}", `{"a":"one\ntwo\r\n\tthree  "}`, "one two three"},
		{"{a}", `{"a":"\u001b[2Jx\u0007"}`, `\x1b[2Jx\x07`},
		{"{a}", `{"a":"x\u202egpj.exe"}`, `x\u202egpj.exe`},
		{"{a}", `{"a":"x\u200b\ufeffy\u2028z"}`, `x\u200b\ufeffy z`},
		{"{a}", `{"a":"\u0000\u0085"}`, `\x00`},
		{"{a}", `{"a":"` + million + `"}`, strings.Repeat("x", 119) + "…"},
		{"{a}", `{"a":"` + strings.Repeat(" ", 1<<20) + `x"}`, "…"},
		{"{a}", `{"a":["` + million[:1<<18] + `","` + million[:1<<18] + `","y"]}`, strings.Repeat("x", 39) + "…, " + strings.Repeat("x", 39) + "…, y"},
		{"{a}", `{"a":{"b":"` + million[:1<<19] + `"}}`, `{"b":"` + strings.Repeat("x", 113) + "…"},
		{"{a}{a}{a}", `{"a":"` + strings.Repeat("ü", 5000) + `"}`, strings.Repeat("ü", 119) + "…" + strings.Repeat("ü", 119) + "…"},
		{"{a|line}", `{"a":"` + strings.Repeat(`\n`, 100_000) + `"}`, "100000 lines"},
		{"{a|line}", `{"a":[` + strings.Repeat("1,", 99_999) + `1]}`, "100000 lines"},
		{"{a}", `{"a":` + strings.Repeat("9", 1<<20) + `}`, strings.Repeat("9", 119) + "…"},
	} {
		got := call(abi.Lines{Use: tt.template}, tt.input).Use()
		if got != tt.want {
			t.Errorf("%s of %.60s\n got: %s\nwant: %s", tt.template, tt.input, got, tt.want)
		}
	}
}

func TestQueuedAndWords(t *testing.T) {
	t.Parallel()
	c := call(abi.Lines{Queued: "waits for {a}", Use: "uses {a}"}, `{"a":"b"}`)
	if got := c.Queued() + "; " + c.Use(); got != "waits for b; uses b" {
		t.Error(got)
	}
	c = call(abi.Lines{Use: "uses {a}"}, `{"a":"b"}`)
	if got := c.Queued(); got != "uses b" {
		t.Errorf("without a line for it a queued call is %q", got)
	}
	for _, tt := range []struct {
		said abi.Assessment
		want string
	}{
		{abi.Assessment{Rendering: "{a}\x1b"}, `{a}\x1b`},
		{abi.Assessment{Rendering: "no", Lines: &abi.Lines{Use: "for {a}"}}, "for b"},
		{abi.Assessment{Lines: &abi.Lines{Result: "x"}}, "uses b"},
		{abi.Assessment{Lines: &abi.Lines{Use: "{a"}}, "uses b"},
		{abi.Assessment{Lines: &abi.Lines{Use: strings.Repeat("x", abi.MaxTemplate+1)}}, "uses b"},
		{abi.Assessment{Rendering: strings.Repeat("y", 1<<16)}, strings.Repeat("y", 239) + "…"},
	} {
		c.Said = tt.said
		if got := c.Use(); got != tt.want {
			t.Errorf("%.80v: got %q, want %q", tt.said, got, tt.want)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	p := &abi.Progress{Message: "half\nof it", Done: 2, Total: 4}
	output := display.Output{Tail: "first\nthen\rnow\n", Lines: 3, Bytes: 17}
	for template, want := range map[string]string{
		"":                                   "half of it",
		"{message}: {done} of {total}":       "half of it: 2 of 4",
		"{input.message}":                    "mine",
		"{lines|line}, {bytes|byte}[ {nil}]": "3 lines, 17 bytes",
		"{tail}":                             "now",
		"{nil}":                              "half of it",
	} {
		if got := call(abi.Lines{Progress: template}, `{"message":"mine"}`).Progress(p, output); got != want {
			t.Errorf("%s: got %q, want %q", template, got, want)
		}
	}
	if got := call(abi.Lines{}, `{}`).Progress(new(abi.Progress), output); got != "now" {
		t.Errorf("a report without words is %q", got)
	}
	if got := call(abi.Lines{Progress: "{message}[ of {total}]"}, `{}`).Progress(new(abi.Progress), display.Output{}); got != "" {
		t.Errorf("a report that says nothing is %q", got)
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	lines := abi.Lines{
		Result: "{result.files|file}[, {result.sum.added} added][: {text}]", Rejection: "not painted: {error} ({code})", Error: "cannot paint[ after {result.files}]: {error}",
	}
	text := func(text string) []abi.Block { return []abi.Block{abi.TextBlock("\n" + text + "\nmore")} }
	failure := func(code abi.Code, message string) abi.ToolResult {
		return abi.ErrorResult("1", abi.Errorf(code, "%s", message))
	}
	long := `{"files":1,"x":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, tt := range []struct {
		name   string
		lines  abi.Lines
		result abi.ToolResult
		want   string
	}{
		{"result", lines, abi.ToolResult{Structured: json.RawMessage(`{"files":2,"sum":{"added":3}}`)}, "2 files, 3 added"},
		{"text", lines, abi.ToolResult{Structured: json.RawMessage(`{"files":1}`), Content: text("first")}, "1 file: first"},
		{"spilled", lines, abi.ToolResult{Content: []abi.Block{{Type: abi.BlockText, Spilled: &abi.Spilled{Head: "\nhead\nand"}}}}, ": head"},
		{"nothing structured", lines, abi.ToolResult{}, ""},
		{"structured, but no object", lines, abi.ToolResult{Structured: json.RawMessage(`[1]`)}, ""},
		{"too much structured", lines, abi.ToolResult{Structured: json.RawMessage(long)}, ""},
		{"no template", abi.Lines{}, abi.ToolResult{Content: text("first")}, ""},
		{"rejected", lines, failure(abi.CodeDenied, "a rule\nsays so"), "not painted: a rule says so (denied)"},
		{"interrupted", lines, failure(abi.CodeInterrupted, "stop"), "not painted: stop (interrupted)"},
		{"failed", lines, failure(abi.CodeNotFound, "no such file"), "cannot paint: no such file"},
		{"failed by itself", lines, abi.ToolResult{IsError: true, Content: text("exit 1"), Structured: json.RawMessage(`{"files":7}`)}, "cannot paint after 7: exit 1 more"},
		{"failed, no template", abi.Lines{}, abi.ToolResult{IsError: true, Content: []abi.Block{abi.TextBlock("<tool_use_error>bad\x1b</tool_use_error>")}}, `bad\x1b`},
	} {
		if got := call(tt.lines, `{}`).Ended(&tt.result); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestClassifier(t *testing.T) {
	t.Parallel()
	c := call(abi.Lines{}, `{"a":"one\n\u001btwo","path":"/w/x","list":["a",1],"no":false}`)
	for template, want := range map[string]string{
		"":                            "",
		"{path}:\n{a}[ {list}][ {b}]": "/w/x:\none\n\x1btwo [\"a\",1]",
		"{no}[ and {no?more}]":        "false",
		"{broken":                     "",
	} {
		c.Tool.ClassifierText = template
		if got := c.Classifier(); got != want {
			t.Errorf("%s: got %q, want %q", template, got, want)
		}
	}
	c.Said.ClassifierText = "{said}"
	if got := c.Classifier(); got != "{said}" {
		t.Errorf("the guest's words: got %q", got)
	}
}

func TestNoCall(t *testing.T) {
	t.Parallel()
	var c *display.Call
	if got := c.Queued() + c.Use() + c.Progress(new(abi.Progress), display.Output{}) + c.Ended(new(abi.ToolResult)) + c.Classifier(); got != "" {
		t.Errorf("a call of which nothing is known says %q", got)
	}
}

// TestWork: a template that names a large value again and again costs little more than one that
// names it once, and leaves nothing out of what a judge is shown.
func TestWork(t *testing.T) {
	t.Parallel()
	list := "[" + strings.Repeat("1,", 1<<17) + "1]"
	decoded := func() (map[string]json.RawMessage, error) { // once, as the pipeline has it
		return map[string]json.RawMessage{"a": json.RawMessage(list), "b": json.RawMessage(`"rm -rf /"`)}, nil
	}
	for template, want := range map[string]string{"{a|x}": "131073 xs", "{a.1}": "1", "{a?yes}": "yes", "[{a|x}]": "131073 xs"} {
		c := call(abi.Lines{Use: strings.Repeat(template, 100)}, "")
		c.Fields = decoded
		if got := c.Use(); got != strings.Repeat(want, 3) {
			t.Errorf("%s: got %q, want three times %q", template, got, want)
		}
	}
	c := call(abi.Lines{}, "")
	c.Fields = decoded
	c.Tool.ClassifierText = strings.Repeat("{a|x}", 100) + "{b}"
	if got := c.Classifier(); !strings.Contains(got, list[:1<<16]) || len(got) > 1<<18 {
		t.Errorf("a judge is shown %d bytes: %.80s", len(got), got)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("{a}[ {b|file}]{c?x}", `{"a":"\u001b\u202e","b":[1],"c":true}`, `{"x":1}`)
	f.Add("{result.x.0.y} {text} {error}", `{"a":{"b":[{}]}}`, `{"x":[{"y":"z"}]}`)
	f.Add("\x1b{a.0.b}", `[]`, `null`)
	f.Fuzz(func(t *testing.T, template, input, structured string) {
		if !json.Valid([]byte(structured)) {
			structured = "null"
		}
		c := call(abi.Lines{Use: template, Result: template, Error: template}, input)
		c.Title = structured
		ended := abi.ToolResult{Content: []abi.Block{abi.TextBlock(input)}, Structured: json.RawMessage(structured)}
		failed := ended
		failed.IsError = true
		c.Said.Rendering = ""
		for _, line := range []string{c.Use(), c.Queued(), c.Ended(&ended), c.Ended(&failed), c.Progress(&abi.Progress{Message: input}, display.Output{Tail: structured})} {
			if !utf8.ValidString(line) || utf8.RuneCountInString(line) > 240 {
				t.Errorf("%q of %q: %q", template, input, line)
			}
			for _, r := range line {
				if !visible.Rune(r) {
					t.Errorf("%q of %q shows %q", template, input, r)
				}
			}
		}
		c.Classifier()
	})
}
