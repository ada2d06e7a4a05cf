package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
)

type chatChunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			ToolCalls []chatPiece `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Error *apiError `json:"error"`
}

// chatPiece is a piece of a call. Its first one has the id and the name, as a rule.
type chatPiece struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// chunk takes an event of the Chat Completions API.
func (o *openAI) chunk(data []byte) (bool, error) {
	var chunk chatChunk
	if err := unmarshal(data, &chunk); err != nil {
		return false, err
	}
	if chunk.Error != nil {
		o.breakOff(chunk.Error.err())
		return true, nil
	}
	for _, choice := range chunk.Choices {
		o.known = true
		if choice.Index != 0 || o.stop != "" {
			continue // of several choices the first counts, and of it what comes before its end
		}
		for i := range choice.Delta.ToolCalls {
			if err := o.piece(&choice.Delta.ToolCalls[i]); err != nil {
				return false, err
			}
		}
		o.chatStop(choice.FinishReason)
	}
	return false, nil
}

// piece adds to the call it belongs to. Some servers number all calls 0, each with
// an id and a name of its own; some repeat the name in every piece, or make up an
// id for each.
func (o *openAI) piece(c *chatPiece) error {
	p := o.find(c.Index)
	if p == nil && c.ID == "" && c.Function.Name == "" && len(c.Function.Arguments) <= len(`""`) {
		return nil // an empty piece behind the last one
	}
	if p == nil || c.ID != p.id && c.ID != "" && p.id != "" && c.Function.Name != "" {
		for _, before := range o.calls {
			input, _ := before.text()
			before.closed = before.closed || whole(input)
		}
		o.flush()
		if p = o.begin(c.Index, "", ""); p == nil {
			return nil
		}
	}
	p.id = cmp.Or(p.id, c.ID)
	if c.Function.Name != p.name {
		p.name += c.Function.Name
	}
	if args := bytes.TrimSpace(c.Function.Arguments); len(args) > 0 && args[0] == '{' {
		o.give(p, args) // the wrapping in a string was left out
		return nil
	}
	return o.add(p, c.Function.Arguments)
}

// chatStop closes all calls, if the model has stopped. Usage may still come.
func (o *openAI) chatStop(reason string) {
	if reason == "" {
		return
	}
	o.stop = reason
	for _, p := range o.calls {
		p.closed = true
	}
	if !cutShort(reason) {
		o.pass()
	} else {
		o.flush()
	}
}

// cutShort reports whether a reason to stop is not the model's own will.
func cutShort(reason string) bool {
	return oneOf(reason, "length", "content_filter", "max_output_tokens")
}

// breakOff shadows the queue's where the model has said why it stopped: usage and
// the mark of the end are nothing to wait for.
func (o *openAI) breakOff(why error) {
	if o.stop != "" {
		o.finish(o.stop, cutShort(o.stop))
		return
	}
	o.queue.breakOff(why)
}
