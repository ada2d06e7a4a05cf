// Package lists keeps lists of work: the todos of each agent of a session, and the tasks
// that the agents of a session or of a team share.
//
//	tasks := lists.NewTasks(lists.Place{Path: path, Make: makeDir}, logger)
//	item, err := tasks.Create(ctx, &abi.WorkChange{Subject: &subject, Description: &text}, nil)
//	done, err := tasks.Update(ctx, item.ID, &abi.WorkChange{Status: &completed}, "main", nil)
//
// # On disk
//
// The directory of tasks has
//
//	lock           locked by the process that reads or changes the tasks
//	1.json         a task; the edges that were added to it are in its own file only
//	2.gone         the number of a task that was deleted, or whose hooks still run
//	3.damaged      a task's file that could not be read, put aside for people
//
// Each change writes exactly one file: under another name, forced to the disk, renamed.
// So a crash leaves the task as it was or as it was to be, and never half an edge: an edge
// whose other end was deleted counts no more, as numbers are not given again. What a
// killed process left under its first name is removed by the next change.
//
// A number is higher than all that are on the disk. That of the last task stays there when
// it is deleted, and the number of a task whose hooks have yet to agree is there before
// they run: a host that is killed meanwhile leaves no task that nobody agreed to.
//
// Todos are one file for each agent, in a directory that one process has at a time.
package lists
