// Package tool has the one shape in which a host calls tools: those of plugins and those of
// the embedder. It knows no host, session or call.
package tool

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// Tool is what the pipeline calls: a [Plugin] or a [*Native].
type Tool interface {
	// Contract describes the tool. It must not be changed.
	Contract() *abi.Tool
	// Definition is the hash of the contract, which approvals are bound to.
	Definition() [sha256.Size]byte
	// Source says who made the tool.
	Source() Source
	// Server is whose tool it is, by a call's input; nil is any.
	Server(input json.RawMessage) Server
	// Available returns why the tool cannot be called now, or nil.
	Available() error
	// Declares reports whether the tool may ask for a capability, and with which claim.
	Declares(capability string) (abi.CapabilityClaim, bool)
	// Validate checks an input and returns it as the tool gets it.
	Validate(input json.RawMessage) (json.RawMessage, error)
	// AcceptOutput checks the structured content of a result against the tool's output
	// schema, and returns it as it is passed on.
	AcceptOutput(structured json.RawMessage) (json.RawMessage, error)
	// Assess answers a question about an input, without effects.
	Assess(ctx context.Context, q plugins.Question) (abi.Assessment, error)
	// Call runs the tool.
	Call(ctx context.Context, c Invocation) (abi.ToolResult, error)
}

// Invocation is one call to a tool. The rest beside what a plugin gets is for the embedder's
// tools: the person whom they may ask, the session, and what its calls are judged by now.
type Invocation struct {
	plugins.Invocation

	Person  capability.Person
	Session string
	Policy  *permissions.Policy
	// Keep writes a file into the session's directory, and returns its path.
	Keep func(name string, content []byte) (string, error)
}

// Server is the MCP server that a tool is of, and that server's own name for the tool. The zero
// value is none.
type Server struct{ Name, Tool string }

var _ Tool = Plugin{}

// Source says who made a tool.
type Source struct {
	// Plugin is the plugin's name; empty for the embedder's own tools.
	Plugin string
	// Trusted says that the tool is built in, or the embedder's own and no server's.
	Trusted bool
}

// Plugin is a tool of a plugin.
type Plugin struct{ *plugins.Tool }

// Contract is the tool's entry in the manifest.
func (t Plugin) Contract() *abi.Tool { return t.Tool.Tool }

// Source names the plugin. Those that are built in are trusted.
func (t Plugin) Source() Source {
	return Source{Plugin: t.Plugin.Name, Trusted: t.Plugin.Origin == plugins.OriginBuiltin}
}

// Server returns none: no plugin speaks for a server.
func (t Plugin) Server(json.RawMessage) Server { return Server{} }

// Validate checks an input against the tool's schema.
func (t Plugin) Validate(input json.RawMessage) (json.RawMessage, error) { return t.Accept(input) }

// Call runs the tool.
func (t Plugin) Call(ctx context.Context, c Invocation) (abi.ToolResult, error) {
	return t.Tool.Call(ctx, c.Invocation)
}

// Declares looks a capability up in the manifest.
func (t Plugin) Declares(capability string) (abi.CapabilityClaim, bool) {
	return t.Plugin.Declares(t.Contract(), capability)
}

// BuiltIn reports whether a tool comes with the host.
func BuiltIn(t Tool) bool {
	source := t.Source()
	return source.Trusted && source.Plugin != ""
}

// BuiltInFor reports whether a tool comes with the host and may ask for a capability.
func BuiltInFor(t Tool, capability string) bool {
	_, declared := t.Declares(capability)
	return declared && BuiltIn(t)
}
