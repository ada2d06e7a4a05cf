// Package self answers session.output, session.message and session.config and others: what a call does
// to its own session, and to the settings of the one whose session it is.
//
// It keeps nothing. The session takes the output and tells the news; the settings are handed
// in. What lies outside the session is an access like any other: a file that belongs to a
// message is read, and a setting is a change of the settings file. A worktree of git lasts beyond
// the session, which the access says.
package self
