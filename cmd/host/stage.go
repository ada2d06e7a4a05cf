package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/host"
)

func stageCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage",
		Short: "See what a session staged, and apply or discard it",
		Long: `With --stage, run and call write into a stage: the session's tools see what they
wrote, and nothing on the disk changes. The stage lasts from one run to the next, with
--session and --stage. Without --stage a session that has staged files does not go on.

    toolquay run --stage --session mine turn.json
    toolquay stage diff                         of the session that staged last
    toolquay stage apply --session mine         all of it
    toolquay stage apply src/main.go            one file, or what is below a directory
    toolquay stage discard --all

You can apply and discard while the session goes on, unless one of its commands runs. The
session's next call sees the difference.

Where the system can mount overlays, the session has commands too, which run over the
same stage, background tasks included. They stay in the sandbox. What they send over the
network, as git push does, is sent at once; their caches and temporary files are not
staged. Hooks see the disk, not the stage. Where the system cannot mount overlays, no
commands are offered, and toolquay doctor says why.`,
		Args: cobra.NoArgs,
		RunE: help,
	}
	cmd.AddCommand(stageListCommand(a), stageDiffCommand(a), stageApplyCommand(a), stageDiscardCommand(a))
	return cmd
}

func stageListCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [FILE...]",
		Short: "List what is staged: new, changed and removed files, links, directories",
		Long: `List shows each path that applying would change, with what it was and what it will be: the
size of a file in bytes, and its mode if that changes; a link; a directory. A new file with the
same content as a removed one is shown as renamed, with its former name.

With --json it prints one object per line:
  path      the absolute path
  base      what was there when the path was first changed; absent if nothing was
  content   what will be there; absent if nothing will
  from      the former path of a renamed file
  calls     the ids of the calls that changed it
  tool      the tool of the last of these calls
  time      the time of the last of these calls
"base" and "content" have:
  kind      "directory", "link" or "other"; absent for a file
  hash      the SHA-256 of a file; absent if the file was not read
  size      the size of a file in bytes
  mode      the permission bits as a number; absent if they are not known
  target    where a link leads`,
		Args: named,
		RunE: func(_ *cobra.Command, args []string) error {
			return withStages(a, func(p *stages) error { return listStaged(a, p, args, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	return cmd
}

func listStaged(a *app, p *stages, args []string, asJSON bool) error {
	sel, err := p.selection(args)
	if err != nil {
		return err
	}
	list, err := p.List(sel)
	if err != nil {
		return p.failed(args, err)
	}
	if asJSON {
		return printEach(a, list)
	}
	if len(list) == 0 {
		a.out.Printf("The session %s has nothing staged.\n", p.session)
		return nil
	}
	rows := [][]string{{"FILE", "BYTES", "TIME", "BY", "CALLS"}}
	for i := range list {
		e := &list[i]
		name := p.name(e.Path)
		if e.From != "" {
			name += " (was " + p.name(e.From) + ")"
		}
		rows = append(rows, []string{
			name, becomes(e.Base, e.Content), e.Time.Local().Format(time.DateTime), e.Tool, strings.Join(e.Calls, ", "),
		})
	}
	a.out.Printf("Session %s\n", p.session)
	a.out.Table(rows)
	return nil
}

// becomes returns the former and the new content of a path as text, for files the sizes in bytes, and
// the modes if they differ.
func becomes(before, after *host.HistoryContent) string {
	is := func(n *host.HistoryContent) string {
		switch {
		case n == nil:
			return "none"
		case n.Kind == "":
			return strconv.FormatInt(n.Size, 10)
		}
		return n.String()
	}
	text := is(before) + " -> " + is(after)
	if before != nil && after != nil && before.Kind == after.Kind && before.Mode != 0 && after.Mode != 0 && before.Mode != after.Mode {
		text += fmt.Sprintf(" (mode %04o -> %04o)", before.Mode, after.Mode)
	}
	return text
}
