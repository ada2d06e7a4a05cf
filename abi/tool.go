package abi

import "encoding/json"

// ToolUse is one call a model asks for.
type ToolUse struct {
	// ID is the model's name for the call; results carry it back.
	ID string `json:"id"`
	// Name is the tool as the model wrote it; an alias resolves.
	Name string `json:"name"`
	// Input is the arguments, a JSON object.
	Input json.RawMessage `json:"input"`
}

// BlockType says what a content block is.
type BlockType string

// The content blocks a result is made of.
const (
	BlockText          BlockType = "text"
	BlockImage         BlockType = "image"
	BlockDocument      BlockType = "document"
	BlockToolReference BlockType = "tool_reference"
)

// Block is one content block of a result.
type Block struct {
	Type BlockType
	// Text is the content of a text block.
	Text string
	// Spilled, in place of Text, is a text that is too long to hold.
	Spilled *Spilled
	// MediaType is that of an image or document, such as "image/png".
	MediaType string
	// Data is the raw bytes of an image or document.
	Data []byte
	// Title names a document.
	Title string
	// ToolName is what a tool reference points at.
	ToolName string
}

// TextBlock returns a text block.
func TextBlock(text string) Block { return Block{Type: BlockText, Text: text} }

// ToolResult is what one call came to.
type ToolResult struct {
	// ToolUseID is the id of the call.
	ToolUseID string
	Content   []Block
	// Structured is the machine-readable answer that fits the tool's output
	// schema, if the tool has one.
	Structured json.RawMessage
	IsError    bool
	// Error says what kind of error it was, where IsError is set and known.
	Error *Error
	// Changes are effects on the session, applied in call order.
	Changes []Change
	// Messages are texts to add to the conversation after the results.
	Messages []Message
	// Meta is passed through unread.
	Meta json.RawMessage
}

// Text joins the text blocks of the result with newlines. Of a spilled text there
// is its head.
func (r *ToolResult) Text() string {
	var out []byte
	for _, b := range r.Content {
		if b.Type != BlockText {
			continue
		}
		if len(out) > 0 {
			out = append(out, '\n')
		}
		out = append(out, b.Text...)
		if b.Spilled != nil {
			out = append(out, b.Spilled.Head...)
		}
	}
	return string(out)
}

// ErrorResult is a result that tells the model what went wrong.
func ErrorResult(id string, err *Error) ToolResult {
	return ToolResult{
		ToolUseID: id,
		Content:   []Block{TextBlock(err.Error())},
		IsError:   true,
		Error:     err,
	}
}

// Change is one effect of a call on its session.
type Change struct {
	Kind  ChangeKind      `json:"kind"`
	Value json.RawMessage `json:"value"`
}

// ChangeKind names what a [Change] changes.
type ChangeKind string

// ChangeCwd sets the session's working directory; its value is a JSON string.
const ChangeCwd ChangeKind = "cwd"

// Message is a text a tool adds to the conversation.
type Message struct {
	Role string `json:"role"`
	Text string `json:"text"`
}
