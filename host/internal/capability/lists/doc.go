// Package lists answers session.todo and session.task: what a model does with its lists of
// work.
//
// The session hands in the lists. They are the session's own affair, so nobody is asked.
package lists
