package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/judge"
)

// anthropic is the Messages API. The answer is the input of a tool that the model
// is made to use.
type anthropic struct{}

// anthropicVersion is the version of the API that is spoken.
const anthropicVersion = "2023-06-01"

type messagesRequest struct {
	Model      string         `json:"model"`
	MaxTokens  int            `json:"max_tokens"`
	System     string         `json:"system,omitempty"`
	Messages   []chatMessage  `json:"messages"`
	Tools      []messagesTool `json:"tools"`
	ToolChoice toolChoice     `json:"tool_choice"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type messagesTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type toolChoice struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Parallel bool   `json:"disable_parallel_tool_use"`
}

type messagesResponse struct {
	Type       string `json:"type"`
	StopReason string `json:"stop_reason"`
	Content    []struct {
		Type  string          `json:"type"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content"`
}

func (anthropic) path() string { return "v1/messages" }

func (anthropic) authorize(h http.Header, key string) {
	h.Set("Anthropic-Version", anthropicVersion)
	if key != "" {
		h.Set("X-Api-Key", key)
	}
}

func (anthropic) request(model string, p judge.Prompt) any {
	return messagesRequest{
		Model: model, MaxTokens: p.MaxTokens, System: p.System,
		Messages:   []chatMessage{{Role: "user", Content: p.User}},
		Tools:      []messagesTool{{Name: p.Name, Description: "Gives the answer.", InputSchema: p.Schema}},
		ToolChoice: toolChoice{Type: "tool", Name: p.Name, Parallel: true},
	}
}

func (anthropic) answer(body []byte, p judge.Prompt) (string, error) {
	var r messagesResponse
	if err := abi.Unmarshal(body, &r); err != nil {
		return "", fmt.Errorf("it is no message: %w", err)
	}
	if r.Type != "message" {
		return "", fmt.Errorf("it is of the type %.60q, not a message", r.Type)
	}
	// What was cut off may still be whole by its looks.
	if r.StopReason != "tool_use" {
		return "", fmt.Errorf("the model stopped with %.60q instead of the answer", r.StopReason)
	}
	answer := ""
	for _, block := range r.Content {
		if block.Type != "tool_use" {
			continue
		}
		if block.Name != p.Name || answer != "" {
			return "", errors.New("the model used another tool than the one for the answer, or that twice")
		}
		answer = string(block.Input)
	}
	if answer == "" {
		return "", errors.New("the model did not use the tool for the answer")
	}
	return answer, nil
}
