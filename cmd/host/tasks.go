package main

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

func tasksCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List what a session runs, or ran, in the background",
		Long: `Tasks lists the background tasks of a session: those that run, with what they have
put out so far, and those that have ended. It looks at the session's folder and
works while the session goes on. A task whose host ended before it did is lost.

    toolquay tasks                      of the session that had a task last
    toolquay tasks --session ID --json
    tail -f "$(toolquay tasks --json | jq -r 'select(.state == "running").output_file')"`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listTasks(a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	cmd.AddCommand(tasksForwardCommand(a))
	return cmd
}

func listTasks(a *app, asJSON bool) error {
	s, err := a.setup()
	if err != nil {
		return err
	}
	session, list, err := tasksOf(a, s.options.Storage.Sessions)
	if err != nil {
		return err
	}
	if asJSON {
		for i := range list {
			if err := a.printJSON(taskRecord{session, &list[i]}); err != nil {
				return err
			}
		}
		return nil
	}
	if len(list) == 0 {
		a.out.Printf("No background task.\n")
		return nil
	}
	rows := [][]string{{"TASK", "STATE", "BEGAN", "TOOK", "OUTPUT", "WHAT"}}
	for i := range list {
		rows = append(rows, taskRow(&list[i]))
	}
	a.out.Printf("Session %s\n", session)
	a.out.Table(rows)
	return nil
}

// taskRecord is a task as programs get it.
type taskRecord struct {
	Session string `json:"session"`
	*capability.TaskInfo
}

// tasksOf are the tasks of the session that the flags name, or of the one that had one
// last, and which that is.
func tasksOf(a *app, sessions string) (string, []capability.TaskInfo, error) {
	id := a.flags.session
	if id == "" {
		session, list := lastTasks(a, sessions)
		return session, list, nil
	}
	dir := host.SessionDir(sessions, id)
	if _, err := os.Stat(dir); err != nil {
		return "", nil, usageError("there is no session %q in %s", id, sessions)
	}
	list, err := host.ReadTasks(dir)
	return id, list, hostError(err)
}

// lastTasks looks through sessions for the last task, those first that were written to
// last: nothing began in a session after that.
func lastTasks(a *app, sessions string) (session string, newest []capability.TaskInfo) {
	for _, s := range byLastRecord(sessions) {
		if len(newest) > 0 && s.last.Before(latestOf(newest)) {
			break
		}
		list, err := host.ReadTasks(filepath.Join(sessions, s.name))
		if err != nil {
			a.err.Printf("toolquay: %v\n", err)
			continue
		}
		if len(list) > 0 && (len(newest) == 0 || latestOf(list).After(latestOf(newest))) {
			session, newest = s.name, list
		}
	}
	return session, newest
}

// recorded is a session's folder, and when something was last put down in it.
type recorded struct {
	name string
	last time.Time
}

// byLastRecord lists the sessions that have put anything down, the latest first.
func byLastRecord(sessions string) []recorded {
	entries, _ := os.ReadDir(sessions) // where there are none, nothing ran
	var list []recorded
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(sessions, e.Name(), "journal.jsonl")); err == nil {
			list = append(list, recorded{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b recorded) int { return b.last.Compare(a.last) })
	return list
}

// latestOf is when the last of a session's tasks began, of which there is one.
func latestOf(list []capability.TaskInfo) time.Time { return list[len(list)-1].Began }

func taskRow(t *capability.TaskInfo) []string {
	state := t.State
	if t.Exit != nil && *t.Exit != 0 {
		state += " (" + strconv.Itoa(*t.Exit) + ")"
	}
	took := ""
	if d := t.Elapsed(); d > 0 {
		took = d.Round(100 * time.Millisecond).String()
	}
	return []string{
		t.ID, state, t.Began.Local().Format(time.DateTime), took,
		abi.Size(t.Bytes).String(), cmp.Or(t.Title, t.Command),
	}
}
