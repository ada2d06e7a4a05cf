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
	var team string
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List what a session runs in the background, and its lists of work",
		Long: `Tasks lists two kinds of task of a session, apart from each other. Background tasks
are commands: those that run, with what they have put out so far, and those that have
ended; a task whose host ended before it did is lost. Lists of work are what models
write down to do: the todos of an agent, and the tasks that agents share. It looks at the
session's folder and works while the session goes on.

With --json each line has a kind: bash and its like for background tasks, todo, and
work.

    toolquay tasks                      of the session that had a task last
    toolquay tasks --session ID --json
    toolquay tasks --team NAME          the work that the agents of a team share
    tail -f "$(toolquay tasks --json | jq -r 'select(.state == "running").output_file')"`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listTasks(a, team, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines")
	cmd.Flags().StringVar(&team, "team", "", "list the work of a team instead")
	cmd.AddCommand(tasksForwardCommand(a))
	return cmd
}

func listTasks(a *app, team string, asJSON bool) error {
	s, err := a.setup()
	if err != nil {
		return err
	}
	if team != "" {
		return listTeam(a, s.options.Storage.Teams, team, asJSON)
	}
	found, err := tasksOf(a, s.options.Storage.Sessions)
	if err != nil {
		return err
	}
	if asJSON {
		for i := range found.background {
			if err := a.printJSON(taskRecord{found.session, &found.background[i]}); err != nil {
				return err
			}
		}
		return printWorkRecords(a, ofWork{Session: found.session}, &found.work)
	}
	if found.empty() {
		a.out.Printf("No background task.\nNo list of work.\n")
		return nil
	}
	a.out.Printf("Session %s\n", found.session)
	if len(found.background) > 0 {
		rows := [][]string{{"TASK", "STATE", "BEGAN", "TOOK", "OUTPUT", "WHAT"}}
		for i := range found.background {
			rows = append(rows, taskRow(&found.background[i]))
		}
		a.out.Printf("\nIn the background:\n")
		a.out.Table(rows)
	}
	printWork(a, &found.work)
	return nil
}

// taskRecord is a task as programs get it.
type taskRecord struct {
	Session string `json:"session"`
	*capability.TaskInfo
}

// sessionTasks are what a session runs, or ran, in the background, and its lists of work.
type sessionTasks struct {
	session    string
	background []capability.TaskInfo
	work       host.KeptWork
	last       time.Time // when something of it last began or changed
}

func (t *sessionTasks) empty() bool {
	return len(t.background) == 0 && len(t.work.Tasks) == 0 && len(t.work.Todos) == 0 && len(t.work.Notes) == 0
}

// tasksOf are the tasks of the session that the flags name, or of the one that had one
// last.
func tasksOf(a *app, sessions string) (sessionTasks, error) {
	id := a.flags.session
	if id == "" {
		return lastTasks(a, sessions), nil
	}
	dir := host.SessionDir(sessions, id)
	if _, err := os.Stat(dir); err != nil {
		return sessionTasks{}, usageError("there is no session %q in %s", id, sessions)
	}
	found, err := readTasks(id, dir)
	return found, hostError(err)
}

func readTasks(session, dir string) (found sessionTasks, err error) {
	found.session = session
	if found.background, err = host.ReadTasks(dir); err != nil {
		return found, err
	}
	if found.work, err = host.ReadWork(dir); err != nil {
		return found, err
	}
	if len(found.background) > 0 {
		found.last = latestOf(found.background)
	}
	if len(found.work.Tasks)+len(found.work.Todos) > 0 {
		if at := host.WorkChanged(dir); at.After(found.last) {
			found.last = at
		}
	}
	return found, nil
}

// lastTasks looks through sessions for the last task, those first that were written to
// last: nothing began in a session after that.
func lastTasks(a *app, sessions string) (newest sessionTasks) {
	for _, s := range byLastRecord(sessions) {
		if !newest.empty() && s.last.Before(newest.last) {
			break
		}
		found, err := readTasks(s.name, filepath.Join(sessions, s.name))
		if err != nil {
			a.err.Printf("toolquay: %v\n", err)
			continue
		}
		if !found.empty() && (newest.empty() || found.last.After(newest.last)) {
			newest = found
		}
	}
	return newest
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
		info, err := os.Stat(filepath.Join(sessions, e.Name(), "journal.jsonl"))
		if err != nil {
			continue
		}
		last := info.ModTime()
		if at := host.WorkChanged(filepath.Join(sessions, e.Name())); at.After(last) {
			last = at
		}
		list = append(list, recorded{e.Name(), last})
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
