package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
)

func historyCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "See what a session's tools and commands changed, and undo it",
		Long: `Before a tool or a command changes a file, its former content is kept in the session's
folder. History lists what was changed, shows it as a diff or as one patch that git apply
takes, and restores files. A restore is recorded as well, so that it can be undone in the
same way. All of this works while the session goes on.

Changes by commands are known on Linux, in the sandbox that this program makes itself.
Elsewhere the list says that they are not known.

    toolquay history list                       of the session that wrote last
    toolquay history diff h3                    one write
    toolquay history restore --call toolu_01    what one call wrote
    toolquay history restore --all --dry-run    what undoing all of it would do
    toolquay history patch --session ID >session.patch

How much is kept, and for how long, is in the settings below [sessions].`,
		Args: cobra.NoArgs,
		RunE: help,
	}
	cmd.AddCommand(
		historyListCommand(a), historySessionsCommand(a), historyShowCommand(a), historyDiffCommand(a),
		historyPatchCommand(a), historyRestoreCommand(a),
	)
	return cmd
}

func historySessionsCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions that have a history",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return listHistorySessions(a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	return cmd
}

func listHistorySessions(a *app, asJSON bool) error {
	s, err := a.setup()
	if err != nil {
		return err
	}
	found, err := host.Histories(s.options.Storage.Sessions)
	if err != nil {
		return hostError(err)
	}
	if asJSON {
		return printEach(a, found)
	}
	if len(found) == 0 {
		a.out.Printf("No session has a history.\n")
		return nil
	}
	rows := [][]string{{"SESSION", "LAST WRITE"}}
	for _, one := range found {
		rows = append(rows, []string{one.ID, one.Time.Local().Format(time.DateTime)})
	}
	a.out.Table(rows)
	return nil
}
