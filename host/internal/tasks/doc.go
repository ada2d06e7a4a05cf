// Package tasks keeps the background tasks of a session, of every kind: what runs, what
// has ended and how, and what of their output the session's model was shown.
//
//	r, err := tasks.Open(tasks.Options{Dir: directory})
//	t, err := r.Begin(capability.NewTask{Kind: 'b', Title: "make", Output: path, Stop: kill})
//	go func() { t.End(capability.TaskOutcome{Exit: wait()}) }()
//
// It runs nothing and ends nothing itself: who begins a task hands in how it is ended,
// and says when it has.
//
// # What is kept
//
// The journal of the session's directory remembers that a task began, how it ended, and
// what was shown of it. A task that began and has no end there was cut short with the
// process that ran it: it is lost, and that is all that is known. No ids of processes
// are kept, so that none that the system gave to somebody else is ever signalled.
//
// Another process that wants to look at a session's tasks calls [Read], which also
// works while the session is in use.
package tasks
