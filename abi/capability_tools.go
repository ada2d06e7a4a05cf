package abi

// CapToolsList lists the tools whose definitions a model was not given. It takes
// no arguments. The answer's head is [ToolsOK]; its body a JSON array of
// [DeferredTool], in the order in which tools are offered.
const CapToolsList = "tools.list"

// ToolsOK is the answer to tools.list.
type ToolsOK struct {
	// Count is how many tools the body lists.
	Count int `json:"count"`
	// Ready are the names of the other tools that are offered, which can be called
	// without being looked for.
	Ready []string `json:"ready,omitempty"`
	// Pending are the names of the MCP servers that are still connecting, whose tools
	// are in neither list yet.
	Pending []string `json:"pending,omitempty"`
}

// DeferredTool is a tool that is offered by its name alone. A result that refers
// to it (see [BlockToolReference]) gives the model its definition.
type DeferredTool struct {
	Name string `json:"name"`
	// Hint is the manifest's search_hint.
	Hint string `json:"hint,omitempty"`
	// Description is the full text for the model.
	Description string `json:"description,omitempty"`
	// MCP says that the tool is one of an MCP server.
	MCP bool `json:"mcp,omitempty"`
}
