package capability

import (
	"context"
	"os"

	"github.com/toolquay/toolquay/permissions"
)

// Shell is what a session knows of the commands that its tools run. It is safe for
// concurrent use.
type Shell interface {
	// Analyse finds out what a command would do where the session now is, as the gate
	// does that judges it.
	Analyse(command string) permissions.Command
	// SandboxPolicy returns what commands of the session are held to. It is made anew for
	// each command, as rules and files change. Confined says that a sandbox is to be made of
	// it: otherwise hidden and protected paths are not looked for. Writes says that the
	// command may write in the sandbox: otherwise protected paths are not looked for.
	SandboxPolicy(ctx context.Context, confined, writes bool) (SandboxPolicy, error)
	// Environment is the environment that commands run with, as NAME=value: from the
	// host's own by a list of names that are allowed. Looks says that the command was
	// judged read-only, and adds what makes it so, such as that git runs no hooks.
	Environment(looks bool) []string
	// Spool makes a file for a command's output, which is the session's as long as
	// nobody removes it.
	Spool(call Call) (*os.File, error)
	// Tell tells whoever follows the session what a command did that they may want to
	// know of, such as a commit.
	Tell(d GitEvent)
	// Offers reports whether the model may call a tool of that name.
	Offers(tool string) bool
	// RunsOutside reports whether the settings let a command leave the sandbox where its
	// call asks for that.
	RunsOutside(command *permissions.Command) bool
	// OnlyReads reports whether a command that is not read-only by itself is taken for one
	// that only reads, as it runs wholly confined: then it may write nothing and reach no host.
	OnlyReads(command *permissions.Command) bool
}

// Runner is a plan that runs a command in a shell.
type Runner interface {
	Plan
	// Shell is which one, and LeavesSandbox says that it runs outside of the sandbox.
	Shell() string
	LeavesSandbox() bool
}

// Retrier is a plan that runs a command, and may run it again once more is open to it.
type Retrier interface {
	Runner
	// Refused are the hosts that the sandbox kept the command from, when it ran last and
	// ended, because nothing allows them.
	Refused() []string
}

// SandboxPolicy is what the sandbox of a session's command is made of. Paths are absolute,
// and links in them are resolved.
type SandboxPolicy struct {
	// Working are the directories that commands may write in, and Temp is a private one
	// for temporary files.
	Working []string
	Temp    string
	// Staged is the file tree that the command sees if its changes are staged. Changes in Temp and
	// Layer are not. Nil lets the command change the files themselves.
	Staged StagedTree
	// Tried says that this is a trial before a person is asked: only the changes in Staged are kept,
	// and the command reaches no host.
	Tried bool
	// Ended is closed when the session ends. What its commands share goes by it: the same
	// channel is the same session. Nil is a session that has only this command.
	Ended <-chan struct{}
	// Lasting is called when a command has run for a second. It may be nil.
	Lasting func()
	// Visible are the only files and directories that commands see besides Working, Temp and
	// what they were permitted to read; none shows them the whole machine.
	Visible []string
	// Layer holds the project's own caches, in which commands may write, and Environment the
	// settings, NAME=value, that have tools use them; empty are none.
	Layer       string
	Environment []string
	// Hidden paths may not be read: credential stores, and what rules deny. Shown paths lie
	// in hidden ones and may be read; hidden paths in them stay hidden.
	Hidden, Shown []string
	// Protected paths lie in Working and may not be changed, whether or not they exist, and
	// the directories above them may not be renamed.
	Protected []string
	// Opened are files, and directories with all in them, outside of Working that a person
	// allowed this call to change.
	Opened []string
	// Repositories are git's own directories outside of Working, of work trees in it. Commands
	// may write there except to what is Protected.
	Repositories []string
	// Copies are files of git's configuration in Working of which a command gets a copy of its
	// own to write; what it may change there is taken over when it has ended.
	Copies []FileCopy
	// Made settles, when the command has ended, what it made: it takes over what it changed in
	// Copies, and tells what was refused of that and which protected names below Working are
	// new; empty means none. It may be nil.
	Made func() string
	// Discard removes what was made for a command that did not start. It may be nil.
	Discard func()
	// HostsOpened says that some host is open to the command: by a rule, or because a person
	// allowed it to this call, also where commands usually have no way to hosts.
	HostsOpened bool
	// HostsApproved says that a person allowed this call alone a host.
	HostsApproved bool
	// Host reports whether rules, or what a person allowed this call, let commands reach a
	// host; nil means that none may be reached by name. It asks nobody.
	Host func(ctx context.Context, host string) bool
	// Denies reports whether a rule denies a host, so that nobody can allow it. It may be nil.
	Denies func(host string) bool
	// Local reports whether a host, which Host lets through, may be one of this machine
	// or of a private network: a rule names it, or a person was shown it.
	Local func(host string) bool
}

// StagedTree is the file tree that commands see if their changes are staged.
type StagedTree interface {
	// At returns the path under which this process finds the file that commands find at path, which
	// must be absolute and clean, with all links resolved except in its last component.
	At(path string) string
	// Resolve resolves the links in an absolute path as commands do.
	Resolve(path string) (string, error)
}

// FileCopy is a file that commands see as the one at Private.
type FileCopy struct{ Path, Private string }

// GitEvent is something that a command did: git, by what it left in the repository, or
// another program, by its words, its exit status and its output.
type GitEvent struct {
	Call Call
	// Program is git, gh, glab or curl; Kind one of the kinds of event.
	Program string
	Kind    GitEventKind
	// Commit is a commit's abbreviated or whole hash, Branch and Remote what was
	// committed to, pushed, merged or made; what is not known is empty.
	Commit, Branch, Remote string
	// Subject is a commit's first line, or the title of a pull request; Number and URL
	// are a pull request's.
	Subject string
	Number  int
	URL     string
	// Forced says that a push overwrote what was there.
	Forced bool
}

// GitEventKind is a kind of [GitEvent].
type GitEventKind string

// The kinds of git event.
const (
	GitCommit            GitEventKind = "commit"
	GitAmend             GitEventKind = "amend"
	GitPush              GitEventKind = "push"
	GitMerge             GitEventKind = "merge"
	GitRebase            GitEventKind = "rebase"
	GitBranch            GitEventKind = "branch"
	GitCherryPick        GitEventKind = "cherry_pick"
	PullRequestCreated   GitEventKind = "pull_request"
	PullRequestCommented GitEventKind = "pull_request_commented"
	PullRequestReady     GitEventKind = "pull_request_ready"
	PullRequestMerged    GitEventKind = "pull_request_merged"
	PullRequestClosed    GitEventKind = "pull_request_closed"
	PullRequestEdited    GitEventKind = "pull_request_edited"
)
