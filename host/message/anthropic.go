package message

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// anthropicCalls reads the tool_use blocks. It skips text, thinking and the tools that
// the API runs itself.
func anthropicCalls(message object) ([]abi.ToolUse, error) {
	if message.keys["content"][0] == '"' {
		return nil, nil // nothing but text
	}
	var calls []abi.ToolUse
	err := message.each("content", func(block object) error {
		if kind, err := block.text("type"); err != nil || kind != "tool_use" {
			return err
		}
		call, err := block.call("id", "name")
		call.Input = block.keys["input"]
		calls = append(calls, call)
		return err
	})
	return calls, err
}

// Block is a content block as the Anthropic Messages API writes it.
type Block struct {
	Type      string  `json:"type"`
	ToolUseID string  `json:"tool_use_id,omitempty"`
	Text      string  `json:"text,omitempty"`
	Title     string  `json:"title,omitempty"`
	ToolName  string  `json:"tool_name,omitempty"`
	Source    *Source `json:"source,omitempty"`
	Content   []Block `json:"content,omitempty"`
	IsError   bool    `json:"is_error,omitempty"`
}

// Source is the data of an image or document block.
type Source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type anthropicMessage struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// anthropicReply puts what tools add to the conversation after the results, as
// text: the API takes results in front only, and takes no second role beside
// them. What a result has beside tool references follows too, since the API takes
// nothing else with those.
func anthropicReply(results []abi.ToolResult) anthropicMessage {
	reply := anthropicMessage{Role: "user", Content: make([]Block, 0, len(results))}
	var beside []Block
	for _, r := range results {
		content := Blocks(r.Content)
		if slices.ContainsFunc(content, isReference) {
			beside = append(beside, slices.DeleteFunc(slices.Clone(content), isReference)...)
			content = slices.DeleteFunc(content, func(b Block) bool { return !isReference(b) })
		}
		reply.Content = append(reply.Content, Block{
			Type: "tool_result", ToolUseID: r.ToolUseID, Content: content, IsError: r.IsError,
		})
	}
	reply.Content = append(reply.Content, beside...)
	for _, r := range results {
		for _, m := range r.Messages {
			reply.Content = append(reply.Content, Block{Type: "text", Text: m.Text})
		}
	}
	return reply
}

func isReference(b Block) bool { return b.Type == "tool_reference" }

// plainText is the media type of documents that the APIs take as text.
const plainText = "text/plain"

// Blocks writes content as the Anthropic Messages API does. Empty texts, which
// the API refuses, are left out.
func Blocks(content []abi.Block) []Block {
	out := make([]Block, 0, len(content))
	for _, b := range content {
		switch b.Type {
		case abi.BlockText:
			if b.Text != "" {
				out = append(out, Block{Type: "text", Text: b.Text})
			}
		case abi.BlockImage:
			out = append(out, Block{Type: "image", Source: base64Source(b)})
		case abi.BlockDocument:
			source := base64Source(b)
			if b.MediaType == plainText {
				source = &Source{Type: "text", MediaType: b.MediaType, Data: strings.ToValidUTF8(string(b.Data), "\uFFFD")}
			}
			out = append(out, Block{Type: "document", Title: b.Title, Source: source})
		case abi.BlockToolReference:
			out = append(out, Block{Type: "tool_reference", ToolName: b.ToolName})
		}
	}
	return out
}

func base64Source(b abi.Block) *Source {
	return &Source{Type: "base64", MediaType: b.MediaType, Data: base64.StdEncoding.EncodeToString(b.Data)}
}
