package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/builtin"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/tool"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/direct"
)

// BuiltinTools returns the contracts of the tools that come with this package, those
// that run commands included.
func BuiltinTools() ([]*abi.Tool, error) {
	set, err := plugins.Open(plugins.Options{Sources: []plugins.Source{
		plugins.Program(plugins.OriginBuiltin, "builtin", builtin.FS()),
		plugins.Program(plugins.OriginBuiltin, "commands", builtin.Commands()),
	}})
	if err != nil {
		return nil, err
	}
	var out []*abi.Tool
	for _, p := range set.Plugins() {
		m := p.Manifest()
		if m == nil {
			return nil, fmt.Errorf("the built-in plugin %s: %w", p.Name, p.Problem())
		}
		for i := range m.Tools {
			out = append(out, &m.Tools[i])
		}
	}
	return out, nil
}

// reserved are the names of tools that the client of MCP servers brings later.
var reserved = []string{"ListMcpResources", "ReadMcpResource"}

// openPlugins finds the plugins of a host.
func openPlugins(ctx context.Context, o *Options, capabilities map[string]capability.Capability, natives *tool.Natives) (*plugins.Set, error) {
	var sources []plugins.Source
	if o.Builtins {
		sources = append(sources, plugins.Program(plugins.OriginBuiltin, "builtin", builtin.FS()))
		if o.Shell != nil {
			sources = append(sources, plugins.Program(plugins.OriginBuiltin, "commands", builtin.Commands()))
		}
	}
	var grants *plugins.Grants
	if o.Plugins.GrantsFile != "" {
		var err error
		if grants, err = plugins.OpenGrants(o.Plugins.GrantsFile); err != nil {
			return nil, err
		}
	}
	names := []string{abi.CapSessionCwd}
	for name := range capabilities {
		names = append(names, name)
	}
	slices.Sort(names)
	runners := append(slices.Clone(o.Plugins.Runners), direct.New(direct.Options{
		CacheDir: o.Storage.CacheDir, Compiler: o.Plugins.Compiler, Logger: o.Observe.Logger,
	}))
	set, err := plugins.Open(plugins.Options{
		Sources:      append(sources, o.Plugins.Sources...),
		Runners:      runners,
		Isolated:     o.Plugins.Isolated,
		Isolate:      o.Plugins.Isolate,
		Grants:       grants,
		Granted:      o.Plugins.Granted,
		Ceilings:     o.Plugins.Ceilings,
		Capabilities: names,
		Reserved:     append(natives.Names(), reserved...),
		CacheDir:     o.Storage.CacheDir,
		Config:       o.Plugins.Config,
		Logger:       o.Observe.Logger,
	})
	if err != nil {
		for _, r := range slices.Concat(runners, o.Plugins.Isolated) {
			err = errors.Join(err, r.Close(ctx))
		}
		return nil, err
	}
	if err := natives.Clash(set); err != nil {
		return nil, errors.Join(err, set.Close(ctx))
	}
	return set, nil
}
