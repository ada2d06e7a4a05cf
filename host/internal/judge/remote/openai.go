package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/judge"
)

// openAI is the Chat Completions API. The answer is the text of the one message,
// which the model is held to by a schema.
type openAI struct{}

type completionRequest struct {
	Model          string         `json:"model"`
	MaxTokens      int            `json:"max_completion_tokens"`
	Messages       []chatMessage  `json:"messages"`
	ResponseFormat responseFormat `json:"response_format"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

type completionResponse struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
}

func (openAI) path() string { return "chat/completions" }

func (openAI) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (openAI) request(model string, p judge.Prompt) any {
	r := completionRequest{
		Model: model, MaxTokens: p.MaxTokens,
		ResponseFormat: responseFormat{Type: "json_schema", JSONSchema: jsonSchema{Name: p.Name, Strict: true, Schema: p.Schema}},
	}
	if p.System != "" {
		r.Messages = append(r.Messages, chatMessage{Role: "system", Content: p.System})
	}
	r.Messages = append(r.Messages, chatMessage{Role: "user", Content: p.User})
	return r
}

func (openAI) answer(body []byte, _ judge.Prompt) (string, error) {
	var r completionResponse
	if err := abi.Unmarshal(body, &r); err != nil {
		return "", fmt.Errorf("it is no completion: %w", err)
	}
	if len(r.Choices) != 1 {
		return "", fmt.Errorf("it has %d choices, not one", len(r.Choices))
	}
	choice := r.Choices[0]
	switch {
	case choice.Message.Refusal != "":
		return "", fmt.Errorf("the model declined: %s", quote(choice.Message.Refusal))
	// What was cut off may still be whole by its looks.
	case choice.FinishReason != "stop":
		return "", fmt.Errorf("the model stopped with %.60q instead of the answer", choice.FinishReason)
	case choice.Message.Content == "":
		return "", errors.New("the answer is empty")
	}
	return choice.Message.Content, nil
}
