package abi

import (
	"bytes"
	"io"
)

// Bounds of one result, beside those of a frame.
const (
	MaxBlocks   = 1024
	MaxChanges  = 64
	MaxMessages = 64
)

// Open opens what is left of the answer to a capability call that a result names,
// and uses it up: it is asked once for a handle, also where several sources take a
// piece each. It answers [CodeProtocol] where the handle was never given or is
// used up. Where the reader has a method Left() int64, that tells how many bytes
// will come, or is negative.
type Open func(handle uint32) (io.ReadCloser, error)

// ResultDecoder reads the messages that call returns. It is for one goroutine.
type ResultDecoder struct {
	// Limit bounds the bytes of a result that are held in memory.
	Limit int64
	// Open opens capabilities' answers; nil is for callers that gave none.
	Open Open
	// Spill, if not nil, makes the place for a text with a capability's answer in it
	// that is longer than [SpillOver], or than Limit has left. Of such a text only
	// the parts of the frame count against Limit.
	Spill func() (Spill, error)
	// Room is memory that answers are read into on their way; Decode grows it where
	// it must, and nothing refers to it afterwards.
	Room []byte
}

// DecodeResult reads a message that call returned, as [ResultDecoder.Decode] does,
// without spilling.
func DecodeResult(b []byte, limit int64, open Open) (ToolResult, error) {
	d := ResultDecoder{Limit: limit, Open: open}
	return d.Decode(b)
}

// Decode reads a message that call returned and joins its blocks from their
// sources. The result shares no memory with b. ToolUseID is left to the caller.
// Where it fails, what was spilled is discarded.
//
// A failure with a code but no content gets its message as a text block; a code
// that is not known becomes [CodeInternal]. Structured comes out as canonical
// JSON. Text that is not UTF-8 is [CodeProtocol], or [CodeNotText] where it came
// from a capability's answer; spilled text is not looked at. Over a limit is
// [CodeLimit].
func (d *ResultDecoder) Decode(b []byte) (ToolResult, error) {
	var head ResultHead
	f, err := decodeHead(b, "result", &head)
	if err != nil {
		return ToolResult{}, err
	}
	if err := head.check(); err != nil {
		return ToolResult{}, err
	}
	r := ToolResult{
		IsError:  head.IsError || head.Error != nil,
		Error:    head.Error,
		Changes:  head.Changes,
		Messages: head.Messages,
		Meta:     head.Meta,
	}
	in := sources{ResultDecoder: *d, parts: f.Parts, left: d.Limit, spillLeft: MaxSpilled}
	err = in.fill(&r, &head)
	in.endAll()
	d.Room = in.Room
	if err != nil {
		in.discard()
		return ToolResult{}, err
	}
	r.settleError()
	return r, nil
}

// fill joins what the head names.
func (s *sources) fill(r *ToolResult, head *ResultHead) error {
	for i, block := range head.Content {
		c, err := s.block(block)
		if err != nil {
			return Errorf(CodeOf(err), "result content[%d]: %w", i, err)
		}
		r.Content = append(r.Content, c)
	}
	if head.Structured == nil {
		return nil
	}
	var err error
	if r.Structured, err = s.structured(*head.Structured); err != nil {
		return Errorf(CodeOf(err), "result structured: %w", err)
	}
	return nil
}

// settleError completes a failure that has a code.
func (r *ToolResult) settleError() {
	if r.Error == nil {
		return
	}
	if !r.Error.Code.Known() {
		r.Error.Code = CodeInternal
	}
	if len(r.Content) == 0 {
		r.Content = []Block{TextBlock(r.Error.Error())}
	}
}

// check refuses heads that are out of bounds or say what a tool may not.
func (h *ResultHead) check() error {
	switch {
	case len(h.Content) > MaxBlocks:
		return Errorf(CodeProtocol, "result of %d blocks is over the limit of %d", len(h.Content), MaxBlocks)
	case len(h.Changes) > MaxChanges:
		return Errorf(CodeProtocol, "result of %d changes is over the limit of %d", len(h.Changes), MaxChanges)
	case len(h.Messages) > MaxMessages:
		return Errorf(CodeProtocol, "result of %d messages is over the limit of %d", len(h.Messages), MaxMessages)
	}
	for i, c := range h.Changes {
		if c.Kind == "" || len(c.Value) == 0 {
			return Errorf(CodeProtocol, "result changes[%d] has no kind or no value", i)
		}
	}
	for i, m := range h.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return Errorf(CodeProtocol, "result messages[%d] has the role %q; write user or assistant", i, m.Role)
		}
	}
	return nil
}

// EncodeResult appends the message that call returns, every block with a part
// of its own, as a guest or a native tool writes it. A spilled text is empty there.
func EncodeResult(dst []byte, r ToolResult) ([]byte, error) {
	head := ResultHead{IsError: r.IsError, Error: r.Error, Changes: r.Changes, Messages: r.Messages, Meta: r.Meta}
	if r.Error != nil {
		head.IsError = false // said by the error
	}
	var parts []Part
	put := func(t PartType, data []byte) Source {
		parts = append(parts, Part{Type: t, Data: data})
		return Source{Part: new(len(parts) - 1)}
	}
	for _, b := range r.Content {
		h := BlockHead{Type: b.Type, MediaType: b.MediaType, Title: b.Title, ToolName: b.ToolName}
		switch b.Type {
		case BlockText:
			h.Source = []Source{put(PartText, bytes.ToValidUTF8([]byte(b.Text), []byte("\uFFFD")))}
		case BlockImage, BlockDocument:
			h.Source = []Source{put(PartBytes, b.Data)}
		}
		head.Content = append(head.Content, h)
	}
	if len(r.Structured) > 0 {
		head.Structured = new(put(PartJSON, r.Structured))
	}
	return encodeHead(dst, head, parts...)
}
