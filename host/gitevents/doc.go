// Package gitevents tells what a shell command did to a repository, or to the
// service that hosts it: commits, pushes, merges, branches, pull requests.
//
// Neither the command nor its output is enough. "git commit" may have found nothing
// to commit, and a commit's line may be what somebody wrote into a file that was
// printed. So a deed takes both: a program among the parts of the parsed command
// that can have done it (git.go, pulls.go), and either a line that this program
// prints once it is done (signs.go), or an exit status that cannot have been zero
// otherwise (ends.go). What git translates is not relied on, and no alias is
// guessed at: in doubt there is no deed.
package gitevents
