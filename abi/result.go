package abi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of one result, beside those of a frame.
const (
	MaxBlocks   = 1024
	MaxChanges  = 64
	MaxMessages = 64
)

// Resolve reads what is left of a capability's answer that a result names. It
// answers [CodeLimit] where that is more than limit bytes, and [CodeProtocol] where
// the handle was never given or is used up. The bytes need not outlast the next call
// of it.
type Resolve func(handle uint32, limit int64) ([]byte, error)

// DecodeResult reads the message that call returns and joins its blocks from
// their sources, of at most limit bytes together. The result shares no memory
// with b. ToolUseID is left to the caller.
//
// A failure with a code but no content gets its message as a text block; a code
// that is not known becomes [CodeInternal]. Structured comes out as canonical
// JSON. Text that is not UTF-8 is [CodeProtocol], or [CodeNotText] where it came
// from a capability's answer; over limit is [CodeLimit].
func DecodeResult(b []byte, limit int64, resolve Resolve) (ToolResult, error) {
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
	in := sources{parts: f.Parts, resolve: resolve, limit: limit, left: limit}
	for i, block := range head.Content {
		c, err := in.block(block)
		if err != nil {
			return ToolResult{}, Errorf(CodeOf(err), "result content[%d]: %w", i, err)
		}
		r.Content = append(r.Content, c)
	}
	if head.Structured != nil {
		if r.Structured, err = in.structured(*head.Structured); err != nil {
			return ToolResult{}, Errorf(CodeOf(err), "result structured: %w", err)
		}
	}
	r.settleError()
	return r, nil
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

// sources joins bytes for the blocks of one result.
type sources struct {
	parts   []Part
	resolve Resolve
	limit   int64
	left    int64
}

func (s *sources) block(h BlockHead) (Block, error) {
	b := Block{Type: h.Type, MediaType: h.MediaType, Title: h.Title, ToolName: h.ToolName}
	switch h.Type {
	case BlockText:
		text, err := s.text(h.Source)
		b.Text = text
		return b, err
	case BlockImage, BlockDocument:
		if kind, sub, ok := strings.Cut(h.MediaType, "/"); !ok || kind == "" || sub == "" {
			return b, Errorf(CodeProtocol, "%s with the media type %q; write one such as image/png", h.Type, h.MediaType)
		}
		data, err := s.join(h.Source)
		b.Data = data
		return b, err
	case BlockToolReference:
		if h.ToolName == "" {
			return b, Errorf(CodeProtocol, "tool reference without a tool name")
		}
		return b, nil
	}
	return b, Errorf(CodeProtocol, "block of the unknown type %q", h.Type)
}

func (s *sources) text(from []Source) (string, error) {
	data, err := s.whole(from)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		code := CodeProtocol
		if slices.ContainsFunc(from, func(s Source) bool { return s.Handle != nil }) {
			code = CodeNotText
		}
		return "", Errorf(code, "text that is not UTF-8")
	}
	return string(data), nil
}

// whole returns what sources name together, to be copied at once: where there is
// only one, the bytes are still its own.
func (s *sources) whole(from []Source) ([]byte, error) {
	if len(from) != 1 {
		return s.join(from)
	}
	data, err := s.bytes(from[0])
	if err != nil {
		return nil, Errorf(CodeOf(err), "source[0]: %w", err)
	}
	return data, nil
}

func (s *sources) join(from []Source) ([]byte, error) {
	var joined []byte
	for i, src := range from {
		data, err := s.bytes(src)
		if err != nil {
			return nil, Errorf(CodeOf(err), "source[%d]: %w", i, err)
		}
		joined = append(joined, data...)
	}
	return joined, nil
}

// bytes returns what a source names. It may alias the frame, and holds until the
// next call only.
func (s *sources) bytes(src Source) ([]byte, error) {
	var data []byte
	switch {
	case (src.Part == nil) == (src.Handle == nil):
		return nil, Errorf(CodeProtocol, "a source must name a part or a handle, and only one of them")
	case src.Part != nil:
		if i := *src.Part; i < 0 || i >= len(s.parts) {
			return nil, Errorf(CodeProtocol, "part %d of %d does not exist", i, len(s.parts))
		}
		data = s.parts[*src.Part].Data
	case s.resolve == nil:
		return nil, Errorf(CodeProtocol, "handle %d was never given", *src.Handle)
	default:
		var err error
		if data, err = s.resolve(*src.Handle, s.left); err != nil {
			return nil, err
		}
	}
	if s.left -= int64(len(data)); s.left < 0 {
		return nil, Errorf(CodeLimit, "the result is over its limit of %s", Size(s.limit))
	}
	return data, nil
}

func (s *sources) structured(src Source) (json.RawMessage, error) {
	data, err := s.bytes(src)
	if err != nil {
		return nil, err
	}
	if src.Part != nil && s.parts[*src.Part].Type != PartJSON {
		return nil, Errorf(CodeProtocol, "part %d is no JSON part", *src.Part)
	}
	out, err := Canonical(data)
	if err != nil {
		return nil, Errorf(CodeProtocol, "%w", err)
	}
	return out, nil
}

// EncodeResult appends the message that call returns, every block with a part
// of its own, as a guest or a native tool writes it.
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
