package host

import (
	"context"

	"github.com/toolquay/toolquay/abi"
)

// OfferMCP gives a host tools as an MCP server would bring them, which no manifest
// may claim to be. It must be called before the host has sessions.
func OfferMCP(h *Host, contracts ...abi.Tool) {
	for _, c := range contracts {
		named := c
		named.Name = "Named" // one that a manifest may have
		n := NewTool(named, func(context.Context, map[string]any) (string, error) { return c.Name, nil })
		t, err := n.compile()
		if err != nil {
			panic(err)
		}
		*t.Contract() = c
		if err := h.natives.Add(t); err != nil {
			panic(err)
		}
	}
}
