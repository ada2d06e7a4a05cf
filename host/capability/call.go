package capability

import (
	"log/slog"

	"github.com/toolquay/toolquay/permissions"
)

// Call names the tool call that a request is made for.
type Call struct {
	// ID is the call's, and Tool the name of its tool.
	ID, Tool string
	// Plugin is the one that the tool is of; empty for those in the box and the
	// embedder's own.
	Plugin string
	// Server is the MCP server that the tool is of; empty for tools of no server.
	Server string
	// Session and Turn are those that the call belongs to, and Caller says who makes it.
	Session, Turn string
	permissions.Caller
}

// Logger returns a logger whose lines say which call they are about, and who makes it.
func (c *Call) Logger(l *slog.Logger) *slog.Logger {
	attrs := []any{"session", c.Session, "turn", c.Turn, "call", c.ID, "tool", c.Tool, "agent", c.Agent}
	if c.Server != "" {
		attrs = append(attrs, "server", c.Server)
	}
	if c.Team != "" {
		attrs = append(attrs, "team", c.Team)
	}
	attrs = append(attrs, "chain", c.Chain)
	if c.Depth > 0 {
		attrs = append(attrs, "parent", c.Parent, "depth", c.Depth)
	}
	return l.With(attrs...)
}
