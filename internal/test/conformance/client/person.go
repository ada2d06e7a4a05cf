package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/toolquay/toolquay/host"
)

// person accepts whatever is asked. It implements [host.Asker].
type person struct{}

func (person) Carries(host.QuestionKind) bool { return true }

func (person) Ask(ctx context.Context, q host.Question) (host.Reply, error) {
	r := host.Reply{Answer: host.AnswerAllow}
	switch q.Kind {
	case host.QuestionForm:
		r.Content = ticked(q.Form.Schema)
	case host.QuestionURL:
		return r, browse(ctx, q.URL.URL)
	}
	return r, nil
}

// ticked fills in a form: what can be ticked and has no default is. The rest is left to the
// defaults.
func ticked(schema json.RawMessage) json.RawMessage {
	var form struct {
		Properties map[string]struct {
			Type    string          `json:"type"`
			Default json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &form) // the host has read it
	content := make(map[string]bool)
	for name, p := range form.Properties {
		if p.Type == "boolean" && p.Default == nil {
			content[name] = true
		}
	}
	text, _ := json.Marshal(content) // strings and booleans
	return text
}

// browse opens a URL as a browser does: it goes where it is sent, also back to this program.
func browse(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the browser got %s", answer.Status)
	}
	return nil
}
