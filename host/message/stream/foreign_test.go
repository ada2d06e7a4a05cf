package stream

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
)

// TestNotEvents: what comes instead of a stream is told in words that help.
func TestNotEvents(t *testing.T) {
	t.Parallel()
	const refused = "{\n  \"error\": {\n    \"message\": \"invalid key\",\n    \"type\": \"auth\", \"code\": 401\n  }\n}"
	tests := map[string]struct{ src, want string }{
		"nothing":         {"", "the stream is empty"},
		"blank lines":     {"\ufeff\r\n\r\n", "the stream is empty"},
		"an error":        {`{"error":{"message":"invalid key"}}`, "the API reports an error: invalid key"},
		"on many lines":   {refused, "the API reports an error: invalid key"},
		"as a text":       {`{"error":"overloaded"}`, "the API reports an error: overloaded"},
		"as a list":       {`{"error":[1]}`, "the API reports an error: [1]"},
		"with a head":     {"HTTP/2 401\r\ncontent-type: application/json\r\n\r\n" + refused, "the API reports an error: invalid key"},
		"a head alone":    {"HTTP/2 401\r\ncontent-length: 0\r\n", `the first line is "HTTP/2 401"`},
		"a message":       {`{"type":"message","content":[]}`, "this is JSON, and no stream"},
		"a long message":  {`{"type":"message","content":["` + strings.Repeat("x", maxHead) + "\n\"]}", "this is JSON, and no stream"},
		"calls":           {"{\"type\":\"tool_use\"}\n{\"type\":\"end\"}\n", "this is JSON, and no stream"},
		"HTML":            {"<!DOCTYPE html>\n<title>502</title>", `the first line is "<!DOCTYPE html>"`},
		"gzip":            {"\x1f\x8b\b\b\xe9E", "compressed"},
		"events of none":  {"data: {\"type\":\"hello\"}\n\n", "no event of it was of this API"},
		"nothing but one": {"data: [DONE]\n\n", "no event of it was of this API"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []Format{AnthropicSSE, OpenAISSE} {
				items := decode(t, strings.NewReader(test.src), f)
				if len(items) != 1 || abi.CodeOf(items[0].Err) != abi.CodeIO || !strings.Contains(items[0].Err.Error(), test.want) {
					t.Errorf("%s: got %s", f, show(items))
				}
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// TestOtherAPI: a stream of another API is told as one, once.
func TestOtherAPI(t *testing.T) {
	t.Parallel()
	for file, f := range map[string]Format{
		"anthropic.sse": OpenAISSE, "openai_chat.sse": AnthropicSSE, "openai_responses.sse": AnthropicSSE,
	} {
		items := decode(t, strings.NewReader(read(t, file)), f)
		if len(items) != 1 || !strings.Contains(items[0].Err.Error(), "no event of it was of this API") {
			t.Errorf("%s as %s: got\n%s", file, f, show(items))
		}
	}
}

// TestByteOrderMark: what some programs write in front of UTF-8 is passed over.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	line := `{"type":"tool_use","id":"t1","name":"Read"}` + "\n"
	if items := decode(t, strings.NewReader("\ufeff"+line+"\ufeff"+line), JSONL); len(calls(items)) != 1 || items[0].Kind != KindCall {
		t.Errorf("got\n%s", show(items))
	}
}

// TestNewEvents: events of types that are not known may look like anything, and cost
// nothing.
func TestNewEvents(t *testing.T) {
	t.Parallel()
	odd := `data: {"type":"%snew","index":"x","delta":"text","content_block":7,"error":"none","item":"i","response":[],"choices":{}}` + "\n\n"
	for file, prefix := range map[string]string{"anthropic.sse": "", "openai_responses.sse": "response."} {
		src := read(t, file)
		odd := strings.ReplaceAll(odd, "%s", prefix)
		want := decode(t, strings.NewReader(src), formatOf(file))
		got := decode(t, strings.NewReader(odd+strings.ReplaceAll(src, "\n\n", "\n\n"+odd)), formatOf(file))
		if !slices.Equal(calls(got), calls(want)) || len(got) != len(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", file, show(got), show(want))
		}
	}
}
