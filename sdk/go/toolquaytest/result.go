package toolquaytest

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	toolquay "github.com/toolquay/toolquay/sdk/go"
	"github.com/toolquay/toolquay/sdk/go/wire"
)

// Result is what a call came to, its pieces joined as a host joins them.
type Result struct {
	Blocks []Block
	// Structured is the machine-readable answer, nil if there is none.
	Structured json.RawMessage
	// IsError says that the result tells of a failure; Err, which one, where
	// it has a code.
	IsError bool
	Err     *toolquay.Error
	// Cwd is the working directory that the tool asked for, if it did.
	Cwd      string
	Messages []Message
	Meta     json.RawMessage

	// Requests are the capability calls made, in order.
	Requests []Request
	Logs     []Log
	Progress []Progress
}

// Block is one content block.
type Block struct {
	// Type is "text", "image", "document" or "tool_reference".
	Type string
	// Text is the content of a text block, Data that of an image or document.
	Text      string
	Data      []byte
	MediaType string
	Title     string
	ToolName  string
}

// Message is a text added to the conversation.
type Message struct{ Role, Text string }

// Request is one capability call.
type Request struct {
	Capability string
	Args       json.RawMessage
}

// Log is one line of the log.
type Log struct {
	Level   toolquay.Level
	Message string
}

// Progress is one report of progress.
type Progress = toolquay.Progress

// Text joins the text blocks with newlines.
func (r *Result) Text() string {
	var texts []string
	for _, b := range r.Blocks {
		if b.Type == string(wire.BlockText) {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// result reads the message that a call returned.
func (s *session) result(message []byte) *Result {
	if err := s.overLimit(message); err != nil {
		return failed(err)
	}
	var head wire.ResultHead
	frame, err := wire.Decode(message)
	if err == nil {
		err = wire.Unmarshal(frame.Head, &head)
	}
	if err != nil {
		s.violate("returned a broken result: %v", err)
		return nil
	}
	r := &Result{
		IsError: head.IsError || head.Error != nil,
		Err:     head.Error, Meta: json.RawMessage(head.Meta),
		Requests: s.requests, Logs: s.logs, Progress: s.progress,
	}
	for _, b := range head.Content {
		r.Blocks = append(r.Blocks, s.block(frame.Parts, b))
	}
	if head.Structured != nil {
		r.Structured = s.source(frame.Parts, *head.Structured)
		if !json.Valid(r.Structured) {
			s.violate("returned a structured answer that is no JSON")
		}
	}
	for _, c := range head.Changes {
		if c.Kind == wire.ChangeCwd {
			if s.manifest != nil {
				if _, err := s.manifest.declares(s.contract, "session.cwd"); err != nil {
					s.violate("changed the working directory: %v", err)
				}
			}
			r.Cwd = wire.NewDecoder(c.Value).String()
		}
	}
	for _, m := range head.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			s.violate("added a message in the role %q; user and assistant are possible", m.Role)
		}
		r.Messages = append(r.Messages, Message(m))
	}
	if head.Error != nil && len(r.Blocks) == 0 {
		r.Blocks = []Block{{Type: string(wire.BlockText), Text: head.Error.Error()}}
	}
	return r
}

func (s *session) block(parts []wire.Part, head wire.BlockHead) Block {
	var data []byte
	for _, source := range head.Source {
		data = append(data, s.source(parts, source)...)
	}
	b := Block{Type: string(head.Type), MediaType: head.MediaType, Title: head.Title, ToolName: head.ToolName}
	switch head.Type {
	case wire.BlockText:
		if !utf8.Valid(data) {
			s.violate("returned a text block of bytes that are not UTF-8")
		}
		b.Text = string(data)
	case wire.BlockImage, wire.BlockDocument:
		if head.MediaType == "" {
			s.violate("returned a block of type %s without a media type", head.Type)
		}
		b.Data = data
	case wire.BlockToolReference:
		if head.ToolName == "" {
			s.violate("returned a reference to a tool without a name")
		}
	default:
		s.violate("returned a block of the unknown type %q", head.Type)
	}
	return b
}

func (s *session) source(parts []wire.Part, source wire.Source) []byte {
	switch {
	case (source.Part == nil) == (source.Handle == nil):
		s.violate("returned a source that names not exactly one thing")
	case source.Handle != nil:
		return s.rest(*source.Handle, source.Length)
	case *source.Part < 0 || *source.Part >= len(parts):
		s.violate("returned a source that names part %d of %d", *source.Part, len(parts))
	default:
		return parts[*source.Part].Data
	}
	return nil
}
