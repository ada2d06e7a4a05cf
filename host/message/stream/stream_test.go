package stream

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/testenv"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// formatOf is the format of a file of testdata.
func formatOf(file string) Format {
	switch name := filepath.Base(file); {
	case strings.HasSuffix(name, ".jsonl"):
		return JSONL
	case strings.HasPrefix(name, "anthropic"):
		return AnthropicSSE
	}
	return OpenAISSE
}

// decode reads a whole stream.
func decode(tb testing.TB, r io.Reader, f Format) []Item {
	tb.Helper()
	items, err := Decode(r, f)
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Collect(items)
}

// show writes items one a line.
func show(items []Item) string {
	var b strings.Builder
	for _, i := range items {
		fmt.Fprintf(&b, "%d: ", i.Line)
		switch i.Kind {
		case KindCall:
			fmt.Fprintf(&b, "call %q %q %s", i.Call.ID, i.Call.Name, i.Call.Input)
		case KindAnswer:
			a := i.Answer
			fmt.Fprintf(&b, "answer %q %s %q %t %s %s%s", a.Question, a.Answer, a.Message, a.EndTurn, a.Remember, a.Input, a.Content)
		case KindInterrupt:
			b.WriteString("interrupt")
		case KindMode:
			fmt.Fprintf(&b, "mode %q", i.Mode)
		case KindBackground:
			fmt.Fprintf(&b, "background %q", i.ID)
		case KindStop:
			fmt.Fprintf(&b, "stop %q", i.ID)
		case KindDiscard:
			fmt.Fprintf(&b, "discard %v", i.Err)
		case KindEnd:
			fmt.Fprintf(&b, "end %s", i.Stop)
		case KindFault:
			fmt.Fprintf(&b, "fault %s %q %q %v", abi.CodeOf(i.Err), i.Call.ID, i.Call.Name, i.Err)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func samples(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.sse")
	if err != nil || len(files) < 10 {
		tb.Fatal(files, err)
	}
	return append(files, "testdata/lines.jsonl", "testdata/broken.jsonl")
}

// TestSamples holds every sample to its golden file, and to both laws at every
// byte.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, file := range samples(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := show(decode(t, bytes.NewReader(src), formatOf(file)))
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			step := 1
			if !testenv.Thorough() {
				step = 11
			}
			for n := 0; n < len(src); n += step {
				checkLaws(t, src, formatOf(file), n, uint64(n))
			}
		})
	}
}

// checkLaws checks that the way the bytes are cut into reads changes nothing, and
// that a stream that ends early brings no call that the whole one does not.
func checkLaws(tb testing.TB, src []byte, f Format, end int, seed uint64) {
	tb.Helper()
	whole := decode(tb, bytes.NewReader(src), f)
	cut := &cutReader{src, rand.New(rand.NewPCG(seed, 0))}
	if got, want := show(decode(tb, cut, f)), show(whole); got != want {
		tb.Fatalf("cut into reads otherwise (seed %d):\n%s\nin one:\n%s", seed, got, want)
	}
	if f == JSONL { // where a line can end without its end, it can go on, too
		end = bytes.LastIndexByte(src[:end], '\n') + 1
	}
	if slices.ContainsFunc(whole, func(i Item) bool { return i.Kind == KindDiscard && f != JSONL }) {
		return // what was complete did come out before
	}
	rest := calls(whole)
	for _, call := range calls(decode(tb, bytes.NewReader(src[:end]), f)) {
		i := slices.Index(rest, call)
		if i < 0 {
			tb.Fatalf("the first %d bytes bring %s; all of them bring\n%s", end, call, show(whole))
		}
		rest = rest[i+1:]
	}
}

func calls(items []Item) []string {
	var out []string
	for _, i := range items {
		if i.Kind == KindCall {
			out = append(out, fmt.Sprintf("%q %q %q", i.Call.ID, i.Call.Name, i.Call.Input))
		}
	}
	return out
}

// cutReader reads a few bytes at a time.
type cutReader struct {
	rest []byte
	rand *rand.Rand
}

func (c *cutReader) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.rand.IntN(20))], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// FuzzDecode holds any bytes to the laws, in every format.
func FuzzDecode(f *testing.F) {
	for _, file := range samples(f) {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, uint8(slices.Index(Formats(), formatOf(file))), uint16(len(src)/2), uint64(1))
	}
	f.Fuzz(func(t *testing.T, src []byte, format uint8, end uint16, seed uint64) {
		f := Formats()[int(format)%len(Formats())]
		checkLaws(t, src, f, min(int(end), len(src)), seed)
	})
}

// TestPromptly: an item comes out with the last byte that it takes, and not when
// more has come.
func TestPromptly(t *testing.T) {
	t.Parallel()
	block := `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"Read","input":{"a":1}}}`
	for f, src := range map[Format]string{
		JSONL:        `{"type": "tool_use", "id": "t1", "name": "Read"}` + "\n",
		AnthropicSSE: "data: " + block + "\r\rdata: " + `{"type":"content_block_stop","index":0}` + "\r\r",
		OpenAISSE: "data: " + `{"type":"response.output_item.done","item":{"type":"function_call","call_id":"t1","name":"Read","arguments":"{}"}}` +
			"\n\n",
	} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			items, err := Decode(io.MultiReader(strings.NewReader(src), iotest.ErrReader(errors.New("read on"))), f)
			if err != nil {
				t.Fatal(err)
			}
			for item := range items {
				if item.Kind != KindCall || item.Call.ID != "t1" {
					t.Errorf("got %s", show([]Item{item}))
				}
				break
			}
		})
	}
}

// TestReadError: a stream whose reading fails ends with that, and its open call is
// not run.
func TestReadError(t *testing.T) {
	t.Parallel()
	failure := errors.New("connection reset")
	for _, f := range Formats() {
		src := "data: " + `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"Read"}}` + "\n\n"
		items := decode(t, io.MultiReader(strings.NewReader(src), iotest.ErrReader(failure)), f)
		i := slices.IndexFunc(items, func(i Item) bool { return errors.Is(i.Err, failure) })
		if i < 0 || abi.CodeOf(items[i].Err) != abi.CodeIO || len(calls(items)) > 0 {
			t.Errorf("%s: got\n%s", f, show(items))
		}
	}
}

// TestLong: what is over the limit is passed over, and what follows counts.
func TestLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine/2)
	delta := `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` + long + `"}}` + "\n\n"
	begin := `data: {"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"t%d","name":"Read"}}` + "\n\n"
	after := fmt.Sprintf(begin, 1, 1) + `data: {"type":"content_block_stop","index":1}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
	tests := map[string]struct {
		format Format
		parts  []string
	}{
		"a line":             {JSONL, []string{long, long, "x\n", `{"type": "tool_use", "id": "t1", "name": "Read"}`}},
		"a line of an event": {AnthropicSSE, []string{"data: ", long, long, "\n\n", after}},
		"an event of lines":  {AnthropicSSE, []string{"data: ", long, "\ndata: ", long, "\n\n", after}},
		"an input":           {AnthropicSSE, []string{fmt.Sprintf(begin, 0, 0), delta, delta, delta, after}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var parts []io.Reader
			for _, p := range test.parts {
				parts = append(parts, strings.NewReader(p))
			}
			items := decode(t, io.MultiReader(parts...), test.format)
			if len(items) < 2 || items[0].Kind != KindFault || abi.CodeOf(items[0].Err) != abi.CodeTooLarge {
				t.Fatalf("got\n%.500s", show(items))
			}
			if items[1].Kind != KindCall || items[1].Call.ID != "t1" {
				t.Errorf("got\n%.500s", show(items))
			}
		})
	}
}

// TestManyOpen: the calls under way are bounded.
func TestManyOpen(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	for i := range maxOpen + 1 {
		fmt.Fprintf(&src, `data: {"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"t","name":"Read"}}`+"\n\n", i)
	}
	items := decode(t, strings.NewReader(src.String()), AnthropicSSE)
	if abi.CodeOf(items[0].Err) != abi.CodeTooLarge || abi.CodeOf(items[1].Err) != abi.CodeIO {
		t.Errorf("got\n%.500s", show(items))
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	if _, err := Decode(strings.NewReader(""), "xml"); err == nil || !strings.Contains(err.Error(), "anthropic-sse") {
		t.Errorf("got %v", err)
	}
}
