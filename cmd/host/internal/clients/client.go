package clients

import (
	"fmt"
	"slices"
	"strings"
)

// Server is a server as clients start it: a program and its arguments.
type Server struct {
	// Name is what the client calls it; it is part of the names of its tools.
	Name    string
	Command string
	Args    []string
}

// Client is an agent that starts MCP servers.
type Client struct {
	// Name is for command lines, and Title for people.
	Name, Title string
	// Then is what is left to do once the server stands in the file.
	Then string
	// Limits are what the client makes of tools.
	Limits Limits

	user, project func(Places) string
	// keys lead to the object that the servers stand in.
	keys     []string
	language language
	fields   func(Server) []field
}

// field is a part of an entry.
type field struct {
	key   string
	value any
	// runs says that the field tells what runs. Others are written once, and are the
	// person's from then on.
	runs bool
}

// All lists the clients.
func All() []Client { return slices.Clone(all) }

// Find finds a client by its name.
func Find(name string) (Client, error) {
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, fmt.Errorf("there is no client %q: there are %s", name, strings.Join(Names(), ", "))
	}
	return all[i], nil
}

// Names are the names of the clients.
func Names() []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// Bundled reports that the client takes a bundle that a person opens, and no file is changed.
func (c *Client) Bundled() bool { return c.language == nil }

// CheckName refuses names of servers that clients cannot take. Hyphens are refused as Codex
// has shown such servers without tools: https://github.com/openai/codex/issues/15565.
func CheckName(name string) error {
	const longest = 32
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	}
	if name == "" || len(name) > longest || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("the name %.40q: write 1 to %d letters, digits and _", name, longest)
	}
	return nil
}

var all = []Client{
	{
		// https://code.claude.com/docs/en/mcp: servers of the scope user stand in
		// ~/.claude.json, those of the scope project in .mcp.json.
		Name: "claude-code", Title: "Claude Code",
		Then:   "Sessions that begin from now on have it; /mcp shows it.",
		Limits: claudeCode,
		user:   claudeJSON, project: inProject(".mcp.json"),
		keys: []string{"mcpServers"}, language: jsonc{}, fields: typed("stdio"),
	},
	{
		// https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md
		Name: "claude-desktop", Title: "Claude Desktop",
		Then:   "Open the file with Claude Desktop (Settings, Extensions), and choose the directory to work in.",
		Limits: claudeDesktop,
	},
	{
		// https://developers.openai.com/codex/mcp: [mcp_servers.NAME] in ~/.codex/config.toml,
		// or in .codex/config.toml of a trusted project.
		Name: "codex", Title: "Codex",
		Then:   "Sessions that begin from now on have it; /mcp shows it.",
		Limits: codex,
		user:   inHome("CODEX_HOME", ".codex", "config.toml"), project: inProject(".codex", "config.toml"),
		keys: []string{"mcp_servers"}, language: tomlText{}, fields: plain,
	},
	{
		// https://geminicli.com/docs/tools/mcp-server: mcpServers in ~/.gemini/settings.json,
		// or .gemini/settings.json of a project.
		Name: "gemini", Title: "Gemini CLI",
		Then:   "Sessions that begin from now on have it; /mcp shows it.",
		Limits: gemini,
		user:   inHome("", ".gemini", "settings.json"), project: inProject(".gemini", "settings.json"),
		keys: []string{"mcpServers"}, language: jsonc{}, fields: plain,
	},
	{
		// https://cursor.com/docs/mcp: ~/.cursor/mcp.json, or .cursor/mcp.json of a project.
		Name: "cursor", Title: "Cursor",
		Then:   "Restart Cursor; Customize, MCPs shows it.",
		Limits: cursor,
		user:   inHome("", ".cursor", "mcp.json"), project: inProject(".cursor", "mcp.json"),
		keys: []string{"mcpServers"}, language: jsonc{}, fields: typed("stdio"),
	},
	{
		// https://code.visualstudio.com/docs/agents/reference/mcp-configuration: servers in
		// mcp.json of the user's profile, or .vscode/mcp.json of a workspace.
		Name: "vscode", Title: "VS Code",
		Then:   "The command MCP: List Servers shows it, and starts it.",
		Limits: vscode,
		user:   codeUser, project: inProject(".vscode", "mcp.json"),
		keys: []string{"servers"}, language: jsonc{}, fields: typed("stdio"),
	},
	{
		// https://zed.dev/docs/ai/mcp: context_servers in the settings. The key source was
		// needed in 2025 and is passed over since.
		Name: "zed", Title: "Zed",
		Then:   "The settings of the Agent Panel show it.",
		Limits: zed,
		user:   zedSettings, project: inProject(".zed", "settings.json"),
		keys: []string{"context_servers"}, language: jsonc{}, fields: zedFields,
	},
	{
		// https://opencode.ai/docs/mcp-servers: mcp in opencode.json or opencode.jsonc. Version
		// 2 has the servers in mcp.servers, and reads this form too.
		Name: "opencode", Title: "OpenCode",
		Then:   "Restart OpenCode; opencode mcp list shows it.",
		Limits: opencode,
		user:   openCodeUser, project: openCodeProject,
		keys: []string{"mcp"}, language: jsonc{}, fields: openCodeFields,
	},
	{
		// https://goose-docs.ai/docs/guides/config-files: extensions in config.yaml. There is
		// no such file of a project.
		Name: "goose", Title: "goose",
		Then:   "Sessions that begin from now on have it.",
		Limits: goose,
		user:   gooseConfig,
		keys:   []string{"extensions"}, language: yamlText{}, fields: gooseFields,
	},
}

// plain is the usual form: the command, and the arguments by themselves.
func plain(s Server) []field {
	return []field{{"command", s.Command, true}, {"args", s.Args, true}}
}

// typed is the usual form with a type before it.
func typed(kind string) func(Server) []field {
	return func(s Server) []field { return slices.Insert(plain(s), 0, field{"type", kind, false}) }
}

func zedFields(s Server) []field {
	return append(slices.Insert(plain(s), 0, field{"source", "custom", false}), field{"env", map[string]string{}, false})
}

func openCodeFields(s Server) []field {
	return []field{
		{"type", "local", false},
		{"command", slices.Concat([]string{s.Command}, s.Args), true},
		{"enabled", true, false},
	}
}

func gooseFields(s Server) []field {
	return []field{
		{"type", "stdio", false},
		{"name", s.Name, false},
		{"enabled", true, false},
		{"cmd", s.Command, true},
		{"args", s.Args, true},
		{"envs", map[string]string{}, false},
		{"timeout", gooseTimeout, false},
	}
}

// gooseTimeout is goose's own default, in seconds; an extension needs one.
const gooseTimeout = 300
