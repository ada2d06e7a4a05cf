package toolset

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
)

// Search is the name of the tool that finds deferred ones. Without it none is deferred.
const Search = "ToolSearch"

// mcpPrefix begins the names of the tools of MCP servers: mcp__SERVER__TOOL. Those of the
// server of an editor, whose name is ide, begin with idePrefix.
const (
	mcpPrefix = "mcp__"
	idePrefix = mcpPrefix + "ide__"
)

// Tool is what a set needs to know of a tool.
type Tool struct {
	// Tool is the tool's contract.
	*abi.Tool
	// Plugin is the name of the tool's plugin; empty for one of the embedder's.
	Plugin string
	// Manifest is that plugin's; nil for a tool of the embedder's.
	Manifest *abi.Manifest
	Origin   Origin
	// Shaped is true if the session gave the tool its input schema, of which nothing is taken
	// out.
	Shaped bool
	// Brief is a description of at most [abi.MaxSafeText] for those that take no longer one; nil if
	// the session does not describe the tool.
	Brief func() string
	// Commands is true if the tool may run commands.
	Commands bool
	// NotOffered is why the model is not offered the tool; nil if it is.
	NotOffered error
}

// Origin is who made a tool.
type Origin int

// The origins, in the order in which models are told of their tools.
const (
	OriginBuiltin Origin = iota
	OriginNative         // the embedder's
	OriginPlugin
)

// Sort puts tools into an order that depends on nothing but the tools: the built-in
// ones, the embedder's, the plugins', those of MCP servers, each by name, and last those of
// the editor's server, which comes and goes with the editor. What comes first stays the same
// when something is added after it, which keeps a model API's prompt cache valid.
func Sort(tools []Tool) {
	slices.SortFunc(tools, func(a, b Tool) int { return compare(&a, &b) })
}

func compare(a, b *Tool) int {
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), strings.Compare(a.Name, b.Name))
}

// rank is the tool's group in the order.
func (t *Tool) rank() int {
	switch {
	case strings.HasPrefix(t.Name, idePrefix):
		return int(OriginPlugin) + 2
	case isMCP(t.Tool):
		return int(OriginPlugin) + 1
	}
	return int(t.Origin)
}

// description is what the model reads of the tool.
func (t *Tool) description() string { return cmp.Or(t.Description, t.Summary) }

// isSearch reports whether it is the tool that finds others, and not a plugin's of that
// name.
func (t *Tool) isSearch() bool { return t.Name == Search && t.Origin != OriginPlugin }

func isMCP(t *abi.Tool) bool { return strings.HasPrefix(t.Name, mcpPrefix) }

// Deferrable reports whether a tool may be deferred: its contract says defer, or an MCP
// server has it, and its contract does not say always_load.
func Deferrable(t *abi.Tool) bool {
	return (t.Defer || isMCP(t)) && !t.AlwaysLoad && t.Name != Search
}

// among reports whether a tool has one of some names.
func among(names []string, t *abi.Tool) bool {
	return slices.Contains(names, t.Name) ||
		slices.ContainsFunc(t.Aliases, func(alias string) bool { return slices.Contains(names, alias) })
}
