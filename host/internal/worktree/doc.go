// Package worktree makes and removes worktrees of git for sessions, and keeps a record of each, so
// that one that a killed process left is found and nothing of a user's is lost.
//
// It runs the system's git. Whatever the repository's own configuration says, git starts no
// program for it: no hook, filter, monitor, pager, helper or signer, and connects to nothing. So a
// worktree holds what git has of each file, such as the pointers of large files.
//
// A [Store] has a directory for each repository; in that, a worktree NAME of a branch
// worktree/NAME, where slashes are written as "+", and its record. A session that is in a worktree
// holds the lock on the record. Each step is written down before it is done:
//
//	making    the record, then branch and worktree, then the files
//	removing  the record says so, then the worktree, then the branch, then the record goes
package worktree
