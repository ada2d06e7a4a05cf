package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolList is what the client of a session is offered.
type toolList struct {
	session *clientSession

	mu      sync.Mutex
	offered map[string]string // the definition of each tool by its name
	times   int               // how often the list was made
	made    time.Time         // when it was made last
}

// refresh takes up the tools that the host's session now offers. Clients are told of a change.
func (l *toolList) refresh() error {
	l.mu.Lock()
	defer l.mu.Unlock() // from here on, or an older list could take the place of a newer one
	definitions, err := l.session.definitions()
	if err != nil {
		return err
	}
	next := make(map[string]string, len(definitions))
	changed := false
	for _, d := range definitions {
		tool, err := toolOf(d)
		if err != nil {
			return err
		}
		next[tool.Name] = string(d)
		if l.offered[tool.Name] != string(d) {
			changed = true
			l.session.sdk.AddTool(tool, l.session.call)
		}
	}
	for name := range l.offered {
		if _, still := next[name]; !still {
			changed = true
			l.session.sdk.RemoveTools(name)
		}
	}
	if changed {
		l.times++
		l.made = time.Now()
	}
	l.offered = next
	return nil
}

// justMade is longer than the SDK takes to tell of a list that was made.
const justMade = time.Second

// unnecessary is a middleware that keeps the SDK from telling a client of the list that it
// just got, the first.
func (l *toolList) unnecessary(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method == "notifications/tools/list_changed" {
			l.mu.Lock()
			first := l.times < 2 && time.Since(l.made) < justMade
			l.mu.Unlock()
			if first {
				return nil, nil //nolint:nilnil // a notification has no result
			}
		}
		return next(ctx, method, req)
	}
}

// toolOf is a tool as the SDK has it. Its schemas stay as they are.
func toolOf(definition json.RawMessage) (*mcp.Tool, error) {
	var t struct {
		mcp.Tool
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
	}
	if err := json.Unmarshal(definition, &t); err != nil {
		return nil, fmt.Errorf("the definition of a tool: %w", err)
	}
	tool := t.Tool
	tool.InputSchema = t.InputSchema
	if t.OutputSchema != nil {
		tool.OutputSchema = schemaWithText(t.OutputSchema)
	}
	return &tool, nil
}

// initializedAgain is a middleware that answers a client which initializes a pipe a second
// time, as some do that keep a process alive, with what it was told the first time. The SDK
// refuses that.
func initializedAgain() mcp.Middleware {
	var told mcp.Result
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "initialize" {
				return next(ctx, method, req)
			}
			if told != nil { // the SDK reads no further until this is answered
				return told, nil
			}
			result, err := next(ctx, method, req)
			if err == nil {
				told = result
			}
			return result, err
		}
	}
}
