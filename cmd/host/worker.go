package main

import "github.com/spf13/cobra"

// workerCommand is what toolquay starts its children as. They never come here:
// main hands them over first thing. This is for people who find it in a list of
// processes and try it.
func workerCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Hidden: true,
		Short:  "Compile a module, or run a plugin, for another toolquay",
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usageError("a worker is started by toolquay itself, which tells it what to do; it is of no use by hand")
		},
	}
}
