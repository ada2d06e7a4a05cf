package main

import (
	"encoding/json"
	"fmt"

	toolquay "github.com/toolquay/toolquay/sdk/go"
)

func init() {
	toolquay.Handle("test_sampling", func(c *toolquay.Call, in struct {
		Prompt string `json:"prompt"`
	}) (toolquay.Output, error) {
		return told(c, "LLM response: ", requests{"sample": sample(in.Prompt)})
	})
	toolquay.Handle("test_elicitation", func(c *toolquay.Call, in struct {
		Message string `json:"message"`
	}) (toolquay.Output, error) {
		return told(c, "Elicitation result: ", requests{"user": form(in.Message, fields{"username": {"type": "string", "description": "Your preferred username"}}, "username")})
	})
	toolquay.Handle("test_elicitation_sep1034_defaults", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		return told(c, "Elicitation result: ", requests{"defaults": form("Test defaults for primitives", defaults)})
	})
	toolquay.Handle("test_elicitation_sep1330_enums", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		return told(c, "Elicitation result: ", requests{"enums": form("Test enum schemas", enums)})
	})
	toolquay.Handle("test_missing_capability", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		return told(c, "LLM response: ", requests{"sample": sample("Say hello")})
	})
	toolquay.Handle("test_input_required_result_elicitation", greets)
	toolquay.Handle("test_input_required_result_sampling", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		return told(c, "Sampling response: ", requests{"capital_question": sample("What is the capital of France?")})
	})
	toolquay.Handle("test_input_required_result_list_roots", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		return told(c, "Client exposes: ", requests{"client_roots": roots})
	})
	toolquay.Handle("test_input_required_result_request_state", confirms)
	toolquay.Handle("test_input_required_result_tampered_state", confirms)
	toolquay.Handle("test_input_required_result_multiple_inputs", func(c *toolquay.Call, _ none) (toolquay.Output, error) {
		return told(c, "All inputs: ", requests{"user_name": name("What is your name?"), "greeting": sample("Generate a greeting"), "client_roots": roots})
	})
	toolquay.Handle("test_input_required_result_multi_round", rounds)
	toolquay.Handle("test_input_required_result_capabilities", asksWhatItCan)
}

// request is one of the protocol's requests for input, as its clients get it.
type request struct {
	Method string `json:"method"`
	Params any    `json:"params"`
}

type requests map[string]request

// fields are those of a form, with the schema of each.
type fields map[string]map[string]any

func form(message string, f fields, required ...string) request {
	schema := map[string]any{"type": "object", "properties": f}
	if required != nil {
		schema["required"] = required
	}
	return request{"elicitation/create", map[string]any{"message": message, "requestedSchema": schema}}
}

func name(message string) request { return form(message, fields{"name": {"type": "string"}}, "name") }

func sample(prompt string) request {
	return request{"sampling/createMessage", map[string]any{
		"maxTokens": 100,
		"messages":  []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": prompt}}},
	}}
}

var roots = request{"roots/list", map[string]any{}}

// ask asks the client for input and waits for all of it.
func ask(c *toolquay.Call, r requests) (map[string]json.RawMessage, error) {
	raw, err := use(c, "client.input", map[string]any{"requests": r})
	if err != nil {
		return nil, err
	}
	var answers map[string]json.RawMessage
	return answers, json.Unmarshal(raw, &answers)
}

// told asks, and shows the answers as they came.
func told(c *toolquay.Call, intro string, r requests) (toolquay.Output, error) {
	answers, err := ask(c, r)
	if err != nil {
		return toolquay.Output{}, err
	}
	text, err := json.Marshal(answers)
	return toolquay.Text(intro + string(text)), err
}

// field asks for a form of one field, and returns what was written there.
func field(c *toolquay.Call, key, field string, r request) (string, error) {
	answers, err := ask(c, requests{key: r})
	if err != nil {
		return "", err
	}
	var answer struct {
		Action  string
		Content map[string]any
	}
	if err := json.Unmarshal(answers[key], &answer); err != nil {
		return "", err
	}
	if answer.Action != "accept" {
		return "", fmt.Errorf("the form was not filled in: %s", answer.Action)
	}
	return fmt.Sprint(answer.Content[field]), nil
}

func greets(c *toolquay.Call, _ none) (toolquay.Output, error) {
	who, err := field(c, "user_name", "name", name("What is your name?"))
	return toolquay.Text("Hello, " + who + "!"), err
}

func confirms(c *toolquay.Call, _ none) (toolquay.Output, error) {
	ok, err := field(c, "confirm", "ok", form("Please confirm", fields{"ok": {"type": "boolean"}}, "ok"))
	return toolquay.Text("state-ok: confirmed " + ok), err
}

func rounds(c *toolquay.Call, _ none) (toolquay.Output, error) {
	who, err := field(c, "step1", "name", name("Step 1: What is your name?"))
	if err != nil {
		return toolquay.Output{}, err
	}
	color, err := field(c, "step2", "color", form("Step 2: What is your favorite color?", fields{"color": {"type": "string"}}, "color"))
	return toolquay.Text(who + " likes " + color), err
}

// asksWhatItCan asks for every kind of input that the client can give.
func asksWhatItCan(c *toolquay.Call, _ none) (toolquay.Output, error) {
	raw, err := use(c, "client.can", map[string]any{})
	if err != nil {
		return toolquay.Output{}, err
	}
	var can struct{ Elicitation, Sampling, Roots bool }
	if err := json.Unmarshal(raw, &can); err != nil {
		return toolquay.Output{}, err
	}
	asked := requests{}
	if can.Elicitation {
		asked["user_name"] = name("What is your name?")
	}
	if can.Sampling {
		asked["greeting"] = sample("Generate a short greeting")
	}
	if can.Roots {
		asked["client_roots"] = roots
	}
	if len(asked) == 0 {
		return toolquay.Text("The client can give no input."), nil
	}
	return told(c, "Answered: ", asked)
}

var defaults = fields{
	"name":     {"type": "string", "description": "User name", "default": "John Doe"},
	"age":      {"type": "integer", "description": "User age", "default": 30},
	"score":    {"type": "number", "description": "User score", "default": 95.5},
	"status":   {"type": "string", "description": "User status", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
	"verified": {"type": "boolean", "description": "Verification status", "default": true},
}

var (
	options = []string{"option1", "option2", "option3"}
	titled  = []map[string]string{
		{"const": "value1", "title": "First Option"},
		{"const": "value2", "title": "Second Option"},
		{"const": "value3", "title": "Third Option"},
	}
)

var enums = fields{
	"untitledSingle": {"type": "string", "enum": options},
	"titledSingle":   {"type": "string", "oneOf": titled},
	"legacyEnum":     {"type": "string", "enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"Option One", "Option Two", "Option Three"}},
	"untitledMulti":  {"type": "array", "minItems": 1, "maxItems": 3, "items": map[string]any{"type": "string", "enum": options}},
	"titledMulti":    {"type": "array", "minItems": 1, "maxItems": 3, "items": map[string]any{"anyOf": titled}},
}
