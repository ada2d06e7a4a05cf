package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/plugins"
)

func pluginsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "List, inspect, check, configure, trust and pack plugins",
		Args:  cobra.NoArgs,
		RunE:  help,
	}
	list := &cobra.Command{
		Use:   "list",
		Short: "List every plugin that was found, broken ones too",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return listPlugins(cmd.Context(), a) },
	}
	cmd.AddCommand(list, pluginInfoCommand(a), pluginCheckCommand(a), pluginConfigCommand(a), pluginTrustCommand(a), pluginRevokeCommand(a), pluginPackCommand(a))
	return cmd
}

func listPlugins(ctx context.Context, a *app) error {
	o, err := a.open(ctx, nil)
	if err != nil {
		return err
	}
	defer o.close()
	rows := [][]string{{"NAME", "VERSION", "ORIGIN", "STATE", "TOOLS", "PATH"}}
	list := o.host.Plugins().Plugins()
	faults := checkAll(list)
	for i, p := range list {
		version, tools := "-", "-"
		if m := p.Manifest(); m != nil {
			version, tools = m.Version, toolNames(m)
		}
		rows = append(rows, []string{p.Name, version, string(p.Origin), stateOf(p, faults[i]), tools, p.Path})
	}
	a.out.Table(rows)
	listShadowed(a, o)
	return nil
}

// listShadowed says which plugins give way to others, and why.
func listShadowed(a *app, o *opened) {
	for _, p := range o.host.Plugins().Plugins() {
		if by, ok := errors.AsType[*plugins.ShadowedError](p.Problem()); ok {
			a.out.Printf("%s (%s, %s) is shadowed: %s\n", visible.Line(p.Name), p.Origin, visible.Line(p.Path), visible.Line(by.Error()))
		}
	}
}

func toolNames(m *abi.Manifest) string {
	names := make([]string, len(m.Tools))
	for i, t := range m.Tools {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}
