package permissions

import (
	"path"
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions/internal/shellword"
)

// Command is what is known of a shell command before it runs. Package
// internal/shell finds it out; [Decide] judges by it and never by the text.
type Command struct {
	// Text is the command as it was given: the Target of its exec access.
	Text string
	// Fault says why the command cannot be judged: too long, not parsable,
	// hiding characters, nested too deep. It is empty where it can. A command
	// with a fault is never read-only, and no rule allows it; Parts are then
	// what can be seen of it, for deny and ask rules.
	Fault string
	// ReadOnly says that nothing is changed, started or kept by running it,
	// whatever is in the files it names. Reason says why it is so, or not.
	ReadOnly bool
	Reason   string
	// ReadOnlyConfined says that it is so where the command runs wholly confined, with nothing
	// that it can write and no network: all its parts are [Part.ReadOnlyConfined]. It then runs
	// under the environment that Restrained names, too.
	ReadOnlyConfined bool
	// Restrained says that it is to run in the environment of package internal/shell,
	// which keeps programs from what a repository names: all its parts are [Part.Bounded],
	// and some may only be read-only there.
	Restrained bool
	// Parts are its simple commands, in order: those in substitutions, loops,
	// functions and here-documents, and those behind wrappers, too.
	Parts []Part
	// Cwd is the shell's directory at the end; empty where it cannot be told.
	Cwd string
	// Unsandboxed says that the model asked to leave the sandbox.
	Unsandboxed bool
}

// Part is one simple command of a [Command].
type Part struct {
	// Words are the program and its arguments, quotes taken off; assignments and
	// redirections are left out, and so are wrappers that change nothing of
	// what runs (timeout, nice ...), which have parts of their own, Inner.
	Words []Word
	// Env names the variables set for it that may change what it does. EnvTunes says that
	// all of them are known to say how much is shown or used, and to name nothing that is
	// run, loaded or reached: allow rules speak of the part in spite of them.
	Env      []string
	EnvTunes bool
	// Inner says that allow rules do not speak of the part: it is another
	// reading of one that stands beside it (with its wrapper, behind a wrapper
	// that is never pre-approved, the program without its directory), or a
	// guess at a command that cannot be parsed. Deny and ask rules do.
	Inner bool

	// Again says that the part is in a loop, so that it may run after parts that
	// are listed behind it; Beside, that it may run at the same time as others:
	// in a pipe, the background or a process substitution.
	Again, Beside bool

	// ReadOnly is as in Command, for the part with its redirections.
	ReadOnly bool
	// ReadOnlyConfined says that it is so at least where the command runs wholly confined,
	// with nothing that it can write and no network: its program is known to only read, but
	// which files, is only known when it runs; or it keeps caches and asks hosts besides.
	ReadOnlyConfined bool
	// Complete says that Accesses are everything the part does, so that they
	// alone can be judged. A part that is neither ReadOnly nor Complete may do
	// anything.
	Complete bool
	// Prints says that the program is a plain one that reads and prints, whatever its
	// environment and the settings in files, so that the part does no more than its
	// Accesses, those of its redirections among them.
	Prints bool
	Reason string
	// Accesses are the effects that are known, in order: paths (absolute and
	// clean, of the directory the part runs in) and hosts. Target is set; Real
	// is for Resolve to find. The last of them, Redirected in number, are those
	// of its redirections: the shell's, not the program's.
	Accesses   []Access
	Redirected int
	// Unknown says which accesses it makes besides, to paths and hosts that are only
	// known when it runs. A part that has any is not Complete.
	Unknown Unknown
	// Hosts are hosts that the part may reach besides those in Accesses, or may not:
	// a proxy, a host behind another, a word that may name one. Only deny and ask
	// rules are asked about them.
	Hosts []string
	// Ask says why a person is to be asked, whatever rules allow; empty is no
	// reason. Where Critical is set that is so in bypassPermissions too.
	Ask      string
	Critical bool
}

// Bounded reports whether the part does no more than to touch its Accesses, so that it is
// judged by them alone: it is read-only, or a program that is known to change files and
// nothing else.
func (p *Part) Bounded() bool {
	return len(p.Env) == 0 && (p.ReadOnly || p.Complete && (p.Prints || len(p.Words) > 0 && fileProgram(p.Words[0])))
}

// git reports whether the program of the part is git.
func (p *Part) git() bool {
	return len(p.Words) > 0 && strings.EqualFold(path.Base(p.Words[0].Text), "git")
}

// restores reports whether git, in the command, may bring back files that no sandbox hid when it
// began.
func (c *Command) restores() bool {
	return slices.ContainsFunc(c.Parts, func(p Part) bool { return p.git() && !p.ReadOnly })
}

// fileProgram reports whether a program does what file tools do.
func fileProgram(program Word) bool {
	switch program.Text {
	case "mkdir", "mktemp", "touch", "rm", "rmdir", "mv", "cp", "sed":
		return program.Literal
	}
	return false
}

// Word is one word of a simple command: the text that the program is given, where Literal is
// set, else the word as it was written, with what the shell expands in it.
type Word = shellword.Word

// Resolve sets the Real of every path that the parts touch to what follow
// returns for it, in place.
func (c *Command) Resolve(follow func(path string) string) {
	for i := range c.Parts {
		for j := range c.Parts[i].Accesses {
			if a := &c.Parts[i].Accesses[j]; a.Kind == AccessRead || a.Kind == AccessWrite {
				a.Real = follow(a.Target)
			}
		}
	}
}

// Accesses lists what the command touches: the command itself, then the paths
// and hosts of its parts.
func (c *Command) Accesses() []Access {
	out := []Access{{Kind: AccessExec, Target: c.Text}}
	for i := range c.Parts {
		out = append(out, c.Parts[i].Accesses...)
	}
	return out
}

// Unknown says which accesses a [Part] makes whose target is only known when it runs,
// because a variable, a substitution, a pattern or another user's home stands in it. The
// values are bits.
type Unknown uint8

// The accesses whose target is not known.
const (
	// UnknownRead is a path that is read.
	UnknownRead Unknown = 1 << iota
	// UnknownWrite is a path that is written, made or removed.
	UnknownWrite
	// UnknownMustAsk goes with UnknownWrite where no rule on the program allows the write:
	// the shell itself does it, or it is to a whole directory.
	UnknownMustAsk
	// UnknownHost is a host that is reached.
	UnknownHost

	// UnknownAll is what a program may do that is not known itself.
	UnknownAll = UnknownRead | UnknownWrite | UnknownHost
)

// UnknownOf is the bit of a kind of access; none for what is no path and no host.
func UnknownOf(kind AccessKind) Unknown {
	switch kind {
	case AccessRead:
		return UnknownRead
	case AccessWrite:
		return UnknownWrite
	case AccessNet:
		return UnknownHost
	}
	return 0
}
