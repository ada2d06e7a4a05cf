package main

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions/settings"
)

// serversOf are the MCP servers of settings, none where the flags say so, or where this
// process is itself a server that Toolquay has started.
func (a *app) serversOf(s *setup, loaded *settings.Loaded) []servers.Config {
	if a.flags.noMCP || os.Getenv(config.ServerVariable) != "" {
		return nil
	}
	list := config.ServersOf(s.dirs, s.project, loaded, os.LookupEnv)
	if s.onlyServer != "" {
		list = slices.DeleteFunc(list, func(c servers.Config) bool { return c.Name != s.onlyServer })
	}
	return list
}

// openServers begins to connect to the MCP servers of the settings.
func (o *opened) openServers(a *app) {
	o.configs = a.serversOf(&o.setup, o.loaded)
	logger := o.options.Observe.Logger
	if o.quietServers {
		logger = nil
	}
	o.servers = servers.Open(o.host, servers.Options{
		Servers:     o.configs,
		Credentials: config.CredentialsOf(o.dirs, o.loaded),
		Pins:        o.dirs.ServerTools(),
		Dir:         o.options.Paths.Project,
		Proxy:       o.proxy(),
		Version:     readBuild().Version,
		Logger:      logger,
	})
}

// configureServers takes up the servers of other settings. Those that are the same go on.
func (o *opened) configureServers(a *app, loaded *settings.Loaded) {
	o.configs = a.serversOf(&o.setup, loaded)
	o.servers.Configure(o.configs)
}

// proxy is the HTTP proxy of the settings, which were checked; nil is none.
func (s *setup) proxy() *url.URL {
	proxy, err := url.Parse(s.loaded.Network.Proxy.Value)
	if err != nil || proxy.Host == "" {
		return nil
	}
	return proxy
}

// awaitServers waits for the MCP servers that calls name, each no longer than its start may
// take; for all to list the resources of all. Others are not waited for: their tools come when
// they are there.
func (o *opened) awaitServers(ctx context.Context, calls ...abi.ToolUse) {
	var names []string
	for i := range calls {
		name, of := serverOf(&calls[i])
		switch {
		case of && name == "":
			_ = o.servers.Wait(ctx)
			return
		case of:
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		_ = o.servers.Wait(ctx, names...) // without them the calls say what is missing
	}
}

// serverOf is the MCP server that a call names, and whether it is of one at all. Empty is any.
func serverOf(use *abi.ToolUse) (name string, of bool) {
	switch use.Name {
	case "ListMcpResources", "ReadMcpResource":
		var in struct{ Server string }
		_ = json.Unmarshal(use.Input, &in) // a wrong input is refused later
		return in.Server, true
	}
	rest, of := strings.CutPrefix(use.Name, "mcp__")
	name, _, named := strings.Cut(rest, "__")
	return name, of && named
}
