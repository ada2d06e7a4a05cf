package message

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// openAICalls reads the function calls of tool_calls.
func openAICalls(message object) ([]abi.ToolUse, error) {
	var calls []abi.ToolUse
	err := message.each("tool_calls", func(item object) error {
		kind, err := item.text("type")
		if err != nil {
			return err
		}
		if kind != "" && kind != "function" {
			return invalid("%s is of the type %q; only function calls can be run", item.place, kind)
		}
		id, err := item.text("id")
		if err != nil {
			return err
		}
		function, err := asObject(item.place+".function", item.keys["function"])
		if err != nil {
			return err
		}
		call, err := function.call("", "name")
		if err != nil {
			return err
		}
		call.ID = id
		call.Input, err = function.arguments()
		calls = append(calls, call)
		return err
	})
	return calls, err
}

type openAIMessage struct {
	Role       string `json:"role"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	Content    any    `json:"content"` // string or []openAIPart
}

type openAIPart struct {
	Type  string      `json:"type"`
	Text  string      `json:"text,omitempty"`
	Image *openAIURL  `json:"image_url,omitempty"`
	File  *openAIFile `json:"file,omitempty"`
}

type openAIURL struct {
	URL string `json:"url"`
}

type openAIFile struct {
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
}

// openAIReply is one message of the role tool a result. Those hold text only,
// so images and documents follow in a user message, which their results point
// to; then comes what tools add to the conversation.
func openAIReply(results []abi.ToolResult) []openAIMessage {
	reply := make([]openAIMessage, 0, len(results))
	var attached []openAIPart
	for _, r := range results {
		var text []string
		for _, b := range r.Content {
			line, parts := openAIBlock(r.ToolUseID, b)
			if line != "" {
				text = append(text, line)
			}
			attached = append(attached, parts...)
		}
		reply = append(reply, openAIMessage{Role: "tool", ToolCallID: r.ToolUseID, Content: strings.Join(text, "\n")})
	}
	if len(attached) > 0 {
		reply = append(reply, openAIMessage{Role: "user", Content: attached})
	}
	for _, r := range results {
		for _, m := range r.Messages {
			reply = append(reply, openAIMessage{Role: m.Role, Content: m.Text})
		}
	}
	return reply
}

// openAIBlock is a block's text in its result, and what follows in the user
// message.
func openAIBlock(id string, b abi.Block) (string, []openAIPart) {
	if text, ok := textOf(b); ok {
		return text, nil
	}
	name := nameOf(b)
	part := openAIPart{Type: "file", File: &openAIFile{Filename: name, FileData: dataURL(b)}}
	if b.Type == abi.BlockImage {
		part = openAIPart{Type: "image_url", Image: &openAIURL{URL: dataURL(b)}}
	}
	return fmt.Sprintf("[%s: %s, %d bytes, in the user message that follows]", name, b.MediaType, len(b.Data)),
		[]openAIPart{{Type: "text", Text: fmt.Sprintf("%s of the tool call %s:", name, id)}, part}
}

// textOf is the text of a block that APIs take as text.
func textOf(b abi.Block) (string, bool) {
	switch {
	case b.Type == abi.BlockText:
		return b.Text, true
	case b.Type == abi.BlockToolReference:
		return "[tool " + b.ToolName + "]", true
	case b.Type == abi.BlockDocument && b.MediaType == plainText:
		return strings.ToValidUTF8(string(b.Data), "\uFFFD"), true
	}
	return "", false
}

func nameOf(b abi.Block) string { return cmp.Or(b.Title, string(b.Type)) }

func dataURL(b abi.Block) string {
	return "data:" + b.MediaType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
}
