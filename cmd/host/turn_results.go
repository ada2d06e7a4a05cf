package main

import (
	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/message"
)

// turnResults are a turn's results as the model is to get them: at its end some may
// give way to shorter ones, so none is printed before.
type turnResults struct {
	recorder message.Recorder
	records  []message.Record
	list     []abi.ToolResult
}

func (r *turnResults) add(e host.Event) {
	record, ok := r.recorder.Add(e)
	if !ok {
		return
	}
	if e.Kind == host.EventResult {
		r.records, r.list = append(r.records, record), append(r.list, *e.Result)
		return
	}
	if e.Index < len(r.list) {
		r.records[e.Index], r.list[e.Index] = record, *e.Result
	}
}
