package stream

import (
	"cmp"
	"encoding/json"
)

// responseEvent is an event of the Responses API.
type responseEvent struct {
	OutputIndex int             `json:"output_index"`
	Arguments   json.RawMessage `json:"arguments"`
	Item        struct {
		Type      string          `json:"type"`
		Status    string          `json:"status"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"item"`
	Response struct {
		Error      *apiError `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
	Message string    `json:"message"`
	Code    string    `json:"code"`
	Error   *apiError `json:"error"`
}

// response takes an event of the Responses API. Its last events on a call repeat
// the whole of the arguments, so their deltas are not needed, and one that is lost
// loses nothing.
func (o *openAI) response(kind string, data []byte) (bool, error) {
	o.known = o.known || kind != "error"
	if !oneOf(kind, "response.output_item.added", "response.function_call_arguments.done", "response.output_item.done",
		"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error") {
		return false, nil // it may look like anything
	}
	var e responseEvent
	if err := unmarshal(data, &e); err != nil {
		return false, err
	}
	switch kind {
	case "response.output_item.added":
		o.pass()
		if e.Item.Type == "function_call" {
			o.begin(e.OutputIndex, e.Item.CallID, e.Item.Name)
		}
	case "response.function_call_arguments.done":
		if p := o.find(e.OutputIndex); p != nil && !p.closed {
			return false, o.replace(p, e.Arguments)
		}
	case "response.output_item.done":
		return false, o.itemDone(&e)
	case "response.completed":
		o.finish("completed", false)
		return true, nil
	case "response.incomplete":
		o.finish(cmp.Or(e.Response.Incomplete.Reason, "incomplete"), true)
		return true, nil
	case "response.failed", "response.cancelled", "error":
		o.breakOff(e.failure(kind))
		return true, nil
	}
	return false, nil
}

// itemDone closes a call. Where the API says so, it was cut short.
func (o *openAI) itemDone(e *responseEvent) error {
	if e.Item.Type != "function_call" {
		return nil
	}
	p := o.find(e.OutputIndex)
	if p == nil || p.closed {
		if p = o.begin(e.OutputIndex, e.Item.CallID, e.Item.Name); p == nil {
			return nil
		}
	}
	p.id, p.name = cmp.Or(e.Item.CallID, p.id), cmp.Or(e.Item.Name, p.name)
	if err := o.replace(p, e.Item.Arguments); err != nil {
		return err
	}
	if e.Item.Status == "incomplete" {
		o.remove(p)
		o.drop(p, broken("the API says that it is incomplete"))
	}
	p.closed = true
	o.flush()
	return nil
}

// replace takes arguments that are complete, if there are any.
func (o *openAI) replace(p *pending, arguments json.RawMessage) error {
	if isNull(arguments) {
		return nil
	}
	o.held -= len(p.input)
	p.input = nil
	return o.add(p, arguments)
}

// failure is what the API says went wrong.
func (e *responseEvent) failure(kind string) error {
	told := apiError{Type: cmp.Or(e.Code, kind), Message: e.Message}
	if nested := cmp.Or(e.Error, e.Response.Error); nested != nil {
		told = *nested
	}
	return told.err()
}
