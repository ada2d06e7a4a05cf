package main

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host/mcp/servers"
)

// examineServers tells which MCP servers the settings name, and what keeps one from being
// started. It starts none.
func examineServers(a *app, d *diagnosis, s *setup) {
	if s.loaded == nil {
		return // the settings could not be read
	}
	for i := range s.loaded.Servers {
		if l := &s.loaded.Servers[i]; l.Enabled.Set && !l.Enabled.Value {
			d.add("mcp", fine, ui.Line(fmt.Sprintf("%s (%s): switched off (%s)", l.Name, l.Source, l.Enabled.Source)))
		}
	}
	for _, c := range a.serversOf(s, s.loaded) {
		text := ui.Line(c.Name + " (" + c.Source.String() + "): " + serverPlace(&c))
		switch {
		case c.Problem != nil:
			d.add("mcp", wrong, text+": "+ui.Line(c.Problem.Error()))
		default:
			d.add("mcp", fine, text+"; toolquay mcp doctor --server "+c.Name+" starts it")
		}
	}
}

// serverPlace is what is started, or where. What variables hold is not shown: arguments and
// queries may be secrets.
func serverPlace(c *servers.Config) string {
	if len(c.Command) > 0 {
		return "starts " + c.Command[0]
	}
	place, _, _ := strings.Cut(c.URL, "?")
	return "at " + place
}
