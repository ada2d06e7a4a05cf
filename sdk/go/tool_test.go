package toolquay_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/toolquaytest"
)

type pathInput struct {
	Path string `json:"path"`
}

func init() {
	toolquay.Handle("Show", func(c *toolquay.Call, in pathInput) (toolquay.Output, error) {
		file, err := c.FS().Read(in.Path)
		if err != nil {
			return toolquay.Output{}, err
		}
		defer file.Close()
		return toolquay.Output{}.TextFrom(toolquay.Literal("<"+file.OK.Path+">\n"), file, toolquay.Literal("</>")), nil
	})
	toolquay.Handle("SkipFirst", func(c *toolquay.Call, in pathInput) (toolquay.Output, error) {
		file, err := c.FS().Read(in.Path)
		if err != nil {
			return toolquay.Output{}, err
		}
		if _, err := io.ReadFull(file, make([]byte, 4)); err != nil {
			return toolquay.Output{}, err
		}
		return toolquay.Output{}.TextFrom(file), nil
	})
	toolquay.Handle("Lines", func(c *toolquay.Call, in pathInput) (toolquay.Output, error) {
		file, err := c.FS().Read(in.Path)
		if err != nil {
			return toolquay.Output{}, err
		}
		defer file.Close()
		n := 0
		for scanner := bufio.NewScanner(file); scanner.Scan(); n++ {
		}
		return toolquay.Text(fmt.Sprintf("%d lines", n)).Structured(map[string]int{"lines": n}), nil
	})
	toolquay.Handle("Side", sideBySide)
	toolquay.Handle("Everything", everything)
	toolquay.Handle("Panic", func(*toolquay.Call, struct{}) (toolquay.Output, error) {
		none := make([]int, 0, 1)
		at := strings.Index("abc", "d") + 1
		return toolquay.Text(strconv.Itoa(none[at])), nil
	})
	toolquay.Handle("Plain", func(*toolquay.Call, struct{}) (toolquay.Output, error) {
		return toolquay.Text("partial"), errors.New("no luck")
	})
	toolquay.Handle("Twice", func(c *toolquay.Call, in pathInput) (toolquay.Output, error) {
		file, err := c.FS().Read(in.Path)
		if err != nil {
			return toolquay.Output{}, err
		}
		return toolquay.Output{}.TextFrom(file, file), nil
	})
	toolquay.Register(toolquay.Tool{
		Name: "Assessed",
		Run:  func(*toolquay.Call) (toolquay.Output, error) { return toolquay.Output{}, nil },
		Assess: func(q *toolquay.Question) (toolquay.Assessment, error) {
			var in pathInput
			if err := q.Decode(&in); err != nil {
				return toolquay.Assessment{}, err
			}
			if len(q.Facts()) > 0 && !q.Facts()[0].Exists {
				return toolquay.Assessment{Invalid: &toolquay.Invalid{Message: in.Path + " is missing", Code: 5}}, nil
			}
			return toolquay.Assessment{
				ReadOnly: toolquay.Yes(), Destructive: toolquay.No(), Touches: []toolquay.Touch{{Path: in.Path, Write: true}},
			}, nil
		},
	})
}

func sideBySide(c *toolquay.Call, in pathInput) (toolquay.Output, error) {
	fs := c.FS()
	stat, names := fs.StartStat(in.Path), c.Search().StartNames(toolquay.NamesArgs{Pattern: "**/*.txt"})
	abandoned := fs.StartRead(toolquay.ReadArgs{Path: in.Path})
	abandoned.Cancel()
	first := c.WaitAny(stat, names)
	found, err := names.Wait()
	if err != nil {
		return toolquay.Output{}, err
	}
	described, err := stat.Wait()
	if err != nil {
		return toolquay.Output{}, err
	}
	list, err := found.Text()
	if err != nil {
		return toolquay.Output{}, err
	}
	return toolquay.Text(fmt.Sprintf("%d %s %d %s", first, described.OK.Kind, found.OK.Count, list)), nil
}

func everything(c *toolquay.Call, in pathInput) (toolquay.Output, error) {
	c.Progress("half", 1, 2)
	c.Report(toolquay.Progress{Output: "lost" + strings.Repeat("ä", 1<<15-1) + "\x1b!"})
	c.Log(toolquay.LevelWarn, strings.Repeat("ä\x00", 40_000))
	delimiter, _ := c.Config("delimiter")
	rows, _ := c.Config("rows")
	_, other := c.Config("other")
	return toolquay.Text(fmt.Sprint(c.Tool(), c.Cwd(), delimiter, rows, other, c.ID(), c.UserModified())).
		Image("image/png", []byte{1, 2}).
		Document("a.pdf", "application/pdf", []byte("%PDF")).
		ToolReference("Other").
		Text("broken \xff byte").
		Meta([]byte(`{"k":1}`)).
		Message("user", "hello").
		ChangeCwd("/else\"where").
		AsError(), nil
}

func files() *toolquaytest.Host {
	return toolquaytest.Files(map[string]string{"a.txt": "one\ntwo\n", "empty": "", "sub/b.txt": "b"}).WithoutManifest()
}

func TestAnswerPassesThroughUnread(t *testing.T) {
	r := files().Call(t, "Show", pathInput{"a.txt"})
	if got, want := r.Text(), "</work/a.txt>\none\ntwo\n</>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRestOfAnswerPassesThrough(t *testing.T) {
	if got := files().Call(t, "SkipFirst", pathInput{"a.txt"}).Text(); got != "two\n" {
		t.Errorf("got %q, want what was not read", got)
	}
}

func TestEmptyAnswer(t *testing.T) {
	if got := files().Call(t, "Show", pathInput{"empty"}).Text(); got != "</work/empty>\n</>" {
		t.Errorf("got %q", got)
	}
}

func TestAnswerIsAReader(t *testing.T) {
	r := files().Call(t, "Lines", pathInput{"a.txt"})
	if r.Text() != "2 lines" || string(r.Structured) != `{"lines":2}` {
		t.Errorf("got %q and %s", r.Text(), r.Structured)
	}
}

func TestSideBySide(t *testing.T) {
	got := files().Call(t, "Side", pathInput{"sub"}).Text()
	want := `0 directory 2 [{"path":"a.txt","mod_time_ms":1700000000000},{"path":"sub/b.txt","mod_time_ms":1700000000000}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEverythingInAResult(t *testing.T) {
	r := files().Config("delimiter", ";").Config("rows", 100).UserModified().Call(t, "Everything", pathInput{})
	if want := "Everything/work;100false" + t.Name() + "true"; strings.ReplaceAll(r.Blocks[0].Text, " ", "") != want {
		t.Errorf("text is %q, want %q", r.Blocks[0].Text, want)
	}
	if len(r.Blocks) != 5 || string(r.Blocks[1].Data) != "\x01\x02" || r.Blocks[2].Title != "a.pdf" ||
		r.Blocks[3].ToolName != "Other" || r.Blocks[4].Text != "broken \uFFFD byte" {
		t.Errorf("blocks are %+v", r.Blocks)
	}
	if !r.IsError || r.Err != nil || r.Cwd != `/else"where` || string(r.Meta) != `{"k":1}` || len(r.Messages) != 1 {
		t.Errorf("result is %+v", r)
	}
	if len(r.Progress) != 2 || r.Progress[0].Total != 2 || len(r.Logs) != 1 || len(r.Logs[0].Message) > 9000 {
		t.Errorf("reports are %+v and %d log lines", r.Progress, len(r.Logs))
	}
	if want := strings.Repeat("ä", 1<<15-1) + "\x1b!"; r.Progress[1].Output != want {
		t.Errorf("the output has %d bytes, want %d", len(r.Progress[1].Output), len(want))
	}
}

func TestFailures(t *testing.T) {
	broken := files().On(toolquay.CapFSRead, func([]byte) (any, []byte, error) {
		return nil, nil, &toolquay.Error{Code: toolquay.CodeDenied, Message: "a rule says no"}
	})
	for name, tt := range map[string]struct {
		host  *toolquaytest.Host
		tool  string
		input any
		code  toolquay.Code
		text  string
	}{
		"missing file":    {files(), "Show", pathInput{"nope"}, toolquay.CodeNotFound, "nope does not exist"},
		"directory":       {files(), "Show", pathInput{"sub"}, toolquay.CodeIsDirectory, "sub is a directory"},
		"outside":         {files(), "Show", pathInput{"../etc"}, toolquay.CodeNotFound, "does not exist"},
		"denied":          {broken, "Show", pathInput{"a.txt"}, toolquay.CodeDenied, "a rule says no"},
		"wrong input":     {files(), "Show", map[string]int{"path": 1}, toolquay.CodeInvalidInput, "path: a number where string is needed"},
		"unknown tool":    {files(), "Nope", pathInput{}, toolquay.CodeUnknownTool, `no tool "Nope"`},
		"panic":           {files(), "Panic", pathInput{}, toolquay.CodeTrap, "index out of range"},
		"plain error":     {files(), "Plain", pathInput{}, "", "partial\nno luck"},
		"answer is given": {files(), "Twice", pathInput{"a.txt"}, toolquay.CodeTrap, "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tt.host.Call(t, tt.tool, tt.input)
			var code toolquay.Code
			if r.Err != nil {
				code = r.Err.Code
			}
			if !r.IsError || code != tt.code || !strings.Contains(r.Text(), tt.text) {
				t.Errorf("got code %q and %q, want %q and %q", code, r.Text(), tt.code, tt.text)
			}
		})
	}
}

// TestPanicsHavePlaces: the error names the place of a panic, and the log has the stack
// up to the tool.
func TestPanicsHavePlaces(t *testing.T) {
	r := files().Call(t, "Panic", pathInput{})
	if want := "the tool panicked: runtime error: index out of range [0] with length 0 (tool_test.go:"; !strings.HasPrefix(r.Text(), want) {
		t.Errorf("got %q, want %q", r.Text(), want)
	}
	if len(r.Logs) != 1 || r.Logs[0].Level != toolquay.LevelError {
		t.Fatalf("logged %q", r.Logs)
	}
	stack := r.Logs[0].Message
	if !strings.HasPrefix(stack, "panic: runtime error: ") || !strings.Contains(stack, "tool_test.go:") || strings.Contains(stack, "guarded") || strings.Contains(stack, "runtime.") {
		t.Errorf("logged %s", stack)
	}
}

func TestAssess(t *testing.T) {
	h := files()
	if a := h.Assess(t, "Assessed", pathInput{"a"}); a.ReadOnly == nil || !*a.ReadOnly || *a.Destructive || a.ConcurrencySafe != nil ||
		!slices.Equal(a.Touches, []toolquay.Touch{{Path: "a", Write: true}}) {
		t.Errorf("got %+v", a)
	}
	if a := h.Assess(t, "Assessed", pathInput{"a"}, toolquay.Fact{Path: "a"}); a.Invalid == nil || a.Invalid.Code != 5 {
		t.Errorf("got %+v", a)
	}
	if a := h.Assess(t, "Assessed", []int{1}); a.Invalid == nil {
		t.Errorf("input of the wrong type: got %+v", a)
	}
	if a := h.Assess(t, "Show", pathInput{}); !reflect.DeepEqual(a, toolquay.Assessment{}) {
		t.Errorf("a tool without Assess: got %+v", a)
	}
}

func TestErrors(t *testing.T) {
	err := fmt.Errorf("while reading: %w", toolquay.Errorf(toolquay.CodeNotFound, "no %s", "x"))
	if !errors.Is(err, &toolquay.Error{Code: toolquay.CodeNotFound}) || errors.Is(err, &toolquay.Error{Code: toolquay.CodeIO}) {
		t.Error("errors.Is does not tell codes apart")
	}
	if toolquay.CodeOf(err) != toolquay.CodeNotFound || toolquay.CodeOf(io.EOF) != "" {
		t.Error("CodeOf is wrong")
	}
	if got := (&toolquay.Error{Code: toolquay.CodeIO}).Error(); got != "io" {
		t.Errorf("an error without a message prints %q", got)
	}
}

// choosy takes no empty object.
type choosy struct{}

func (c *choosy) UnmarshalJSON(b []byte) error {
	decodings++
	if string(b) == "{}" {
		panic("an empty object")
	}
	return nil
}

var decodings int

func init() {
	toolquay.Handle("Choosy", func(*toolquay.Call, choosy) (toolquay.Output, error) {
		return toolquay.Text("done"), nil
	})
}

// TestHandleDecodesAhead holds that an input's type is known before the first call,
// and that one that does not take what it is tried with can be registered.
func TestHandleDecodesAhead(t *testing.T) {
	if decodings != 1 {
		t.Errorf("decoded %d times ahead of any call", decodings)
	}
}

func TestRegisterRefusesBrokenTools(t *testing.T) {
	run := func(*toolquay.Call) (toolquay.Output, error) { return toolquay.Output{}, nil }
	for name, tool := range map[string]toolquay.Tool{
		"no name": {Run: run}, "no run": {Name: "NoRun"}, "taken": {Name: "Show", Run: run},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it was accepted")
				}
			}()
			toolquay.Register(tool)
		})
	}
}
