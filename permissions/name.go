package permissions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/glob"
)

// maxToolName is the longest tool name a rule may have, in bytes.
const maxToolName = 256

const mcpPrefix = "mcp__"

// nameMatch matches a tool's name, whole and case-sensitive.
type nameMatch struct {
	exact string
	// server is "mcp__s__" for a rule on a whole MCP server. Where strict is
	// set, what follows must not read as a part of a longer server name.
	server string
	strict bool
	glob   *glob.Segment
	// mcp is what stands behind "mcp__"; mcpServer and mcpTool are its parts,
	// for tools whose server is on record.
	mcp, mcpServer, mcpTool string
}

// parseName reads the tool of a rule. In an allow a star may stand only after
// a literal MCP server.
func parseName(name string, v Verdict) (nameMatch, error) {
	if err := checkName(name); err != nil {
		return nameMatch{}, err
	}
	server, tool, isMCP := cutMCP(name)
	if isMCP && (server == "" || strings.HasSuffix(name, "__")) {
		return nameMatch{}, errors.New("a name is missing after mcp__ or the server; write mcp__server or mcp__server__tool")
	}
	m, err := readName(name, v, server, tool, isMCP)
	if isMCP && server != "*" {
		m.mcp, m.mcpServer, m.mcpTool = name[len(mcpPrefix):], server, tool
	}
	return m, err
}

func readName(name string, v Verdict, server, tool string, isMCP bool) (nameMatch, error) {
	if v != Allow {
		return strictName(name, isMCP)
	}
	if !strings.Contains(name, "*") {
		if isMCP && tool == "" {
			return nameMatch{server: name + "__", strict: true}, nil
		}
		return nameMatch{exact: name}, nil
	}
	if !isMCP || tool == "" || strings.Contains(server, "*") {
		return nameMatch{}, errors.New("an allow rule may have a * only after a literal MCP server, as in mcp__server__*")
	}
	if ambiguous(tool) {
		return nameMatch{}, errors.New("it cannot be told where the server's name ends; name the tools one by one")
	}
	glob, err := glob.Parse(tool)
	return nameMatch{server: mcpPrefix + server + "__", strict: true, glob: oneName(glob)}, err
}

// strictName makes the match of a deny or ask rule, which takes every reading.
func strictName(name string, isMCP bool) (nameMatch, error) {
	if strings.Contains(name, "*") {
		glob, err := glob.Parse(name)
		return nameMatch{glob: oneName(glob)}, err
	}
	m := nameMatch{exact: name}
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
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '_' && c != '-' && c != '.') {
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

func (m *nameMatch) match(name string) bool {
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

// names reports whether the rule's name is that of the request's tool.
func (r *Rule) names(q *Request) bool {
	switch {
	case q.Origin.Server != "" && r.Verdict == Allow:
		return r.name.grants(q.Origin.Server, q.Origin.Tool)
	case q.Origin.Server != "":
		return r.name.holdsBack(q)
	case r.Verdict == Allow && q.Origin.Plugin != "" && r.name.mcp != "":
		return false // a plugin's tool that calls itself a server's
	}
	return r.name.match(q.Tool) || slices.ContainsFunc(q.Aliases, r.name.match)
}

// grants compares an allow with the server and tool on record. The rule's server
// ends at the first "__", so that no other reading of it grants anything.
func (m *nameMatch) grants(server, tool string) bool {
	if m.mcp == "" || m.mcpServer != server {
		return false
	}
	if m.glob != nil {
		return m.glob.Match(tool, false)
	}
	return m.mcpTool == "" || m.mcpTool == tool
}

// holdsBack compares a deny or ask with the server and tool on record, and with
// the whole name by which the model calls it.
func (m *nameMatch) holdsBack(q *Request) bool {
	server, tool := q.Origin.Server, q.Origin.Tool
	if m.exact == q.Tool || m.mcp != "" && m.mcp == server {
		return true
	}
	if rest, ok := strings.CutPrefix(m.mcp, server); ok && m.glob == nil {
		if rest, ok = strings.CutPrefix(rest, "__"); ok && rest == tool {
			return true
		}
	}
	return m.glob != nil && (m.glob.Match(q.Tool, false) || m.glob.Match(mcpPrefix+server+"__"+tool, false))
}
