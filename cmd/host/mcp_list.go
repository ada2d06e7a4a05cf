package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions/settings"
)

func mcpListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the MCP servers whose tools can be used, and their state",
		Long: `List starts the MCP servers that the settings name, as a session does, waits for each
as long as its start may take, and shows what became of it: connected, needs_auth (you
have to log in), failed or disabled. A server of a project that is not trusted, or that
changed since, is withheld: toolquay trust shows it.

Toolquay mcp doctor --server NAME says what a server lacks.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listServers(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// listedServer is a server of the list.
type listedServer struct {
	Name      string   `json:"name"`
	State     string   `json:"state"`
	Transport string   `json:"transport,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	Source    string   `json:"source"`
	Problem   string   `json:"problem,omitempty"`
}

// The states of servers that are not used: withheld are those that a project brings and
// nobody was shown.
const (
	disabled = "disabled"
	withheld = "withheld"
)

func listServers(ctx context.Context, a *app, asJSON bool) error {
	o, err := a.open(ctx, func(s *setup) { s.servers, s.quietServers = true, true })
	if err != nil {
		return err
	}
	defer o.close()
	_ = o.servers.Wait(ctx) // what is pending then is said to be
	list := o.listServers()
	if asJSON {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		a.out.Printf("No MCP servers are configured; docs/mcp-servers.md shows how to add one.\n")
		return nil
	}
	rows := [][]string{{"NAME", "STATE", "TRANSPORT", "TOOLS", "PROBLEM"}}
	for _, s := range list {
		rows = append(rows, []string{s.Name, s.State, s.Transport, strconv.Itoa(len(s.Tools)), ui.Line(firstLine(s.Problem))})
	}
	a.out.Table(rows)
	return nil
}

// listServers are the servers that there are, and those that are withheld.
func (o *opened) listServers() []listedServer {
	list := []listedServer{}
	for _, status := range o.servers.Status() {
		s := listedServer{Name: status.Name, State: string(status.State), Tools: status.Tools}
		if status.Problem != nil {
			s.Problem = status.Problem.Error()
		}
		for i := range o.configs {
			if c := &o.configs[i]; c.Name == s.Name {
				s.Transport, s.Source = transport(c), c.Source.String()
			}
		}
		list = append(list, s)
	}
	for i := range o.loaded.Servers {
		s := &o.loaded.Servers[i]
		if !slices.ContainsFunc(o.configs, func(c servers.Config) bool { return c.Name == s.Name }) { // also with --no-mcp
			list = append(list, listedServer{Name: s.Name, State: disabled, Source: s.Source.String()})
		}
	}
	for _, b := range o.loaded.Withheld {
		if b.Kind == settings.BringsServer {
			list = append(list, listedServer{Name: serverName(&b), State: withheld, Source: b.Source.String(), Problem: "toolquay trust shows and trusts it"})
		}
	}
	slices.SortFunc(list, func(a, b listedServer) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// serverName is the name that a server is shown with.
func serverName(b *settings.Brought) string {
	if end := strings.IndexAny(b.Text, ",:"); end > 0 {
		return b.Text[:end]
	}
	return b.Text
}

func transport(c *servers.Config) string {
	switch {
	case len(c.Command) > 0:
		return "stdio"
	case c.SSE:
		return "sse"
	}
	return "http"
}
