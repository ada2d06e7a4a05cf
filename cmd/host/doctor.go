package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/cmd/host/internal/ui"
)

func doctorCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show what is found where, and what is wrong",
		Long: `Doctor looks at everything that a run depends on: directories, settings, rules,
shells and their sandbox, plugins, the compile cache (by running a tool), the
terminal. It ends with 1 where something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return diagnose(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func diagnose(ctx context.Context, a *app, asJSON bool) error {
	d := &diagnosis{OK: true, Build: readBuild()}
	if err := examine(ctx, a, d); err != nil {
		return err
	}
	return a.printFindings(d, asJSON)
}

// printFindings prints what a doctor found, and ends with 1 where something is wrong.
func (a *app) printFindings(d *diagnosis, asJSON bool) error {
	if asJSON {
		if err := a.printJSON(d); err != nil {
			return err
		}
	} else {
		printDiagnosis(a, d)
	}
	if !d.OK {
		return quiet(exitFailed)
	}
	return nil
}

func printDiagnosis(a *app, d *diagnosis) {
	styles := map[status]ui.Style{fine: ui.Green, note: ui.Yellow, wrong: ui.Red}
	a.out.Printf("toolquay %s, %s, wazero %s\n", d.Build.Version, d.Build.Go, d.Build.Wazero)
	area := 10
	for _, f := range d.Findings {
		area = max(area, len(f.Area)+1)
	}
	for _, f := range d.Findings {
		a.out.Block(styles[f.Status], pad(string(f.Status), 7)+pad(f.Area, area), f.Text)
	}
}
