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
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// status is what a finding of doctor's means.
type status string

const (
	fine  status = "ok"
	note  status = "note"
	wrong status = "wrong"
)

// finding is one thing that doctor found.
type finding struct {
	Area   string `json:"area"`
	Status status `json:"status"`
	Text   string `json:"text"`
}

type diagnosis struct {
	OK       bool      `json:"ok"`
	Build    build     `json:"build"`
	Findings []finding `json:"findings"`
}

func (d *diagnosis) add(area string, s status, text string) {
	d.Findings = append(d.Findings, finding{area, s, text})
	d.OK = d.OK && s != wrong
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	d := &diagnosis{OK: true, Build: readBuild()}
	if err := a.examine(ctx, d); err != nil {
		return err
	}
	if asJSON {
		if err := a.printJSON(d); err != nil {
			return err
		}
	} else {
		a.printDiagnosis(d)
	}
	if !d.OK {
		return quiet(exitFailed)
	}
	return nil
}

func (a *app) printDiagnosis(d *diagnosis) {
	styles := map[status]ui.Style{fine: ui.Green, note: ui.Yellow, wrong: ui.Red}
	a.out.Printf("toolquay %s, %s, wazero %s\n", d.Build.Version, d.Build.Go, d.Build.Wazero)
	for _, f := range d.Findings {
		a.out.Block(styles[f.Status], pad(string(f.Status), 7)+pad(f.Area, 10), f.Text)
	}
}

func pad(s string, width int) string {
	for len(s) < width {
		s += " "
	}
	return s
}
