// Package task answers task.output, task.stop and task.sleep: what a model does about
// what goes on in the background of its session.
//
// It knows no kind of task; the session hands in its tasks. Reading and ending them is
// the session's own affair, as they are its own calls.
package task
