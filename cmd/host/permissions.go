package main

import "github.com/spf13/cobra"

func permissionsCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "See through the permission rules",
		Long: `Permissions shows what the rules say, and why, without running anything.

    toolquay permissions explain Bash '{"command": "git push"}'
    toolquay permissions test rules.jsonl
    echo '{"command": "ls -la"}' | toolquay permissions classify -`,
		Args: cobra.NoArgs,
		RunE: help,
	}
	cmd.AddCommand(
		permissionsExplainCommand(a), permissionsTestCommand(a), permissionsClassifyCommand(a),
		permissionsLogCommand(a), permissionsGrantsCommand(a),
	)
	return cmd
}
