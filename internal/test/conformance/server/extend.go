package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// configure adds completions, and what the older revision needs for logs and subscriptions.
func configure(o *sdk.ServerOptions) {
	o.CompletionHandler = func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
		return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
	}
	o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
	o.Capabilities.Logging = &sdk.LoggingCapabilities{}
	o.Capabilities.Resources.Subscribe = true
	o.Capabilities.Prompts = &sdk.PromptCapabilities{ListChanged: true}
}

// extend adds what the suite asks for beside tools: resources and prompts.
func (e *embedder) extend(s *sdk.Server) {
	s.AddReceivingMiddleware(e.remember(s))
	addResources(s)
	addPrompts(s)
}

// requestKey is where the context of a call carries the request that began it.
type requestKey struct{}

// remember is a middleware that keeps the server, and the session of a request, for the
// capabilities.
func (e *embedder) remember(s *sdk.Server) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			e.mu.Lock()
			e.lists[s] = struct{}{}
			e.mu.Unlock()
			return next(context.WithValue(ctx, requestKey{}, origin{ctx, req}), method, req)
		}
	}
}

// origin is the request of a call, and its context: what is sent by that takes the way of the
// answer.
type origin struct {
	ctx context.Context
	req sdk.Request
}

// logTo sends a log message to the client of a call.
func logTo(ctx context.Context, message string) error {
	o, ok := ctx.Value(requestKey{}).(origin)
	if !ok {
		return nil
	}
	session, ok := o.req.GetSession().(*sdk.ServerSession)
	if !ok {
		return nil
	}
	return session.Log(o.ctx, &sdk.LoggingMessageParams{Level: "info", Data: message}) //nolint:contextcheck // by the context of the request
}

// change changes a list of what clients see.
func (p plan) change() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.lists {
		if p.List == "prompts" {
			s.AddPrompt(&sdk.Prompt{Name: "transient", Description: "Changes the list of prompts by being there"}, simplePrompt("transient"))
			continue
		}
		s.AddTool(&sdk.Tool{Name: "transient", Description: "Changes the list of tools by being there.", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
	}
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="

func image() []byte {
	data, _ := base64.StdEncoding.DecodeString(pixel) // it is ours
	return data
}

func addResources(s *sdk.Server) {
	s.AddResource(&sdk.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain"}, read("text/plain", "This is the content of the static text resource."))
	s.AddResource(&sdk.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/png"}, read("image/png", ""))
	s.AddResource(&sdk.Resource{Name: "watched-resource", URI: "test://watched-resource", MIMEType: "text/plain"}, read("text/plain", "Watched resource content"))
	s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id, _, _ := strings.Cut(strings.TrimPrefix(req.Params.URI, "test://template/"), "/")
			return read("application/json", fmt.Sprintf(`{"id": %q, "templateTest": true, "data": "Data for ID: %s"}`, id, id))(ctx, req)
		})
}

// read is a resource of a text, or without one of an image.
func read(mediaType, text string) sdk.ResourceHandler {
	return func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		contents := &sdk.ResourceContents{URI: req.Params.URI, MIMEType: mediaType, Text: text}
		if text == "" {
			contents.Blob = image()
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{contents}}, nil
	}
}

func addPrompts(s *sdk.Server) {
	s.AddPrompt(&sdk.Prompt{Name: "test_simple_prompt", Description: "Says something"}, simplePrompt("This is a simple prompt for testing."))
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_arguments", Description: "Says its arguments", Arguments: []*sdk.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			a := req.Params.Arguments
			return prompt(&sdk.TextContent{Text: fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])}), nil
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_embedded_resource", Description: "Has a resource inside", Arguments: []*sdk.PromptArgument{{Name: "resourceUri", Required: true}}},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return prompt(
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: req.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}},
				&sdk.TextContent{Text: "Please process the embedded resource above."},
			), nil
		})
	s.AddPrompt(&sdk.Prompt{Name: "test_prompt_with_image", Description: "Has an image inside"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return prompt(&sdk.ImageContent{Data: image(), MIMEType: "image/png"}, &sdk.TextContent{Text: "Please analyze the image above."}), nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Asks before it says anything"}, askingPrompt)
}

func simplePrompt(text string) sdk.PromptHandler {
	return func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return prompt(&sdk.TextContent{Text: text}), nil
	}
}

func prompt(parts ...sdk.Content) *sdk.GetPromptResult {
	r := &sdk.GetPromptResult{}
	for _, part := range parts {
		r.Messages = append(r.Messages, &sdk.PromptMessage{Role: "user", Content: part})
	}
	return r
}

// askingPrompt asks for a context before it answers.
func askingPrompt(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	answer, ok := req.Params.InputResponses["user_context"].(*sdk.ElicitResult)
	if ok && answer.Action == "accept" {
		return prompt(&sdk.TextContent{Text: fmt.Sprintf("Context: %v", answer.Content["context"])}), nil
	}
	return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": &sdk.ElicitParams{
		Message: "Please provide context for the prompt",
		RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"context": map[string]any{"type": "string"}}, "required": []string{"context"},
		},
	}}}, nil
}
