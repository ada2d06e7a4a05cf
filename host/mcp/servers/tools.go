package servers

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
)

// The bounds of what is taken from a server's list of tools.
const (
	maxTools       = 500
	maxPages       = 100
	maxDescription = 2048     // bytes, as of the built-in tools
	maxSchema      = 64 << 10 // bytes
)

// maxToolName is the longest name that all model APIs take, in bytes.
const maxToolName = 64

// definition is one tool as a server told of it.
type definition struct {
	own     string // the server's name for it
	offered string // the one that models call
	sum     string // of all that the server says of it
	told    *mcp.Tool
	native  host.NativeTool
}

// list lists the tools of a server and offers them.
func (s *server) list(ctx context.Context, c *connection) error {
	c.listed = time.Now()
	told, err := c.allTools(ctx)
	if err != nil {
		return fmt.Errorf("listing its tools: %w", visible.WithoutQuery(s.config.URL, err))
	}
	defined, faults := s.define(told)
	tools, names := make(map[string]*definition), []string{}
	for _, d := range defined {
		tools[d.offered], names = d, append(names, d.offered)
	}
	for _, fault := range faults {
		s.log.Warn("a tool of an MCP server is not offered", "problem", visible.Short(fault.Error(), maxProblem))
	}
	s.set.pins.first(&s.config, defined)
	s.mu.Lock()
	s.tools, s.status.Tools = tools, names
	s.mu.Unlock()
	s.offer()
	return nil
}

// offer offers the tools that were listed last, and a login where more than was granted is
// needed.
func (s *server) offer() {
	var p host.Provided
	s.mu.Lock()
	for _, name := range s.status.Tools {
		if d := s.tools[name]; d != nil {
			p.Tools = append(p.Tools, d.native)
			if s.config.Name == ideServer && d.own == diagnosticsTool {
				p.Edits = s.watchEdits(d)
			}
		}
	}
	p.Skills = s.prompts
	stepUp := s.stepUp
	s.mu.Unlock()
	if stepUp {
		p.Tools = append(p.Tools, s.authenticate())
	}
	s.provide(p)
}

// allTools follows the pages of the list.
func (c *connection) allTools(ctx context.Context) ([]*mcp.Tool, error) {
	if caps := c.session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, nil
	}
	var all []*mcp.Tool
	params, size := &mcp.ListToolsParams{}, 0
	for range maxPages {
		page, err := before(ctx, func() (*mcp.ListToolsResult, error) { return c.session.ListTools(ctx, params) })
		if err != nil {
			return nil, err
		}
		text, _ := json.Marshal(page.Tools) // what came as JSON can be written as such
		if size += len(text); size > maxMessage {
			return nil, fmt.Errorf("they have more than %d MiB", maxMessage>>20)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" || len(all) >= maxTools {
			break
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	if over := len(all) - maxTools; over > 0 {
		c.server.log.Warn("an MCP server has more tools than are offered", "offered", maxTools, "more", over)
		all = all[:maxTools]
	}
	return all, nil
}

// define makes the definitions of tools, in the order of their names.
func (s *server) define(told []*mcp.Tool) (defined []*definition, faults []error) {
	slices.SortStableFunc(told, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	taken := map[string]bool{s.authenticateName(): s.oauth != nil}
	last := ""
	for i, t := range told {
		if i > 0 && t.Name == last {
			faults = append(faults, fmt.Errorf("%s: the server has two tools of that name", visible.Name(t.Name)))
			continue
		}
		last = t.Name
		d := &definition{own: t.Name, offered: fitted(s.config.Name, t.Name, taken), told: t, sum: sumOf(t)}
		if taken[d.offered] {
			faults = append(faults, fmt.Errorf("%s: another tool of the server has the name %s already", visible.Name(t.Name), d.offered))
			continue
		}
		if err := s.contract(d); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", visible.Name(t.Name), err))
			continue
		}
		taken[d.offered] = true
		defined = append(defined, d)
	}
	return defined, faults
}

// fitted is the name by which a tool is offered: letters, digits, hyphens and underscores, at
// most maxToolName. Where that loses something that tells it from another one, it ends in a
// part of a hash.
func fitted(server, tool string, taken map[string]bool) string {
	name := "mcp__" + server + "__" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, tool)
	if len(name) <= maxToolName && !taken[name] && tool != "" {
		return name
	}
	const digits = 8
	sum := sha256.Sum256([]byte(tool))
	return name[:min(len(name), maxToolName-digits-1)] + "_" + hex.EncodeToString(sum[:])[:digits]
}

// sumOf is the hash of all that a server says of a tool.
func sumOf(t *mcp.Tool) string {
	text, _ := json.Marshal(t) // what came as JSON can be written as such
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// contract makes the native tool of a definition.
func (s *server) contract(d *definition) error {
	t := d.told
	input, err := schemaOf(t.InputSchema)
	if err != nil {
		return fmt.Errorf("its input schema: %w", err)
	}
	if input == "" {
		input = `{"type":"object"}`
	}
	output, err := schemaOf(t.OutputSchema)
	if err != nil {
		output = "" // then its structured content is passed on as it is
	}
	d.native = host.NativeTool{
		Contract: abi.Tool{
			Name: d.offered, Summary: summaryOf(t), Description: clean(t.Description, maxDescription),
			InputSchema: input, OutputSchema: output, Checks: true,
			Display:    visible.Short(cmp.Or(t.Title, titleOf(t.Annotations), t.Name), abi.MaxSummary/2),
			AlwaysLoad: s.config.AlwaysLoad || alwaysLoad(t),
		},
		Server: func(json.RawMessage) host.ToolServer { return host.ToolServer{Name: s.config.Name, Tool: d.own} },
		Run:    func(ctx context.Context, c *host.Call) (abi.ToolResult, error) { return s.call(ctx, c, d) },
		Assess: func(context.Context, json.RawMessage, []abi.Fact) (abi.Assessment, error) { return s.assess(d), nil },
	}
	s.annotate(&d.native.Contract, t.Annotations)
	err = d.native.Check()
	if err != nil && output != "" { // perhaps it is the output schema, without which it can be used
		d.native.Contract.OutputSchema = ""
		err = d.native.Check()
	}
	return err
}

// annotate takes over what a trusted server says of a tool.
func (s *server) annotate(contract *abi.Tool, a *mcp.ToolAnnotations) {
	if !s.config.TrustAnnotations || a == nil {
		return
	}
	if a.ReadOnlyHint {
		contract.ReadOnly, contract.ConcurrencySafe = abi.TraitTrue, abi.TraitTrue
	} else if a.DestructiveHint == nil || *a.DestructiveHint {
		contract.Destructive = abi.TraitTrue
	}
}

func titleOf(a *mcp.ToolAnnotations) string {
	if a == nil {
		return ""
	}
	return a.Title
}

// alwaysLoad reports whether a server asks that a tool be never deferred. The key is the one
// that servers in the field set.
func alwaysLoad(t *mcp.Tool) bool {
	for _, key := range []string{"anthropic/alwaysLoad", "alwaysLoad"} {
		if yes, ok := t.Meta[key].(bool); ok && yes {
			return true
		}
	}
	return false
}

// schemaOf is a schema as text; empty is none.
func schemaOf(schema any) (string, error) {
	if schema == nil {
		return "", nil
	}
	text, err := json.Marshal(schema)
	switch {
	case err != nil:
		return "", err
	case len(text) > maxSchema:
		return "", fmt.Errorf("it has %d bytes; at most %d are taken", len(text), maxSchema)
	case string(text) == "null":
		return "", nil
	case text[0] != '{':
		return "", errors.New("it is not an object")
	}
	return string(text), nil
}

// summaryOf is one line about a tool.
func summaryOf(t *mcp.Tool) string {
	line, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	return visible.Short(cmp.Or(strings.TrimSpace(line), t.Title, t.Name), abi.MaxSummary/2)
}

// clean makes a server's text fit to be shown, and no longer than most bytes.
func clean(text string, most int) string {
	const mark = "… [cut]"
	if text = visible.Text(text); len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(mark)], "") + mark
}

// assess asks a person if the definition is another one than was seen before.
func (s *server) assess(d *definition) abi.Assessment {
	was := s.set.pins.changed(&s.config, d)
	if was == "" {
		return abi.Assessment{}
	}
	return abi.Assessment{Check: &abi.Check{Verdict: "ask", Reason: was}}
}
