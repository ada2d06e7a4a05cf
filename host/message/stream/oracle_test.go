package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// FuzzCalls holds the calls of any stream to a decoder that has all of it before it
// looks: none comes out that is not there, whole.
func FuzzCalls(f *testing.F) {
	for _, file := range samples(f) {
		f.Add(readFile(f, file), uint8(slices.Index(Formats(), formatOf(file))))
	}
	f.Fuzz(func(t *testing.T, src []byte, format uint8) {
		checkCalls(t, src, Formats()[int(format)%len(Formats())])
	})
}

func TestCallsOfSamples(t *testing.T) {
	t.Parallel()
	for _, file := range samples(t) {
		checkCalls(t, readFile(t, file), formatOf(file))
	}
}

func readFile(tb testing.TB, file string) []byte {
	tb.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func checkCalls(tb testing.TB, src []byte, f Format) {
	tb.Helper()
	find := map[Format]func([]byte) map[string]int{
		JSONL: lineCalls, AnthropicSSE: blockCalls,
	}[f]
	if f == OpenAISSE {
		checkInputs(tb, src)
		return
	}
	there := find(src)
	for _, item := range decode(tb, bytes.NewReader(src), f) {
		if item.Kind != KindCall {
			continue
		}
		key := callKey(item.Call.ID, item.Call.Name, string(item.Call.Input))
		if there[key]--; there[key] < 0 {
			tb.Fatalf("%q is no call, or not so often, of\n%s\nwhich has %q", key, src, slices.Sorted(maps.Keys(there)))
		}
	}
	if f != JSONL {
		return // calls that are there may be left out: of messages that are cut short, or void
	}
	for key, n := range there {
		if n > 0 {
			tb.Fatalf("%s is missing of\n%q", key, src)
		}
	}
}

// checkInputs holds the inputs of calls of OpenAI's to all that pieces next to each
// other, of one number and choice, can come to.
func checkInputs(tb testing.TB, src []byte) {
	tb.Helper()
	pieces := make(map[int][]string)
	whole := map[string]bool{"": true}
	stopped := false
	for _, e := range eventsOf(src) {
		stopped = stopped || strings.HasPrefix(e.Type, "response.")
		whole[unquoted(pieceOf(e.Arguments))] = true
		whole[unquoted(pieceOf(e.Item.Arguments))] = true
		for _, choice := range e.Choices {
			if choice.Index != 0 {
				continue // the first one counts
			}
			for _, c := range choice.Delta.Calls {
				args := c.Function.Arguments
				whole[string(args)] = true // the wrapping in a string may be left out
				pieces[c.Index] = append(pieces[c.Index], pieceOf(args))
			}
			stopped = stopped || choice.Stop != ""
		}
	}
	for _, list := range pieces {
		for from := range list {
			for to := from; to < len(list); to++ {
				whole[unquoted(strings.Join(list[from:to+1], ""))] = true
			}
		}
	}
	for _, item := range decode(tb, bytes.NewReader(src), OpenAISSE) {
		input := string(item.Call.Input)
		if item.Kind == KindCall && (!whole[input] || !stopped && !json.Valid(item.Call.Input)) {
			tb.Fatalf("the input %q is none that is there, whole, in\n%s", input, src)
		}
	}
}

// callKey is equal for calls that are. Two ways to write one input are the same.
func callKey(id, name, input string) string {
	if doc, err := abi.Canonical([]byte(input)); err == nil {
		input = string(doc)
	}
	return strings.Join([]string{id, name, input}, "\x00")
}

// lineCalls are the lines that encoding/json has calls in.
func lineCalls(src []byte) map[string]int {
	there := make(map[string]int)
	for line := range bytes.SplitSeq(src, []byte("\n")) {
		if _, err := abi.Canonical(line); err != nil || len(line) > maxLine { // UTF-8, depth, no key twice
			continue
		}
		var keys map[string]json.RawMessage
		var kind, id, name string
		if json.Unmarshal(line, &keys) != nil || json.Unmarshal(keys["type"], &kind) != nil || kind != "tool_use" {
			continue
		}
		badID, badName := json.Unmarshal(keys["id"], &id), json.Unmarshal(keys["name"], &name)
		input := keys["input"]
		delete(keys, "input")
		if badID == nil && badName == nil && len(keys) == 3 && id != "" && name != "" {
			there[callKey(id, name, string(input))]++
		}
	}
	return there
}

// oracleEvent is an event of any of the APIs.
type oracleEvent struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type   string          `json:"type"`
		Pieces json.RawMessage `json:"partial_json"`
	} `json:"delta"`
	Item struct {
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"item"`
	Arguments json.RawMessage `json:"arguments"`
	Choices   []struct {
		Index int `json:"index"`
		Delta struct {
			Calls []struct {
				Index    int `json:"index"`
				Function struct {
					Arguments json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"delta"`
		Stop string `json:"finish_reason"`
	} `json:"choices"`
}

// eventsOf are all events that can be read.
func eventsOf(src []byte) (list []oracleEvent) {
	text := strings.TrimPrefix(string(src), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var event oracleEvent
	name, data := "", []string(nil)
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			event = oracleEvent{}
			if json.Unmarshal([]byte(strings.Join(data, "\n")), &event) == nil {
				event.Type = cmp.Or(event.Type, name)
				list = append(list, event)
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
	}
	return list
}

// pieceOf is what stands between the quotes of a string.
func pieceOf(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return string(raw[1 : len(raw)-1])
}

// unquoted is the text of a string that was put together of such pieces.
func unquoted(pieces string) string {
	var text string
	_ = json.Unmarshal([]byte(`"`+pieces+`"`), &text)
	return text
}

// blockCalls are the blocks of a message of Anthropic's that begin and end.
func blockCalls(src []byte) map[string]int {
	there := make(map[string]int)
	open := make(map[int]*oracleEvent)
	for _, e := range eventsOf(src) {
		b := open[e.Index]
		switch {
		case e.Type == "content_block_start":
			open[e.Index] = &e
		case b == nil || b.Block.Type != "tool_use":
		case e.Type == "content_block_delta" && e.Delta.Type == "input_json_delta":
			b.Arguments = append(b.Arguments, pieceOf(e.Delta.Pieces)...)
		case e.Type == "content_block_stop":
			input := string(b.Block.Input)
			if input == "{}" || input == "null" {
				input = ""
			}
			input = cmp.Or(unquoted(string(b.Arguments)), input)
			there[callKey(b.Block.ID, b.Block.Name, input)]++
			delete(open, e.Index)
		}
	}
	return there
}
