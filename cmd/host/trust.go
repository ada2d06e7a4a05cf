package main

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
	"github.com/toolquay/toolquay/plugins"
)

func trustCommand(a *app) *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let a project's settings and plugins take effect",
		Long: `Of a project that is not trusted only deny and ask rules count, and that it demands
isolation. Trust shows what else the project brings (allow rules, a mode,
directories, hooks, a judge, plugins), asks you, and records the project by the real path of its
root. What it brings later is trusted too. Plugins still need a grant each.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.flags.cwd = args[0]
			}
			return a.trustProject(cmd.Context(), yes, revoke)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "trust the project no longer")
	return cmd
}

func (a *app) trustProject(ctx context.Context, yes, revoke bool) error {
	session, err := a.sessionOptions()
	if err != nil {
		return err
	}
	dirs := host.UserDirs()
	trust, err := host.OpenTrust(dirs.Trust())
	if err != nil {
		return hostError(err)
	}
	project, err := host.FindProject(session.Cwd, trust)
	if err != nil {
		return hostError(err)
	}
	if revoke {
		return a.distrust(trust, project)
	}
	if err := a.describeProject(project); err != nil {
		return err
	}
	if project.Trusted {
		a.out.Printf("It is trusted already.\n")
		return nil
	}
	if err := a.confirm(ctx, yes, "Trust "+project.Root+"?"); err != nil {
		return err
	}
	if err := trust.Grant(project.Root, time.Now()); err != nil {
		return hostError(err)
	}
	a.out.Printf("Trusted; toolquay trust --revoke %s takes it back.\n", project.Root)
	return nil
}

func (a *app) distrust(trust *host.Trust, project host.Project) error {
	found, err := trust.Revoke(project.Root)
	if err != nil {
		return hostError(err)
	}
	if !found {
		return usageError("%s was not trusted", project.Root)
	}
	a.out.Printf("%s is trusted no longer.\n", project.Root)
	return nil
}

// describeProject prints what would take effect with a project.
func (a *app) describeProject(project host.Project) error {
	out := a.out
	out.Printf("%s brings:\n", project.Root)
	loaded, err := settings.Load(settings.Options{Project: permissions.Dir{Path: project.Root}, ProjectClaude: true})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	nothing := true
	line := func(format string, args ...any) {
		nothing = false
		out.Printf("  "+format+"\n", args...)
	}
	for _, b := range loaded.Brings {
		line("%s", b)
	}
	set, err := plugins.Open(plugins.Options{
		Sources: []plugins.Source{plugins.Dir(plugins.OriginProject, project.Plugins())},
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return usageError("%w", err)
	}
	for _, p := range set.Plugins() {
		line("plugin %s (%s)%s", p.Name, p.Path, asks(p))
	}
	if nothing {
		out.Printf("  nothing that needs trust\n")
	}
	return nil
}

// asks is what a plugin would ask to be granted.
func asks(p *plugins.Plugin) string {
	m := p.Manifest()
	if m == nil {
		return ", which is broken: " + firstLine(p.Problem().Error())
	}
	if len(m.Capabilities) == 0 {
		return ", which asks for no capability"
	}
	names := make([]string, len(m.Capabilities))
	for i, c := range m.Capabilities {
		names[i] = c.Name
	}
	return ", which will ask for " + strings.Join(names, ", ")
}
