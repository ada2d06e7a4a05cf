package main

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// listTeam lists the work of a team.
func listTeam(a *app, teams, team string, asJSON bool) error {
	dir, err := host.TeamDir(teams, team)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError("there is no team %q in %s", team, teams)
	}
	if err != nil {
		return hostError(err)
	}
	work, err := host.ReadWork(dir)
	if err != nil {
		return hostError(err)
	}
	if asJSON {
		return printWorkRecords(a, ofWork{Team: team}, &work)
	}
	a.out.Printf("Team %s\n", team)
	printWork(a, &work)
	if len(work.Tasks) == 0 {
		a.out.Printf("No work.\n")
	}
	return nil
}

// The kinds of lists of work.
const (
	kindTodo = "todo"
	kindWork = "work"
)

// ofWork is what lines of lists of work have in common, as programs get them: whose lists they
// are.
type ofWork struct {
	Session string `json:"session,omitempty"`
	Team    string `json:"team,omitempty"`
	Kind    string `json:"kind"`
	Agent   string `json:"agent,omitempty"`
}

// todoRecord is a todo of an agent as programs get it.
type todoRecord struct {
	ofWork
	*abi.Todo
}

// workRecord is a task that agents share as programs get it.
type workRecord struct {
	ofWork
	*abi.WorkItem
}

// printWorkRecords prints lists of work as programs get them.
func printWorkRecords(a *app, of ofWork, work *host.KeptWork) error {
	warnWork(a, work)
	for _, agent := range slices.Sorted(maps.Keys(work.Todos)) {
		for i := range work.Todos[agent] {
			of.Kind, of.Agent = kindTodo, agent
			if err := a.printJSON(todoRecord{of, &work.Todos[agent][i]}); err != nil {
				return err
			}
		}
	}
	for i := range work.Tasks {
		of.Kind, of.Agent = kindWork, ""
		if err := a.printJSON(workRecord{of, &work.Tasks[i]}); err != nil {
			return err
		}
	}
	return nil
}

// warnWork tells of what could not be read.
func warnWork(a *app, work *host.KeptWork) {
	for _, note := range work.Notes {
		a.err.Printf("toolquay: %s\n", note)
	}
}

// printWork prints lists of work for people.
func printWork(a *app, work *host.KeptWork) {
	warnWork(a, work)
	for _, agent := range slices.Sorted(maps.Keys(work.Todos)) {
		rows := [][]string{{"TODO", "PRIORITY", "WHAT"}}
		for _, t := range work.Todos[agent] {
			rows = append(rows, []string{t.Status, t.Priority, firstLine(t.Content)})
		}
		a.out.Printf("\nTodos of %s:\n", agent)
		a.out.Table(rows)
	}
	if len(work.Tasks) == 0 {
		return
	}
	completed := make(map[string]bool)
	for i := range work.Tasks {
		completed[work.Tasks[i].ID] = work.Tasks[i].Status == abi.WorkCompleted
	}
	rows := [][]string{{"WORK", "STATUS", "OWNER", "WAITS FOR", "WHAT"}}
	for i := range work.Tasks {
		t := &work.Tasks[i]
		waits := slices.DeleteFunc(slices.Clone(t.BlockedBy), func(id string) bool { return completed[id] })
		rows = append(rows, []string{"#" + t.ID, t.Status, t.Owner, strings.Join(waits, ", "), t.Subject})
	}
	a.out.Printf("\nWork:\n")
	a.out.Table(rows)
}
