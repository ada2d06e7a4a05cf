package host

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// tool is what the pipeline calls, whether it is a plugin's or the embedder's.
type tool interface {
	contract() *abi.Tool
	// definition is the hash of the contract, which approvals are bound to.
	definition() [sha256.Size]byte
	// source says who made the tool.
	source() source
	// available says why the tool cannot be called now, or nil.
	available() error
	// validate checks an input and returns it as the tool gets it.
	validate(input json.RawMessage) (json.RawMessage, error)
	assess(ctx context.Context, q plugins.Question) (abi.Assessment, error)
	call(ctx context.Context, c plugins.Invocation) (abi.ToolResult, error)
	// declares reports whether the tool may ask for a capability at all.
	declares(capability string) (abi.CapabilityClaim, bool)
}

// source says who made a tool.
type source struct {
	plugin  string
	trusted bool // built in, or the embedder's own
}

// definitionOf hashes a contract when that is first asked for.
func definitionOf(contract *abi.Tool) func() [sha256.Size]byte {
	return sync.OnceValue(func() [sha256.Size]byte {
		text, _ := json.Marshal(contract) // plain data: it cannot fail
		return sha256.Sum256(text)
	})
}

// pluginTool is a plugin's tool.
type pluginTool struct{ *plugins.Tool }

func (t pluginTool) definition() [sha256.Size]byte { return t.Definition() }

func (t pluginTool) contract() *abi.Tool { return t.Tool.Tool }

func (t pluginTool) source() source {
	return source{plugin: t.Plugin.Name, trusted: t.Plugin.Origin == plugins.OriginBuiltin}
}

func (t pluginTool) available() error { return t.Available() }

func (t pluginTool) validate(input json.RawMessage) (json.RawMessage, error) {
	return t.Accept(input)
}

func (t pluginTool) assess(ctx context.Context, q plugins.Question) (abi.Assessment, error) {
	return t.Assess(ctx, q)
}

func (t pluginTool) call(ctx context.Context, c plugins.Invocation) (abi.ToolResult, error) {
	return t.Call(ctx, c)
}

func (t pluginTool) declares(capability string) (abi.CapabilityClaim, bool) {
	return t.Plugin.Declares(t.contract(), capability)
}
