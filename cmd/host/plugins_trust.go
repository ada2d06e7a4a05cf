package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/plugins"
)

func pluginTrustCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "trust NAME",
		Short: "Grant a plugin what it asks for, as it now is",
		Long: `Trust shows what a plugin asks for, asks you, and records the grant. It is pinned
to the bytes of the plugin's module and manifest: where either changes, the
plugin has to be trusted anew. Permission rules hold it all the same.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return trustPlugin(cmd.Context(), a, args[0], yes) },
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

func trustPlugin(ctx context.Context, a *app, name string, yes bool) error {
	o, p, err := openPlugin(ctx, a, name)
	if err != nil {
		return err
	}
	defer o.close()
	faults := p.Check()
	unconfigured := isUnconfigured(p, faults)
	if p.Manifest() == nil || p.Problem() != nil && !unconfigured {
		return &exitError{exitUsage, fmt.Errorf("plugin %s cannot be used, so there is nothing to trust: %w", name, p.Problem())}
	}
	describePlugin(a, p)
	if plugins.Failed(faults) {
		return &exitError{exitUsage, fmt.Errorf("plugin %s can never be used as it is, so there is nothing to trust: %s says why", name, p.Command("plugins check "+name))}
	}
	switch p.GrantState() {
	case plugins.GrantUnneeded:
		a.out.Printf("\nIt needs no grant.\n")
		return nil
	case plugins.GrantGiven:
		a.out.Printf("\nIt is granted already.\n")
		return nil
	}
	if err := a.confirm(ctx, yes, "Grant "+p.Name+" all of this?"); err != nil {
		return err
	}
	grants, err := plugins.OpenGrants(o.dirs.PluginGrants())
	if err == nil {
		err = grants.Add(p, time.Now())
	}
	if err != nil {
		return hostError(err)
	}
	a.out.Printf("\nGranted; toolquay plugins revoke %s takes it back.\n", p.Name)
	if unconfigured {
		a.out.Printf("\nIt cannot be used before it is configured:\n%s\n", indent(p.Problem().Error()))
	}
	return nil
}

func pluginRevokeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke NAME",
		Short: "Take back what a plugin was granted",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.setup()
			if err != nil {
				return err
			}
			grants, err := plugins.OpenGrants(s.dirs.PluginGrants())
			if err != nil {
				return hostError(err)
			}
			found, err := grants.Revoke(args[0])
			if err != nil {
				return hostError(err)
			}
			if !found {
				return usageError("plugin %q was granted nothing", args[0])
			}
			a.out.Printf("Revoked what %s was granted.\n", args[0])
			return nil
		},
	}
}
