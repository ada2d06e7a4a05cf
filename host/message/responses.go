package message

import (
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// responsesCalls reads the function_call items of a list. Text, reasoning and tools
// that the API runs itself are none.
func responsesCalls(o object, key string) ([]abi.ToolUse, error) {
	var calls []abi.ToolUse
	err := o.each(key, func(item object) error {
		if kind, err := item.text("type"); err != nil || kind != "function_call" {
			return err
		}
		call, err := item.call("call_id", "name")
		if err != nil {
			return err
		}
		call.Input, err = item.arguments()
		calls = append(calls, call)
		return err
	})
	return calls, err
}

type responsesItem struct {
	Type    string `json:"type"` // function_call_output or message
	CallID  string `json:"call_id,omitempty"`
	Output  any    `json:"output,omitempty"` // string or []responsesPart
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Filename string `json:"filename,omitempty"`
	FileData string `json:"file_data,omitempty"`
}

// responsesReply is one function_call_output a result, whose output is a string where it
// is nothing but text; then comes what tools add to the conversation.
func responsesReply(results []abi.ToolResult) []responsesItem {
	reply := make([]responsesItem, 0, len(results))
	for _, r := range results {
		reply = append(reply, responsesItem{Type: "function_call_output", CallID: r.ToolUseID, Output: responsesOutput(r.Content)})
	}
	for _, r := range results {
		for _, m := range r.Messages {
			reply = append(reply, responsesItem{Type: "message", Role: m.Role, Content: m.Text})
		}
	}
	return reply
}

func responsesOutput(content []abi.Block) any {
	var texts []string
	var parts []responsesPart
	for _, b := range content {
		text, ok := textOf(b)
		switch {
		case ok && text == "":
		case ok:
			texts = append(texts, text)
			parts = append(parts, responsesPart{Type: "input_text", Text: text})
		case b.Type == abi.BlockImage:
			parts = append(parts, responsesPart{Type: "input_image", ImageURL: dataURL(b)})
		default:
			parts = append(parts, responsesPart{Type: "input_file", Filename: nameOf(b), FileData: dataURL(b)})
		}
	}
	if len(parts) > len(texts) {
		return parts
	}
	return strings.Join(texts, "\n")
}
