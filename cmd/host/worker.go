package main

import (
	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins/worker"
)

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

// checkIsolation checks the flag --isolation, which is empty where it was not given.
func (a *app) checkIsolation() error {
	switch abi.Isolation(a.flags.isolation) {
	case "", abi.IsolationSandbox, abi.IsolationProcess:
		return nil
	}
	return usageError("--isolation %q: write %s or %s", a.flags.isolation, abi.IsolationSandbox, abi.IsolationProcess)
}

// examineWorkers says what this machine offers to confine worker processes with.
func examineWorkers(d *diagnosis) {
	if _, err := worker.Self(); err != nil {
		d.add("workers", wrong, "no worker processes can be started: "+err.Error())
		return
	}
	text, filtered := worker.Confinement()
	s := fine
	if !filtered {
		s = note
	}
	d.add("workers", s, text)
}
