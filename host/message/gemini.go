package message

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// unnamed begins the ids of calls that came without one.
const unnamed = "unnamed_"

// geminiCalls reads the functionCall parts of a content.
func geminiCalls(content object) ([]abi.ToolUse, error) {
	var calls []abi.ToolUse
	err := content.each("parts", func(part object) error {
		if !part.has("functionCall") {
			return nil
		}
		function, err := asObject(part.place+".functionCall", part.keys["functionCall"])
		if err != nil {
			return err
		}
		call, err := function.call("id", "name")
		call.Input = function.keys["args"]
		calls = append(calls, call)
		return err
	})
	nameCalls(calls, unnamed)
	return calls, err
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Response *geminiResponse `json:"functionResponse,omitempty"`
	Text     string          `json:"text,omitempty"`
	Inline   *geminiBlob     `json:"inlineData,omitempty"`
}

type geminiResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"` // output or error
}

type geminiBlob struct {
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

// geminiReply puts images and documents, and what tools add to the conversation, behind
// the responses, which hold text.
func geminiReply(calls []abi.ToolUse, results []abi.ToolResult) geminiContent {
	names := make(map[string]string, len(calls))
	for _, c := range calls {
		names[c.ID] = c.Name
	}
	reply := geminiContent{Role: "user", Parts: make([]geminiPart, 0, len(results))}
	var attached []geminiPart
	for _, r := range results {
		key, name := "output", names[r.ToolUseID]
		if r.IsError {
			key = "error"
		}
		var texts []string
		for _, b := range r.Content {
			text, ok := textOf(b)
			if !ok {
				text = fmt.Sprintf("[%s: %s, %d bytes, in a part that follows]", nameOf(b), b.MediaType, len(b.Data))
				attached = append(attached,
					geminiPart{Text: fmt.Sprintf("%s of a call of %s:", nameOf(b), name)},
					geminiPart{Inline: &geminiBlob{b.MediaType, b.Data}})
			}
			texts = append(texts, text)
		}
		response := &geminiResponse{ID: r.ToolUseID, Name: name, Response: map[string]string{key: strings.Join(texts, "\n")}}
		if strings.HasPrefix(r.ToolUseID, unnamed) {
			response.ID = ""
		}
		reply.Parts = append(reply.Parts, geminiPart{Response: response})
	}
	reply.Parts = append(reply.Parts, attached...)
	for _, r := range results {
		for _, m := range r.Messages {
			reply.Parts = append(reply.Parts, geminiPart{Text: m.Text})
		}
	}
	return reply
}
