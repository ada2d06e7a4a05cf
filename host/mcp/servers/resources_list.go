package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
)

// listTime is how long a server may take to list its resources.
const listTime = 30 * time.Second

// listed is what ListMcpResources answers.
type listed struct {
	Resources []resource `json:"resources"`
	Templates []resource `json:"templates,omitempty"`
	Failed    []failed   `json:"failed,omitempty"`
}

// failed is a server that did not answer.
type failed struct {
	Server string `json:"server"`
	Error  string `json:"error"`
}

// listTool is the tool ListMcpResources.
func (s *Set) listTool() host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{
			Name: "ListMcpResources", Summary: "List the resources of MCP servers",
			Description: `Lists what the connected MCP servers have to read: files, records, documents, each with a URI.

Without server it lists those of all servers, with it those of one. Templates are URIs with parts in braces to fill in. ReadMcpResource reads a resource by its server and URI.`,
			InputSchema: `{"type":"object","additionalProperties":false,"properties":{"server":{"type":"string","description":"The name of one server"}}}`,
			OutputSchema: `{"type":"object","required":["resources"],"properties":{
				"resources":{"type":"array","items":{"type":"object","required":["uri","name","server"],"properties":{
					"uri":{"type":"string"},"name":{"type":"string"},"mimeType":{"type":"string"},"description":{"type":"string"},"server":{"type":"string"}}}},
				"templates":{"type":"array","items":{"type":"object","required":["uriTemplate","name","server"],"properties":{
					"uriTemplate":{"type":"string"},"name":{"type":"string"},"mimeType":{"type":"string"},"description":{"type":"string"},"server":{"type":"string"}}}},
				"failed":{"type":"array","items":{"type":"object","required":["server","error"],"properties":{"server":{"type":"string"},"error":{"type":"string"}}}}}}`,
			ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue, Defer: true,
			SearchHint: "mcp server resources list documents records templates", Activity: "search", Title: "server",
			Lines: abi.Lines{Use: "[of {server}]", Result: "{result.resources|resource}[, {result.templates|template}][, {result.failed|server|servers} failed]", Rejection: "not listed: {error}"},
		},
		Run: s.listResources,
	}
}

// listResources lists the resources of one server, or of all.
func (s *Set) listResources(ctx context.Context, hc *host.Call) (abi.ToolResult, error) {
	var in struct{ Server string }
	if err := json.Unmarshal(hc.Input, &in); err != nil {
		return abi.ToolResult{}, abi.Errorf(abi.CodeInvalidInput, "the input of ListMcpResources: %w", err)
	}
	list := s.withResources(hc.Policy)
	if in.Server != "" {
		one, err := s.find(in.Server)
		if err != nil {
			return abi.ToolResult{}, err
		}
		if one.denied(hc.Policy) {
			return abi.ToolResult{}, abi.Errorf(abi.CodeDenied, "a deny rule binds all that the MCP server %s has", in.Server)
		}
		list = []*server{one}
	}
	return listing(list, s.inventories(ctx, hc, list)), nil
}

// answered is what a server answered, or why it did not.
type answered struct {
	*inventory
	err error
}

// inventories asks several servers, side by side.
func (s *Set) inventories(ctx context.Context, hc *host.Call, list []*server) []answered {
	answers := make([]answered, len(list))
	var asking sync.WaitGroup
	for i, one := range list {
		asking.Go(func() {
			inv, err := twice(func() (*inventory, error) { return one.inventory(ctx, hc) })
			answers[i] = answered{inv, err}
		})
	}
	asking.Wait()
	return answers
}

// listing is the result of a list.
func listing(list []*server, answers []answered) abi.ToolResult {
	out, text := listed{Resources: []resource{}}, strings.Builder{}
	for i, a := range answers {
		name := list[i].config.Name
		if a.err != nil {
			why := visible.Short(a.err.Error(), maxProblem)
			out.Failed = append(out.Failed, failed{name, why})
			fmt.Fprintf(&text, "The MCP server %s could not list its resources: %s\n", name, why)
			continue
		}
		out.Resources, out.Templates = append(out.Resources, a.resources...), append(out.Templates, a.templates...)
		if len(a.resources)+len(a.templates) == 0 {
			fmt.Fprintf(&text, "The MCP server %s has no resources now.\n", name)
		}
		section(&text, "Resources of the MCP server "+name+":", a.resources)
		section(&text, "Templates of the MCP server "+name+", to be filled in:", a.templates)
		if a.left > 0 {
			fmt.Fprintf(&text, "%d more of the MCP server %s were left out: at most %d are listed, with URIs of at most %d bytes.\n", a.left, name, maxResources, maxURI)
		}
	}
	if len(list) == 0 {
		text.WriteString("No connected MCP server has resources that may be read.")
	}
	return abi.ToolResult{
		Content: []abi.Block{abi.TextBlock(strings.TrimSpace(text.String()))}, Structured: out.structured(),
		IsError: len(list) > 0 && len(out.Failed) == len(list),
	}
}

// structured is it as JSON, without descriptions if that is too long.
func (l *listed) structured() json.RawMessage {
	text, _ := json.Marshal(l) // plain data: it cannot fail
	if len(text) <= maxStructured {
		return text
	}
	for _, list := range [][]resource{l.Resources, l.Templates} {
		for i := range list {
			list[i].Description = ""
		}
	}
	text, _ = json.Marshal(l)
	return text
}

// section writes a line for each resource.
func section(text *strings.Builder, heading string, list []resource) {
	if len(list) == 0 {
		return
	}
	text.WriteString(heading + "\n")
	for _, r := range list {
		fmt.Fprintf(text, "- %s (%s", visible.Line(r.address()), r.Name)
		if r.MIMEType != "" {
			text.WriteString(", " + r.MIMEType)
		}
		text.WriteString(")")
		if r.Description != "" {
			text.WriteString(": " + r.Description)
		}
		text.WriteString("\n")
	}
}
