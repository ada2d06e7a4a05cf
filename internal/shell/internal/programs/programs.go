// Package programs knows what programs do with their arguments: which of them
// only read, with which flags, and which files they touch.
//
// What is known is data: one row a program, or sub-command, in the text files
// under table, each with its reason. A program whose command line is a language
// of its own (test, printf, find ...) has a Go function instead of a row's flags.
// What has no row, or a flag its row does not list, is not known, and so neither
// read-only nor complete.
package programs

import "github.com/toolquay/toolquay/permissions"

// Arg is one word of a simple command.
type Arg struct {
	// Text is what the program is given where Literal is set, else the word as
	// written.
	Text string
	// Literal says that nothing in the word is expanded.
	Literal bool
	// Glob says that the word holds unquoted pattern characters and nothing
	// else that is expanded: names of files are put in its place.
	Glob bool
	// Single says that the word becomes exactly one argument, though not which:
	// all that is expanded in it is quoted and yields one word ("$f", "$(cmd)",
	// but not "$@" and not "${a[@]}"). It may stay unset where that is not known.
	Single bool
}

// Finding is what is known of one simple command.
type Finding struct {
	// ReadOnly says that it changes nothing, starts nothing, reaches no host,
	// runs no code from files, arguments, environment or configuration, and
	// ends by itself, whatever the files it names hold. It holds only under
	// [Environment].
	ReadOnly bool
	// Confined says that it would be ReadOnly if it could write nothing and reach no host.
	Confined bool
	// Complete says that Effects are everything it does.
	Complete bool
	// Unknown says which paths and hosts it may touch that Effects does not list, since
	// a word that is expanded may name them. Such a command is not Complete.
	Unknown permissions.Unknown
	// Reason says why it is not read-only; or what makes it so.
	Reason string
	// Effects are the paths and hosts it touches, in order of its arguments.
	Effects []Effect
	// Inner are commands it starts, if they can be told.
	Inner []Inner
	// AnyHost says that it may reach hosts that Effects does not list.
	AnyHost bool
	// Ask says why a person is to be asked whatever rules allow; or is empty.
	Ask string
}

// Effect is one path or host.
type Effect struct {
	Kind permissions.AccessKind
	// Name is as it was written: a path may be relative or start with ~/. It
	// is a literal, but where Glob is set a pattern for file names.
	Name          string
	Glob          bool
	Tree, Removal bool
	// Links says, with Tree, that links found below are followed.
	Links bool
	// Opened says that a file that is written is opened for that, and not replaced,
	// moved or given other rights: what is written to a device is gone.
	Opened bool
	// Git says that it is the repository that git uses in that directory: with Tree all
	// that it holds, else what it keeps of its own.
	Git bool
	// Former says, with Tree, that git prints what the path holds and has held, and
	// Objects are the words, with NULs between them, that may name any object; where
	// AnyObject is set, others may be named, too.
	Former, AnyObject bool
	Objects           string
	// Held marks a host that only deny and ask rules are asked about: a word that
	// may name one, a proxy, a host behind another.
	Held bool
}

// Inner is a command that another one starts.
type Inner struct {
	Args []Arg
	// Shell is set instead of Args where it is text for a shell.
	Shell string
	// Guess marks a command that may begin at this word: another of the same list
	// begins at each word behind it.
	Guess bool
	// Transparent says that the outer command is one that rules look through:
	// timeout, time, nice, nohup, stdbuf, and xargs without flags. The outer
	// command has no effect of its own then, and its ReadOnly and Complete say
	// whether the inner one may be judged as if it stood alone: both findings
	// must hold.
	Transparent bool
	// More says that further arguments, unknown ones, are put behind Args.
	More bool
}
