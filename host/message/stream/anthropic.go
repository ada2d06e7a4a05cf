package stream

import (
	"cmp"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
)

// anthropic understands the events of the Anthropic Messages API.
type anthropic struct {
	queue

	begun bool
	stop  string
}

type anthropicEvent struct {
	Index int `json:"index"`
	Block struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string          `json:"type"`
		PartialJSON json.RawMessage `json:"partial_json"`
		StopReason  string          `json:"stop_reason"`
	} `json:"delta"`
	Error apiError `json:"error"`
}

func (a *anthropic) event(name string, data []byte) (bool, error) {
	kind := kindOf(name, data)
	if !oneOf(kind, "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error") {
		return false, nil // it may look like anything
	}
	a.known = a.known || kind != "error"
	var e anthropicEvent
	if err := unmarshal(data, &e); err != nil {
		return false, err
	}
	switch kind {
	case "message_start":
		if a.begun {
			a.breakOff(broken("another message begins before the end of this one"))
			return true, nil
		}
		a.begun = true
	case "content_block_start":
		a.blockStart(&e)
	case "content_block_delta":
		return false, a.blockDelta(&e)
	case "content_block_stop":
		a.pass()
		if p := a.find(e.Index); p != nil {
			p.closed = true
			a.flush()
		}
	case "message_delta":
		a.stop = cmp.Or(a.stop, e.Delta.StopReason)
	case "message_stop":
		a.end()
		return true, nil
	case "error":
		a.breakOff(e.Error.err())
		return true, nil
	}
	return false, nil
}

func (a *anthropic) blockStart(e *anthropicEvent) {
	if p := a.find(e.Index); p != nil && !p.closed {
		a.remove(p)
		a.drop(p, invalid("another block of its number begins before its end"))
	}
	a.pass()
	if e.Block.Type != "tool_use" {
		return
	}
	p := a.begin(e.Index, e.Block.ID, e.Block.Name)
	if p != nil && !isNull(e.Block.Input) && string(e.Block.Input) != "{}" {
		a.give(p, e.Block.Input)
	}
}

// blockDelta takes a piece of an input. Those of other blocks are not ours, nor
// are those of a call that was dropped.
func (a *anthropic) blockDelta(e *anthropicEvent) error {
	p := a.find(e.Index)
	if p == nil || p.closed || e.Delta.Type != "input_json_delta" {
		return nil
	}
	return a.add(p, e.Delta.PartialJSON)
}

// end is the message's end. What a refusal leaves is void: the API wants the whole
// turn taken back.
func (a *anthropic) end() {
	if a.stop == "refusal" {
		why := abi.Errorf(abi.CodeCancelled, "the model refused to go on (stop_reason refusal), which makes its message void")
		a.put(Item{Kind: KindDiscard, Err: why})
		return
	}
	a.finish(a.stop, oneOf(a.stop, "max_tokens", "model_context_window_exceeded"))
}

// breakOff shadows the queue's where the model has said why it stopped: then
// nothing but the last event is missing.
func (a *anthropic) breakOff(why error) {
	if a.stop != "" {
		a.end()
		return
	}
	a.queue.breakOff(why)
}

// lost drops the block that a piece may be missing of. Those that come have a
// beginning of their own.
func (a *anthropic) lost(why error) bool {
	a.queue.lost(why)
	return false
}
