package clients

// Limits are what a client makes of the tools of a server. A limit of 0 is none that is known.
type Limits struct {
	// Prefix is what stands before a tool's name where it is judged, with %s for the server's.
	Prefix string
	// Name is how long the name may be with its prefix, and Charset are the characters it may
	// have beside letters and digits. A tool beyond that is left out if Drops says so, or has a
	// name that is shortened, and its other characters replaced.
	Name    int
	Charset string
	Drops   bool
	// Description is the longest description, in bytes; the rest is cut off. It is the limit
	// of a server's instructions too.
	Description int
	// Tools is how many tools a model gets, of all servers together.
	Tools int
	// NoUnions says that a tool is left out, or its whole request refused, whose input schema
	// has oneOf, anyOf or allOf at its top.
	NoUnions bool
	// NeedItems says that a tool is left out whose input schema has an array without items.
	NeedItems bool
	// NoReferences says that the client's models may refuse $ref.
	NoReferences bool
}

// Where a client states no limits, those of the model APIs count that it reaches: names of at
// most 64 characters out of letters, digits, _ and -.
var (
	// A tool is left out whose name with its prefix is over 128 characters; descriptions and
	// instructions are cut at 2 KB: https://code.claude.com/docs/en/mcp. Unions at the top are
	// refused by the API: https://github.com/anthropics/claude-code/issues/5973.
	claudeCode    = Limits{Prefix: "mcp__%s__", Name: 128, Drops: true, Charset: "_-", Description: 2048, NoUnions: true}
	claudeDesktop = Limits{Name: 64, Drops: true, Charset: "_-"}
	// Other characters are replaced, and names over 64 end in a hash:
	// https://github.com/openai/codex, codex-rs/core/src/mcp_connection_manager.rs.
	codex = Limits{Prefix: "mcp__%s__", Name: 64, Charset: "_-"}
	// Other characters are replaced, and names over 63 shortened in the middle:
	// https://github.com/google-gemini/gemini-cli, packages/core/src/tools/mcp-tool.ts. The API
	// has refused references: https://github.com/google-gemini/gemini-cli/issues/13326.
	gemini = Limits{Prefix: "mcp_%s_", Name: 63, Charset: "_.-", NoReferences: true}
	// A tool is left out whose name with the server's has 60 characters or more:
	// https://github.com/awslabs/mcp/issues/1283. Models get the first 40 tools:
	// https://forum.cursor.com/t/mcp-server-40-tool-limit-in-cursor-is-this-frustrating-your-workflow/81627.
	cursor = Limits{Prefix: "%s:", Name: 60, Drops: true, Charset: "_-", Tools: 40}
	// Names have a prefix and at most 64 characters
	// (https://github.com/microsoft/vscode/issues/243602), a request has at most 128 tools
	// (https://code.visualstudio.com/docs/copilot/chat/chat-tools), and arrays need items
	// (https://github.com/microsoft/vscode/issues/248810).
	vscode   = Limits{Prefix: "mcp_%s_", Name: 64, Charset: "_-", Tools: 128, NeedItems: true}
	zed      = Limits{Name: 64, Drops: true, Charset: "_-"}
	opencode = Limits{Prefix: "%s_", Name: 64, Charset: "_-"}
	goose    = Limits{Prefix: "%s__", Name: 64, Drops: true, Charset: "_-"}
)
