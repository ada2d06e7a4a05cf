package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/audit"
)

type logFlags struct {
	filter   audit.Filter
	verdict  string
	since    time.Duration
	asJSON   bool
	verify   bool
	expected string
}

func permissionsLogCommand(a *app) *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the decisions that were made, or verify their log",
		Long: `Log shows the decisions that were logged, the newest first. Each line of the log is
chained to the one before by its hash, so that what is changed, taken out or put in
later is found by --verify. Where the settings have old lines dropped ([log] keep and
max), the log says up to which, and is verified from there. Keep the hash that it prints elsewhere, and give it to a
later --verify with --known, and a log that was written anew is found too.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return showLog(a, f) },
	}
	p := cmd.Flags()
	p.StringVar(&f.filter.Tool, "tool", "", "only decisions on this tool")
	p.StringVar(&f.filter.Session, "session", "", "only those of this session")
	p.StringVar(&f.verdict, "verdict", "", "only allow, ask or deny")
	p.DurationVar(&f.since, "since", 0, "only those of so long a time, such as 24h")
	p.IntVarP(&f.filter.Limit, "limit", "n", 50, "the most to show; 0 is all")
	p.BoolVar(&f.asJSON, "json", false, "print JSON Lines")
	p.BoolVar(&f.verify, "verify", false, "hold the whole log to its chain; ends with 1 where something is wrong")
	p.StringVar(&f.expected, "known", "", "with --verify, the hash of a line that must be there")
	return cmd
}

func showLog(a *app, f logFlags) error {
	s, err := a.setup()
	if err != nil {
		return err
	}
	dir := s.logDir()
	if f.verify {
		return verifyLog(a, dir, f)
	}
	if f.verdict != "" {
		if err := f.filter.Verdict.UnmarshalText([]byte(f.verdict)); err != nil {
			return usageError("--verdict: %w", err)
		}
	}
	if f.since > 0 {
		f.filter.Since = time.Now().Add(-f.since)
	}
	for record, err := range audit.Read(dir, f.filter) {
		var bad *audit.LineError
		switch {
		case errors.As(err, &bad):
			a.err.Printf("toolquay: %v\n", err)
		case err != nil:
			return hostError(err)
		case f.asJSON:
			if err := a.printJSON(record); err != nil {
				return err
			}
		default:
			showRecord(a, &record)
		}
	}
	return nil
}

func showRecord(a *app, r *audit.Record) {
	what := r.Tool
	if r.Capability != "" {
		what += " " + r.Capability
	}
	if r.Matched != "" {
		what += ": " + r.Matched
	}
	why := r.Reason
	if r.By != "" {
		why += ", by " + r.By
	}
	verdict := permissions.Verdict.String(r.Verdict)
	if len(r.Input) > 0 {
		why += "\ninput: " + string(r.Input)
	}
	a.out.Block(verdictStyle(r.Verdict), r.Time.Local().Format(time.DateTime)+"  "+pad(verdict, 6), what+"\n"+why)
}

func verifyLog(a *app, dir string, f logFlags) error {
	report, err := audit.Verify(dir, f.expected)
	if err != nil {
		return hostError(err)
	}
	if f.asJSON {
		err = a.printJSON(report)
	} else {
		a.out.Printf("%s: %d lines, %d decisions in %d segments; %d torn, %d entries lost\n",
			dir, report.Lines, report.Decisions, report.Segments, report.Torn, report.Lost)
		if from := report.From; from != nil {
			a.out.Printf("The lines up to %d, in segment %d and before, were dropped on %s, as the settings say; the chain holds from the line after %s\n",
				from.Seq, from.Segment, from.Time.Local().Format(time.DateTime), from.Hash)
		}
		if report.OK() {
			a.out.Printf("Nothing is wrong with it. Its last line is %s\n", report.Hash)
		}
	}
	if err == nil && !report.OK() {
		err = &exitError{exitFailed, fmt.Errorf("the log of decisions is not as it was written: %v", report.Fault)}
	}
	return err
}
