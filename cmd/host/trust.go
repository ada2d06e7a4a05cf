package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host/config"
)

func trustCommand(a *app) *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let a project's settings and plugins take effect",
		Long: `Of a project only deny and ask rules count, and that it demands isolation, until
you trust it. Trust shows what else the project brings (allow rules, a mode,
directories, hooks, a judge, settings, plugins, skills), asks you, and records what it
showed, by the real path of the project's root. Exactly that counts from then on.
What the project brings or changes later has no effect before trust has shown it
too; it shows that alone. Plugins still need a grant each.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.flags.cwd = args[0]
			}
			return trustProject(cmd.Context(), a, yes, revoke)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "trust the project no longer")
	return cmd
}

func trustProject(ctx context.Context, a *app, yes, revoke bool) error {
	session, err := a.flags.sessionOptions()
	if err != nil {
		return err
	}
	dirs := config.UserDirs()
	trust, err := config.OpenTrust(dirs.Trust())
	if err != nil {
		return hostError(err)
	}
	project, err := config.FindProject(session.Cwd, trust)
	if err != nil {
		return hostError(err)
	}
	if revoke {
		return distrust(a, trust, project)
	}
	return trustShown(ctx, a, dirs, trust, project, yes)
}

// trustShown shows what the project brings that the user was not shown yet, and
// records that very list.
func trustShown(ctx context.Context, a *app, dirs config.Dirs, trust *config.Trust, project config.Project, yes bool) error {
	_, unseen, err := project.Brings(dirs)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	out := a.out
	if !yes && !out.Terminal && a.person() != nil {
		out = a.err // who answers must have seen it
	}
	showBrought(out, project, unseen)
	if project.Trusted && len(unseen) == 0 {
		a.out.Printf("It is trusted already.\n")
		return nil
	}
	question := "Trust " + project.Root + "?"
	if project.Trusted {
		question = "Trust " + project.Root + " with this too?"
	}
	if err := a.confirm(ctx, yes, question); err != nil {
		return err
	}
	if err := trust.TrustProject(project.Root, unseen, time.Now()); err != nil {
		return hostError(err)
	}
	a.out.Printf("Trusted; toolquay trust --revoke %s takes it back.\n", project.Root)
	return nil
}

func distrust(a *app, trust *config.Trust, project config.Project) error {
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
