package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host"
)

func cronCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cron",
		Short: "List the prompts that models scheduled in a project",
		Long: `Cron lists the durable prompts that models scheduled with CronCreate in the project of
the working directory, those that come next first; delete ends one. Prompts that are not
durable end with their session, and only the session knows them.

What comes due is told in whichever session runs then, of run --stream and toolquay mcp;
while none runs it waits, and comes once when the next one begins.

    toolquay cron                   when each comes, and what it says
    toolquay cron --json
    toolquay cron delete c7k2m4pqd`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listCron(a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	cmd.AddCommand(&cobra.Command{
		Use:   "delete ID",
		Short: "Delete a scheduled prompt",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return deleteCron(cmd.Context(), a, args[0]) },
	})
	return cmd
}

// cronSetup says where the durable prompts of the project are.
func cronSetup(a *app) (dir, project string, err error) {
	s, err := a.setup()
	if err != nil {
		return "", "", err
	}
	dir, project = s.options.Storage.Cron, s.options.Paths.Project
	if dir == "" || project == "" {
		return "", "", hostError(errors.New("there is no place here for durable scheduled prompts"))
	}
	return dir, project, nil
}

func listCron(a *app, asJSON bool) error {
	dir, project, err := cronSetup(a)
	if err != nil {
		return err
	}
	found, err := host.ReadScheduled(dir, project)
	for _, note := range found.Notes {
		a.err.Printf("toolquay: %s\n", ui.Line(note))
	}
	if err != nil {
		return hostError(err)
	}
	if asJSON {
		return printEach(a, found.Jobs)
	}
	if len(found.Jobs) == 0 {
		a.out.Printf("Nothing is scheduled in %s.\n", project)
		return nil
	}
	rows := [][]string{{"ID", "NEXT", "WHEN", "PROMPT"}}
	for i := range found.Jobs {
		j := &found.Jobs[i]
		rows = append(rows, []string{j.ID, cronNext(j), j.HumanSchedule, firstLine(j.Prompt)})
	}
	a.out.Table(rows)
	return nil
}

// cronNext is when a prompt comes next, for people.
func cronNext(j *abi.CronJob) string {
	at, err := time.Parse(time.RFC3339, j.Next)
	switch {
	case err != nil:
		return "now"
	case at.Before(time.Now()):
		return "missed at " + at.Local().Format(time.DateTime)
	case j.Recurring:
		return at.Local().Format(time.DateTime)
	}
	return at.Local().Format(time.DateTime) + ", once"
}

func deleteCron(ctx context.Context, a *app, id string) error {
	dir, project, err := cronSetup(a)
	if err != nil {
		return err
	}
	job, err := host.DeleteScheduled(ctx, dir, project, id)
	switch {
	case abi.CodeOf(err) == abi.CodeNotFound:
		return usageError("%w; toolquay cron lists those of %s", err, project)
	case err != nil:
		return hostError(err)
	}
	a.out.Printf("Deleted %s: %s\n", job.ID, cmp.Or(firstLine(job.Prompt), job.HumanSchedule))
	return nil
}

// examineCron tells of the scheduled prompts of the project, and of those that are damaged.
func examineCron(d *diagnosis, s *setup) {
	dir, project := s.options.Storage.Cron, s.options.Paths.Project
	if dir == "" || project == "" {
		return
	}
	found, err := host.ReadScheduled(dir, project)
	for _, note := range found.Notes {
		d.add("cron", wrong, note)
	}
	switch {
	case err != nil:
		d.add("cron", wrong, err.Error())
	case len(found.Jobs) > 0:
		d.add("cron", fine, fmt.Sprintf("scheduled in this project: %d; toolquay cron lists them", len(found.Jobs)))
	}
}
