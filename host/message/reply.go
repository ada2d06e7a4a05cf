package message

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolquay/toolquay/abi"
)

// Reply writes the results of a message's calls, in their order, as one JSON
// document: the message, or for [OpenAI] the list of messages and for [Responses] that
// of items, that goes back to the model. The format [List] gives one [Record] without
// times a line. [Gemini] wants the names of the calls, by their ids.
func Reply(format Format, calls []abi.ToolUse, results []abi.ToolResult) (json.RawMessage, error) {
	switch format {
	case Anthropic:
		return encode(anthropicReply(results))
	case OpenAI:
		return encode(openAIReply(results))
	case Responses:
		return encode(responsesReply(results))
	case Gemini:
		return encode(geminiReply(calls, results))
	case List:
		var lines []byte
		for _, r := range results {
			line, err := encode(NewRecord(r))
			if err != nil {
				return nil, err
			}
			lines = append(append(lines, line...), '\n')
		}
		return lines, nil
	}
	return nil, fmt.Errorf("no format %q; there are %v", format, Formats())
}

// encode writes JSON without escaping for HTML, which models read badly.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
