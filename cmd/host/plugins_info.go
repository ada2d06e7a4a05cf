package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/visible"
	"github.com/toolquay/toolquay/plugins"
)

func pluginInfoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "info NAME",
		Short: "Show what a plugin wants, what it is granted, and what is wrong with it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, p, err := openPlugin(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			defer o.close()
			describePlugin(a, p)
			return nil
		},
	}
}

// openPlugin opens the host and finds a plugin by name.
func openPlugin(ctx context.Context, a *app, name string) (*opened, *plugins.Plugin, error) {
	o, err := a.open(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	p, ok := o.host.Plugins().Plugin(name)
	if ok {
		return o, p, nil
	}
	defer o.close()
	return nil, nil, unknownPlugin(o, name)
}

// maxShown bounds what is shown of one text of a plugin, in bytes.
const maxShown = 1 << 10

func describePlugin(a *app, p *plugins.Plugin) {
	out, m := a.out, p.Manifest()
	out.Printf("%s, found in %s (%s)\n", visible.Line(p.Name), visible.Line(p.Path), p.Origin)
	if p.Problem() != nil {
		out.Printf("\nIt cannot be used:\n%s\n", indent(p.Problem().Error()))
	}
	if m == nil {
		return
	}
	out.Printf("version %s, ABI %s\n", m.Version, cmp.Or(m.ABI, abi.ABIDirect))
	for _, line := range []string{m.Description, prefixed("by ", visible.Short(strings.Join(m.Authors, ", "), maxShown)), m.License, m.Homepage} {
		if line != "" {
			out.Printf("%s\n", line)
		}
	}
	if faults := checkAll([]*plugins.Plugin{p})[0]; p.Problem() == nil && len(faults) > 0 {
		out.Printf("\nA check found:\n%s\n", indent(found(faults)))
	}
	describeGrants(a, p)
	out.Printf("\nLimits of one call: memory %s, time %s, output %s, %d log lines, %d capability calls\n",
		abi.Size(p.Limits.Memory), p.Limits.Time, abi.Size(p.Limits.Output), p.Limits.LogLines, p.Limits.CapabilityCalls)
	for _, key := range m.Config {
		out.Printf("\nConfiguration %s: %s\n", key.Name, cmp.Or(visible.Short(string(p.Config()[key.Name]), maxShown), "not set"))
	}
	out.Printf("\nTools:\n")
	for i := range m.Tools {
		t := &m.Tools[i]
		out.Printf("  %s (%s): %s\n", t.Name, traits(t), t.Summary)
	}
}

// describeGrants prints what a plugin asks for and whether it has it.
func describeGrants(a *app, p *plugins.Plugin) {
	claims := p.Manifest().Capabilities
	if len(claims) == 0 {
		a.out.Printf("\nIt asks for no capability.\n")
		return
	}
	a.out.Printf("\nIt asks for (%s):\n", standing(p))
	for _, c := range claims {
		scope := "wherever the rules allow"
		if len(c.Scope) > 0 {
			scope = "in " + strings.Join(c.Scope, ", ")
		}
		a.out.Printf("  %s, %s: %s\n", c.Name, scope, cmp.Or(c.Reason, "it gives no reason"))
	}
}

func standing(p *plugins.Plugin) string {
	switch p.GrantState() {
	case plugins.GrantUnneeded:
		return "no grant needed"
	case plugins.GrantMissing:
		return "not granted"
	case plugins.GrantChanged:
		return "not granted: it changed since it was"
	}
	return "granted"
}

// stateOf is one word or two for where a plugin stands, of which a check found faults.
func stateOf(p *plugins.Plugin, faults []plugins.Diagnostic) string {
	switch {
	case abi.CodeOf(p.Problem()) == abi.CodeNotGranted:
		return "new, needs trust"
	case isShadowed(p):
		return "shadowed"
	case isUnconfigured(p, faults):
		return "needs configuration"
	case p.Problem() != nil || plugins.Failed(faults):
		return "broken"
	}
	switch p.GrantState() {
	case plugins.GrantMissing:
		return "needs trust"
	case plugins.GrantChanged:
		return "changed, needs trust"
	}
	return "ready"
}

// isShadowed reports whether a plugin gives way to another.
func isShadowed(p *plugins.Plugin) bool {
	_, ok := errors.AsType[*plugins.ShadowedError](p.Problem())
	return ok
}

// isUnconfigured reports whether a plugin, of which a check found faults, cannot be used
// only for its configuration.
func isUnconfigured(p *plugins.Plugin, faults []plugins.Diagnostic) bool {
	_, ok := errors.AsType[*plugins.ConfigError](p.Problem())
	return ok && !plugins.Failed(faults)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
