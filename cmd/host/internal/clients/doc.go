// Package clients knows the agents that start MCP servers: which file each reads its servers
// from, how an entry is written there, and which tools each would drop.
//
// A file is changed in place. What is not the entry's stays byte for byte: comments, order,
// layout, line endings. The outcome is parsed before it is written, and must differ from
// before in the entry alone.
//
// The package edits files itself although some clients have a command of their own for it
// ("claude mcp add", "codex mcp add", "gemini mcp add"). That is one way for all of them,
// works where the client's program is not on the path, shows what changes before it does, and
// lets uninstall find what install wrote.
package clients
