// Package retention finds and removes what a user's state no longer needs: the directories of
// sessions nobody uses, their results and histories, caches, worktrees of git that sessions left, old files of the decision log, and
// what processes left that were killed.
//
//	report := retention.Look(ctx, options)  // only reads
//	report = retention.Clean(ctx, options)  // removes what is over the limits
//	retention.Daily(ctx, options, logger)   // the same, unless it was done within a day
//
// It never removes what is in use, nor a session in which files are staged, nor a worktree with which files or commits
// would be lost; it follows no links, and
// leaves alone what it does not know: that is in the report. What cannot be removed is there too, and does not keep the rest from
// being removed. Each removal is safe beside hosts and other cleaners, and one that is cut
// short leaves what the next one finishes.
package retention
