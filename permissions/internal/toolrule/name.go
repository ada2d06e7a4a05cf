// Package toolrule compares the tool of a rule with the names of tools, and rules on fields
// with the input of calls.
package toolrule

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/glob"
)

// maxToolName is the longest tool name a rule may have, in bytes.
const maxToolName = 256

const mcpPrefix = "mcp__"

// Name is the tool of a rule. It matches whole names, and the case of letters counts.
type Name struct {
	exact string
	// server is "mcp__s__" for a rule on a whole MCP server. With strict the rest of the
	// name must not look like a part of a longer server name.
	server string
	strict bool
	glob   *glob.Segment
	// mcp is the text after "mcp__", mcpServer and mcpTool are its parts. They are
	// compared with the server and tool on record.
	mcp, mcpServer, mcpTool string
}

// ParseName reads the tool of a rule. In an allow a star may stand only after
// a literal MCP server.
func ParseName(name string, allow bool) (Name, error) {
	if err := checkName(name); err != nil {
		return Name{}, err
	}
	server, tool, isMCP := cutMCP(name)
	if isMCP && (server == "" || strings.HasSuffix(name, "__")) {
		return Name{}, errors.New("a name is missing after mcp__ or the server; write mcp__server or mcp__server__tool")
	}
	m, err := readName(name, allow, server, tool, isMCP)
	if isMCP && server != "*" {
		m.mcp, m.mcpServer, m.mcpTool = name[len(mcpPrefix):], server, tool
	}
	return m, err
}

func readName(name string, allow bool, server, tool string, isMCP bool) (Name, error) {
	if !allow {
		return strictName(name, isMCP)
	}
	if !strings.Contains(name, "*") {
		if isMCP && tool == "" {
			return Name{server: name + "__", strict: true}, nil
		}
		return Name{exact: name}, nil
	}
	if !isMCP || tool == "" || strings.Contains(server, "*") {
		return Name{}, errors.New("an allow rule may have a * only after a literal MCP server, as in mcp__server__*")
	}
	if ambiguous(tool) {
		return Name{}, errors.New("it cannot be told where the server's name ends; name the tools one by one")
	}
	glob, err := glob.Parse(tool)
	return Name{server: mcpPrefix + server + "__", strict: true, glob: oneName(glob)}, err
}

// strictName reads the tool of a deny or ask rule, which matches in every reading.
func strictName(name string, isMCP bool) (Name, error) {
	if strings.Contains(name, "*") {
		glob, err := glob.Parse(name)
		return Name{glob: oneName(glob)}, err
	}
	m := Name{exact: name}
	if isMCP {
		m.server = name + "__"
	}
	return m, nil
}

// oneName turns "**", which parses as many path components, into "*".
func oneName(s glob.Segment) *glob.Segment {
	if s.Deep {
		s = glob.Star
	}
	return &s
}

func checkName(name string) error {
	if name == "" {
		return errors.New("no tool before the parenthesis")
	}
	if len(name) > maxToolName {
		return fmt.Errorf("a tool name of %d bytes; at most %d are read", len(name), maxToolName)
	}
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '*'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' && (c != '/' || !strings.HasPrefix(name, mcpPrefix))) {
			return fmt.Errorf("%q cannot be a tool's name", name)
		}
	}
	return nil
}

// cutMCP splits mcp__server__tool.
func cutMCP(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, mcpPrefix)
	if !ok || rest == "*" {
		return rest, "", ok
	}
	server, tool, _ = strings.Cut(rest, "__")
	return server, tool, true
}

// ambiguous reports whether a tool's name after "mcp__s__" could also be read
// as the rest of a longer server name.
func ambiguous(tool string) bool { return strings.HasPrefix(tool, "_") || strings.Contains(tool, "__") }

// IsMCP reports whether the rule names a tool of an MCP server.
func (m *Name) IsMCP() bool { return m.mcp != "" }

// Match reports whether the rule names a tool.
func (m *Name) Match(name string) bool {
	if m.exact != "" && name == m.exact {
		return true
	}
	if m.server == "" {
		return m.glob != nil && m.glob.Match(name, false)
	}
	tool, ok := strings.CutPrefix(name, m.server)
	if !ok || tool == "" || m.strict && ambiguous(tool) {
		return false
	}
	return m.glob == nil || m.glob.Match(tool, false)
}

// Grants compares an allow with the server and tool on record, and with the whole name by which
// the model calls the tool. The rule's server ends at the first "__", so that no other reading
// of it grants anything. A tool of the host's that passes calls on to servers, such as
// ReadMcpResource, is granted by its own name too.
func (m *Name) Grants(name, server, tool string) bool {
	if m.exact == name && (m.mcpServer == server || !strings.HasPrefix(name, mcpPrefix)) {
		return true
	}
	if m.mcp == "" || m.mcpServer != server {
		return false
	}
	if m.glob != nil {
		return m.glob.Match(tool, false)
	}
	return m.mcpTool == "" || m.mcpTool == tool
}

// HoldsBack compares a deny or ask rule with the server and tool on record, and with the
// whole name by which the model calls the tool.
func (m *Name) HoldsBack(name, server, tool string) bool {
	if m.exact == name || m.mcp != "" && m.mcp == server {
		return true
	}
	if rest, ok := strings.CutPrefix(m.mcp, server); ok && m.glob == nil {
		if rest, ok = strings.CutPrefix(rest, "__"); ok && rest == tool {
			return true
		}
	}
	return m.glob != nil && (m.glob.Match(name, false) || m.glob.Match(mcpPrefix+server+"__"+tool, false))
}
