package remote_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolquay/toolquay/host/internal/judge"
	"github.com/toolquay/toolquay/host/internal/judge/remote"
)

const (
	key       = "sk-test-0123456789abcdef"
	modelName = "some-model-1"
	allows    = `{"reason":"it only builds","verdict":"allow"}`
)

// prompt is one as a judge makes it.
func prompt() judge.Prompt {
	return judge.Prompt{
		System: "You judge.", User: "May <this> run?", Name: "judgement", MaxTokens: 100,
		Schema: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"},"verdict":{"type":"string","enum":["allow","ask"]}},"required":["reason","verdict"],"additionalProperties":false}`),
	}
}

// api is one of the two protocols, with a server that speaks it as the real one
// does.
type api struct {
	name string
	// open makes a client.
	open func(remote.Config) (*remote.Client, error)
	// base is what follows the server's address in the base URL.
	base string
	// check validates a request as the real server does. It returns a status other
	// than 200 with the type and message of the error.
	check func(r *http.Request, body map[string]any) (status int, kind, message string)
	// fault writes an error in the server's form.
	fault func(kind, message string) string
	// answer writes a response that holds an answer.
	answer func(answer string) string
}

func apis() []api {
	return []api{
		{
			name: "anthropic", open: remote.Anthropic, check: checkMessages,
			fault: func(kind, message string) string {
				return `{"type":"error","error":{"type":` + compact(kind) + `,"message":` + compact(message) + `},"request_id":"req_1"}`
			},
			answer: func(answer string) string {
				return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Let me see."},` +
					`{"type":"tool_use","id":"toolu_1","name":"judgement","input":` + answer + `}],"stop_reason":"tool_use","stop_sequence":null,` +
					`"usage":{"input_tokens":10,"output_tokens":5}}`
			},
		},
		{
			name: "openai", open: remote.OpenAI, base: "/v1", check: checkCompletion,
			fault: func(kind, message string) string {
				return `{"error":{"message":` + compact(message) + `,"type":` + compact(kind) + `,"param":null,"code":null}}`
			},
			answer: func(answer string) string {
				return `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":` +
					`{"role":"assistant","content":` + compact(answer) + `,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],` +
					`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
			},
		},
	}
}

// checkMessages is the Anthropic Messages API's validation.
func checkMessages(r *http.Request, body map[string]any) (status int, kind, message string) {
	invalid := func(what string) (int, string, string) { return http.StatusBadRequest, "invalid_request_error", what }
	switch {
	case r.URL.Path != "/v1/messages":
		return http.StatusNotFound, "not_found_error", "Not found"
	case r.Header.Get("X-Api-Key") != key:
		return http.StatusUnauthorized, "authentication_error", "invalid x-api-key " + masked(r.Header.Get("X-Api-Key"))
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return invalid("anthropic-version: header is required")
	case body["model"] != modelName:
		return http.StatusNotFound, "not_found_error", fmt.Sprintf("model: %v", body["model"])
	case body["max_tokens"] != 100.0:
		return invalid("max_tokens: Field required")
	case body["system"] != "You judge.":
		return invalid("system: " + fmt.Sprint(body["system"]))
	}
	if unknown := unknownKey(body, "model", "max_tokens", "system", "messages", "tools", "tool_choice"); unknown != "" {
		return invalid(unknown + ": Extra inputs are not permitted")
	}
	if got := compact(body["messages"]); got != `[{"content":"May \u003cthis\u003e run?","role":"user"}]` {
		return invalid("messages: " + got)
	}
	tool := dig(body, "tools", 0)
	if fields, ok := tool.(map[string]any); !ok || fields["name"] != "judgement" || unknownKey(fields, "name", "description", "input_schema") != "" ||
		dig(fields, "input_schema", "type") != "object" {
		return invalid("tools.0: " + compact(tool))
	}
	if got := compact(body["tool_choice"]); got != `{"disable_parallel_tool_use":true,"name":"judgement","type":"tool"}` {
		return invalid("tool_choice: " + got)
	}
	return http.StatusOK, "", ""
}

// checkCompletion is the OpenAI Chat Completions API's validation.
func checkCompletion(r *http.Request, body map[string]any) (status int, kind, message string) {
	invalid := func(what string) (int, string, string) { return http.StatusBadRequest, "invalid_request_error", what }
	switch {
	case r.URL.Path != "/v1/chat/completions":
		return http.StatusNotFound, "invalid_request_error", "Invalid URL (POST " + r.URL.Path + ")"
	case r.Header.Get("Authorization") != "Bearer "+key:
		return http.StatusUnauthorized, "invalid_request_error", "Incorrect API key provided: " + masked(r.Header.Get("Authorization"))
	case body["model"] != modelName:
		return http.StatusNotFound, "invalid_request_error", fmt.Sprintf("The model `%v` does not exist", body["model"])
	case body["max_completion_tokens"] != 100.0:
		return invalid("max_completion_tokens")
	}
	if unknown := unknownKey(body, "model", "max_completion_tokens", "messages", "response_format"); unknown != "" {
		return invalid("Unrecognized request argument supplied: " + unknown)
	}
	if got := compact(body["messages"]); got != `[{"content":"You judge.","role":"system"},{"content":"May \u003cthis\u003e run?","role":"user"}]` {
		return invalid("messages: " + got)
	}
	format := dig(body, "response_format", "json_schema")
	fields, ok := format.(map[string]any)
	if !ok || dig(body, "response_format", "type") != "json_schema" || fields["name"] != "judgement" || fields["strict"] != true ||
		unknownKey(fields, "name", "strict", "schema") != "" {
		return invalid("response_format: " + compact(body["response_format"]))
	}
	// Strict schemas must close every object and require all of its properties.
	if dig(fields, "schema", "additionalProperties") != false || compact(dig(fields, "schema", "required")) != `["reason","verdict"]` {
		return invalid("Invalid schema for response_format 'judgement'")
	}
	return http.StatusOK, "", ""
}

// masked is a key as servers repeat it: not whole.
func masked(key string) string { return key[:max(len(key)-4, 0)] + "****" }

func unknownKey(fields map[string]any, known ...string) string {
	for key := range fields {
		if !slices.Contains(known, key) {
			return key
		}
	}
	return ""
}

// dig follows keys and indices into decoded JSON.
func dig(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := v.(map[string]any)
			v = fields[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// server is a loopback server that checks what it is asked and answers by respond,
// which is told how often it was asked before.
type server struct {
	*httptest.Server
	asked atomic.Int32
}

func serve(t *testing.T, a api, respond func(w http.ResponseWriter, r *http.Request, n int)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(s.asked.Add(1))
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
			return
		}
		data, err := io.ReadAll(r.Body)
		var body map[string]any
		if err != nil || json.Unmarshal(data, &body) != nil {
			http.Error(w, "bad body", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if status, kind, message := a.check(r, body); status != http.StatusOK {
			w.WriteHeader(status)
			fmt.Fprint(w, a.fault(kind, message))
			return
		}
		respond(w, r, n)
	}))
	t.Cleanup(s.Close)
	return s
}

// config is one for the server.
func (s *server) config(a api) remote.Config {
	return remote.Config{
		BaseURL: s.URL + a.base, Model: modelName,
		Key: func(context.Context) (string, error) { return key, nil },
	}
}

func client(t *testing.T, a api, c remote.Config) *remote.Client {
	t.Helper()
	m, err := a.open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	m.Hasten()
	return m
}

// keyless fails where a text holds the key or much of it.
func keyless(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, key[:12]) {
		t.Errorf("the key is in %q", text)
	}
}
