package host

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// OfferMCP gives a host tools as an MCP server brings them.
func OfferMCP(h *Host, contracts ...abi.Tool) {
	for _, c := range contracts {
		n := NewTool(c, func(context.Context, map[string]any) (string, error) { return c.Name, nil })
		server, name, _ := strings.Cut(strings.TrimPrefix(c.Name, "mcp__"), "__")
		n.Server = func(json.RawMessage) ToolServer { return ToolServer{Name: server, Tool: name} }
		if err := h.Provide(c.Name, Provided{Tools: []NativeTool{n}}); err != nil {
			panic(err)
		}
	}
}
