package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/permissions/grants"
)

func permissionsGrantsCommand(a *app) *cobra.Command {
	cmd := grantsListCommand(a)
	cmd.Use = "grants"
	cmd.AddCommand(grantsListCommand(a), grantsAddCommand(a), grantsRevokeCommand(a))
	return cmd
}

func grantsListCommand(a *app) *cobra.Command {
	var asJSON, expired bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List what was granted beyond single calls, for a time or until revoked",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return listGrants(a, asJSON, expired) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	cmd.Flags().BoolVar(&expired, "expired", false, "show those that have ended too")
	return cmd
}

// openGrants opens the list of grants.
func openGrants(a *app) (*grants.List, setup, error) {
	s, err := a.setup()
	if err != nil {
		return nil, s, err
	}
	if s.options.Permissions.Grants == nil {
		return nil, s, hostError(errors.New("there is no place for grants: neither HOME nor XDG_STATE_HOME is set"))
	}
	return s.options.Permissions.Grants, s, nil
}

func listGrants(a *app, asJSON, expired bool) error {
	list, _, err := openGrants(a)
	if err != nil {
		return err
	}
	all, err := list.List(time.Now(), expired)
	if err != nil {
		return hostError(err)
	}
	if asJSON {
		return printEach(a, all)
	}
	if len(all) == 0 {
		a.out.Printf("Nothing is granted.\n")
		return nil
	}
	rows := [][]string{{"ID", "RULE", "FOR", "SINCE", "UNTIL"}}
	for _, g := range all {
		where := string(g.Scope)
		if g.Project != "" {
			where += " " + g.Project
		}
		until := "revoked"
		if !g.Expires.IsZero() {
			until = g.Expires.Local().Format(time.DateTime)
		}
		rows = append(rows, []string{g.ID, g.Rule, where, g.Granted.Local().Format(time.DateTime), until})
	}
	a.out.Table(rows)
	return nil
}

func grantsAddCommand(a *app) *cobra.Command {
	var lasts time.Duration
	var user bool
	cmd := &cobra.Command{
		Use:   "add RULE",
		Short: "Grant an allow rule, in this project, for a time or until revoked",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			list, s, err := openGrants(a)
			if err != nil {
				return err
			}
			now := time.Now()
			g := grants.Grant{Rule: args[0], Scope: grants.ScopeProject, Project: s.project.Root, By: "command line"}
			if user {
				g.Scope, g.Project = grants.ScopeUser, ""
			}
			if lasts > 0 {
				g.Expires = now.Add(lasts)
			}
			if g, err = list.Add(g, now); err != nil {
				return usageError("%w", err)
			}
			a.out.Printf("Granted as %s; toolquay permissions grants revoke %s takes it back.\n", g.ID, g.ID)
			return nil
		},
	}
	cmd.Flags().DurationVar(&lasts, "for", 0, "how long it holds, such as 1h (default: until it is revoked)")
	cmd.Flags().BoolVar(&user, "user", false, "in all your projects")
	return cmd
}

func grantsRevokeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID...",
		Short: "Take grants back, before the next decision of any session",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			list, _, err := openGrants(a)
			if err != nil {
				return err
			}
			for _, id := range args {
				switch err := list.Revoke(id); {
				case errors.Is(err, grants.ErrNoGrant):
					return usageError("there is no grant %q", id)
				case err != nil:
					return hostError(err)
				}
			}
			a.out.Printf("Revoked %s.\n", strings.Join(args, ", "))
			return nil
		},
	}
}
