package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// Options configure a [Server].
type Options struct {
	// Session is what every call is run in. It is the caller's to close, after the server.
	Session *host.Session
	// Info names the server to clients.
	Info mcp.Implementation
	// Instructions are for the model of a client; empty is none.
	Instructions string
	// Logger takes what an operator should know; nil discards it.
	Logger *slog.Logger
}

// Server offers the tools of one session to a client. It is safe for concurrent use.
type Server struct {
	options Options
	sdk     *mcp.Server
	calls   atomic.Int64

	mu      sync.Mutex
	offered map[string]string // the definition of each tool by its name
}

// New makes a server. The error is one of the session's tools.
func New(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{options: o, offered: make(map[string]string)}
	s.sdk = mcp.NewServer(&o.Info, &mcp.ServerOptions{
		Instructions: o.Instructions,
		Logger:       o.Logger,
		PageSize:     maxTools,
		// Without it the SDK says that the server sends logs.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	return s, s.Refresh()
}

// maxTools is how many tools a page of the list has: clients rarely ask for a second one.
const maxTools = 1000

// Refresh takes up the tools that the session now offers, and tells clients of a change. It is
// to be called when the host tells of one ([host.EventTools]).
func (s *Server) Refresh() error {
	text, err := s.options.Session.Definitions(host.FormatMCP)
	if err != nil {
		return err
	}
	var definitions []json.RawMessage
	if err := json.Unmarshal(text, &definitions); err != nil {
		return fmt.Errorf("definitions of tools: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := make(map[string]bool, len(s.offered))
	for name := range s.offered {
		gone[name] = true
	}
	for _, d := range definitions {
		tool, err := toolOf(d)
		if err != nil {
			return err
		}
		delete(gone, tool.Name)
		if s.offered[tool.Name] == string(d) {
			continue
		}
		s.offered[tool.Name] = string(d)
		s.sdk.AddTool(tool, s.call)
	}
	for name := range gone {
		delete(s.offered, name)
		s.sdk.RemoveTools(name)
	}
	return nil
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
		tool.OutputSchema = t.OutputSchema
	}
	return &tool, nil
}

// Serve serves one client until it leaves or ctx ends.
func (s *Server) Serve(ctx context.Context, t mcp.Transport) error { return s.sdk.Run(ctx, t) }

// call runs a call, beside others of the client.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	use := abi.ToolUse{ID: "m" + strconv.FormatInt(s.calls.Add(1), 10), Name: req.Params.Name, Input: req.Params.Arguments}
	p := progressOf(req)
	var result *abi.ToolResult
	for e := range s.options.Session.Call(ctx, use) {
		switch e.Kind {
		case host.EventProgress:
			p.tell(ctx, e.Progress)
		case host.EventResult, host.EventReplaced:
			result = e.Result
		}
	}
	return resultOf(result), nil
}
