// Package gitevents tells what a shell command did to a repository, or to the
// service that hosts it: commits, pushes, merges, branches, pull requests.
//
// What happened in a repository its reference logs say (watch.go): their ends are
// remembered before a command that runs git, and what git wrote behind them is read
// after it. So neither -q nor a checkout hides a commit, and nothing that is printed
// makes one. Without reference logs, and in repositories that keep references in
// tables, there are no events. A push is known from the remote-tracking branch that it
// updates: one to a URL that no remote has, and one of a tag, is not told.
//
// A service keeps nothing here. Of gh, glab and curl a table (pulls.go) says which
// words or which request do what, and what is printed once it is done. Where
// nothing is printed, the exit status has to prove it.
package gitevents
