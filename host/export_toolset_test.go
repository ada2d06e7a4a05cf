package host

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// OfferMCP gives a host tools as an MCP server would bring them, which no manifest
// may claim to be. It must be called before the host has sessions.
func OfferMCP(h *Host, contracts ...abi.Tool) {
	for _, c := range contracts {
		t := &nativeTool{NativeTool: NewTool(c, func(context.Context, map[string]any) (string, error) { return c.Name, nil })}
		t.schema, _ = plugins.CompileSchema(c.Name, c.InputSchema)
		t.hash = definitionOf(&t.Contract)
		h.tools[c.Name] = t
		h.native = append(h.native, t)
	}
}
