package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/cmd/host/internal/ui"
	"github.com/toolquay/toolquay/host/config"
	"github.com/toolquay/toolquay/host/retention"
	"github.com/toolquay/toolquay/permissions/settings"
)

type cleanFlags struct {
	keep, max   string
	yes, asJSON bool
}

func cleanCommand(a *app) *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "clean [AREA...]",
		Short: "Show what is kept and what is over the limits, and remove that",
		Long: `Clean shows what is kept on this machine, and what of it is not needed any more; with
--yes it removes that, and closes to other users what is open to them. What somebody
uses stays, and so do sessions with staged files that were not applied, worktrees of git
with files or commits that are nowhere else, and what is not Toolquay's: all that is
listed. It ends with 1 where something could not be removed.

` + areasHelp() + `

    toolquay clean                            what there is, and what would go
    toolquay clean --yes                      by the limits in [storage], else what is older than 30 days
    toolquay clean sessions --keep 1w --yes   sessions that nobody used for a week
    toolquay clean caches --max 1GiB --json   as JSON Lines, for programs

With [storage] in the settings, and for sessions and caches without, hosts do the same
once a day.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return clean(cmd.Context(), a, &f, args) },
	}
	p := cmd.Flags()
	p.StringVar(&f.keep, "keep", "", "how long what nobody uses is kept, such as 30d, 4w or 12h; 0 keeps nothing of it")
	p.StringVar(&f.max, "max", "", "how much is kept of each, such as 512MiB; what was used least recently goes first")
	p.BoolVarP(&f.yes, "yes", "y", false, "remove it")
	p.BoolVar(&f.asJSON, "json", false, "print JSON Lines")
	return cmd
}

func areasHelp() string {
	var lines []string
	for _, area := range retention.Areas() {
		lines = append(lines, "    "+pad(area.Name, 10)+area.About)
	}
	return strings.Join(lines, "\n")
}

func clean(ctx context.Context, a *app, f *cleanFlags, areas []string) error {
	s, err := a.setup()
	if err != nil {
		return err
	}
	o := config.Retention(&s.options, s.dirs, s.loaded)
	if err := f.change(&o, areas); err != nil {
		return err
	}
	do := retention.Look
	if f.yes {
		do = retention.Clean
	}
	r := do(ctx, o)
	if f.asJSON {
		err = printCleanJSON(a, r)
	} else {
		printClean(a, r, areas, f.yes)
	}
	if err == nil && ctx.Err() != nil {
		return hostError(fmt.Errorf("it was interrupted: %w", context.Cause(ctx)))
	}
	if n, _ := r.Total("", retention.Failed); err == nil && n > 0 {
		return quiet(exitFailed)
	}
	return err
}

// change puts the flags on top of the settings.
func (f *cleanFlags) change(o *retention.Options, areas []string) error {
	known := retention.Areas()
	for _, name := range areas {
		if !slices.ContainsFunc(known, func(area retention.Area) bool { return area.Name == name }) {
			var names []string
			for _, area := range known {
				names = append(names, area.Name)
			}
			return usageError("there is no area %.40q; there are %s", name, strings.Join(names, ", "))
		}
	}
	o.Areas, o.Thorough = areas, true
	if f.keep != "" {
		keep, err := settings.ParseAge(f.keep)
		if err == nil && keep < 0 {
			err = fmt.Errorf("%v is less than no time", keep)
		}
		if err != nil {
			return usageError("--keep: %w", err)
		}
		o.Keep, o.KeepSessions = cmp.Or(keep, 1), 0
	}
	if f.max != "" {
		var size abi.Size
		if err := size.UnmarshalText([]byte(f.max)); err != nil {
			return usageError("--max: %w", err)
		}
		o.Max = max(int64(size), 1)
	}
	return nil
}

// areaTotal is what an area comes to, as programs get it.
type areaTotal struct {
	Area    string `json:"area"`
	Items   int    `json:"items"`
	Bytes   int64  `json:"bytes"`
	Over    int    `json:"over"`
	Removed int    `json:"removed"`
}

// printCleanJSON prints a line for each item that does not just stay, and one for each area.
func printCleanJSON(a *app, r *retention.Report) error {
	for i := range r.Items {
		if it := &r.Items[i]; it.State != retention.Kept || it.Why != "" {
			if err := a.printJSON(it); err != nil {
				return err
			}
		}
	}
	for _, area := range retention.Areas() {
		t := areaTotal{Area: area.Name}
		if t.Items, t.Bytes = r.Total(area.Name); t.Items == 0 {
			continue
		}
		t.Over, _ = r.Total(area.Name, retention.Over, retention.Leftover, retention.Open)
		t.Removed, _ = r.Total(area.Name, retention.Removed, retention.Closed)
		if err := a.printJSON(t); err != nil {
			return err
		}
	}
	return nil
}

func printClean(a *app, r *retention.Report, areas []string, did bool) {
	rows := [][]string{{"AREA", "ITEMS", "SIZE", "WHAT"}}
	for _, area := range retention.Areas() {
		if len(areas) > 0 && !slices.Contains(areas, area.Name) {
			continue
		}
		n, bytes := r.Total(area.Name, retention.Kept, retention.Over, retention.Leftover, retention.InUse, retention.Staged, retention.Unsaved)
		rows = append(rows, []string{area.Name, strconv.Itoa(n), ui.Bytes(bytes), area.About})
	}
	a.out.Table(rows)
	for i := range r.Items {
		printItem(a, &r.Items[i])
	}
	if did {
		n, bytes := r.Total("", retention.Removed)
		a.out.Printf("Removed %d, %s.\n", n, ui.Bytes(bytes))
		return
	}
	n, bytes := r.Total("", retention.Over, retention.Leftover)
	open, _ := r.Total("", retention.Open)
	stay, _ := r.Total("", retention.InUse, retention.Staged, retention.Unsaved)
	switch {
	case n+open+stay == 0:
		a.out.Printf("Nothing is over the limits.\n")
	case n+open == 0:
		a.out.Printf("What is over the limits stays, as the list says.\n")
	default:
		a.out.Printf("Nothing was changed; with --yes, %d are removed, %s, and %d are closed to other users.\n", n, ui.Bytes(bytes), open)
	}
}

// printItem prints what is to be said of one item.
func printItem(a *app, it *retention.Item) {
	styles := map[retention.State]ui.Style{retention.Failed: ui.Red, retention.Foreign: ui.Yellow, retention.Open: ui.Yellow, retention.Staged: ui.Yellow, retention.Unsaved: ui.Yellow}
	if it.State == retention.Kept && it.Why == "" {
		return
	}
	text := it.Path
	if it.Bytes > 0 {
		text += ", " + ui.Bytes(it.Bytes)
	}
	if it.Why != "" && it.State != retention.Removed {
		text += ": " + it.Why
	}
	a.out.Block(styles[it.State], pad(strings.ReplaceAll(string(it.State), "_", " "), 9)+pad(it.Area, 10), text)
}

// examineStorage tells how much is kept, and what of it is over the limits.
func examineStorage(ctx context.Context, d *diagnosis, s *setup) {
	o := config.Retention(&s.options, s.dirs, s.loaded)
	o.Thorough = true
	r := retention.Look(ctx, o)
	for _, area := range retention.Areas() {
		if n, bytes := r.Total(area.Name); n > 0 && area.Name != "state" {
			d.add("storage", fine, fmt.Sprintf("%s: %d, %s", area.Name, n, ui.Bytes(bytes)))
		}
	}
	for _, about := range []struct {
		text   string
		states []retention.State
	}{
		{"over the limits, or left by processes that were killed; toolquay clean shows and removes that", []retention.State{retention.Over, retention.Leftover}},
		{"over the limits, with staged files that were not applied; toolquay clean names them", []retention.State{retention.Staged}},
		{"open to other users; toolquay clean --yes closes that", []retention.State{retention.Open}},
		{"not Toolquay's, and left alone; toolquay clean lists that", []retention.State{retention.Foreign}},
	} {
		if n, bytes := r.Total("", about.states...); n > 0 {
			d.add("storage", note, fmt.Sprintf("%d, %s, %s", n, ui.Bytes(bytes), about.text))
		}
	}
	for i := range r.Items {
		switch it := &r.Items[i]; {
		case it.State == retention.Failed:
			d.add("storage", wrong, it.Path+": "+it.Why)
		case it.Area == "worktrees" && it.Why != "":
			d.add("worktrees", note, it.Path+": "+it.Why)
		}
	}
}
