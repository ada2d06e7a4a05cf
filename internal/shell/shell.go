// Package shell finds out what a shell command would do, before it runs and
// without running anything.
//
// A command is guarded, parsed, inspected and followed. The guard (guard.go)
// refuses what must not reach the parser. The inspection (syntax.go) is a
// positive list of syntax: what bash and the parser may read differently is a
// fault. Then the statements are followed (follow.go) as bash would run them,
// with the directories the shell may be in; every simple command (simple.go)
// becomes a part with what its program is known to do (internal/programs).
// What is not known is never read-only.
//
// Paths are joined lexically. It is assumed that no link is on the way to the
// directories of a [Place], and a name that steps back out of another directory
// (link/../file) counts as not known. Elsewhere links are for the host to
// resolve: see permissions.Command.Resolve.
//
// It is assumed that the shell is bash, without start-up files, aliases or
// exported functions, with the options it starts with, and that CDPATH is not
// in its environment.
package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/permissions"
)

// Place is where a command would run. Paths are absolute and clean, with
// slashes.
type Place struct {
	// Cwd is the shell's directory; Home what ~ and $HOME are, empty if unknown.
	// No link should be on the way to them.
	Cwd, Home string
	// Repository tells what git reads where it runs in a directory, and whether that is
	// all. Without it the repository is taken to be the working directory.
	Repository func(dir string) (found permissions.Repository, known bool)
	// Working are the directories that cd may enter unasked. Cwd is one whether
	// or not it is listed.
	Working []string
	// Scratch tells where temporary files lie, if they have a directory that is the
	// session's own; it is only called for a command that may name it.
	Scratch func() Scratch
	scratch Scratch
}

// Scratch is a session's directory for temporary files. It may be entered unasked.
type Scratch struct {
	// Dir is its real path, if $TMPDIR names it; else empty.
	Dir string
	// Mounted says that a command has Dir as /tmp and /var/tmp, and lists what lies there at
	// its own path all the same, such as a working directory. Nil says that these are the
	// machine's.
	Mounted []string
}

// Analyse reads a command for bash. It never fails: what cannot be judged is
// said in the answer's Fault. It looks at no file, but by the place's Repository.
//
// A part without words is not a program: an assignment alone, a redirection of
// a compound command, or syntax that may run what the text does not show. The
// last two are told apart by Complete.
func Analyse(text string, at Place) permissions.Command {
	if at.Scratch != nil && mayNameTemp(text) {
		at.scratch = at.Scratch()
	}
	if why := guard(text); why != "" {
		return faulty(text, at, why)
	}
	file, err := parse(text)
	if err != nil {
		return faulty(text, at, "it is not understood: "+err.Error())
	}
	first := &wires{}
	c := analyse(file, text, at, first)
	if first.crossed() {
		c = analyse(file, text, at, &wires{strict: true})
	}
	return c
}

// analyse reads a command that was parsed.
func analyse(file *syntax.File, text string, at Place, w *wires) permissions.Command {
	budget := maxWork
	a := newAnalysis(text, at, &budget, w)
	a.inspect(file)
	if a.fault == errNested.Error() {
		return faulty(text, at, a.fault)
	}
	a.follow(file)
	if budget < 0 {
		return faulty(text, at, "it starts too many commands to look into")
	}
	return a.command()
}

// faulty is the answer on a command that cannot be judged: guesses for deny and
// ask rules.
func faulty(text string, at Place, why string) permissions.Command {
	return permissions.Command{Text: text, Fault: why, Reason: why, Parts: guesses(text, at)}
}

// command puts the answer together.
func (a *analysis) command() permissions.Command {
	c := permissions.Command{Text: a.text, Fault: a.fault, Parts: a.parts, ReadOnly: true, ReadOnlyConfined: a.fault == ""}
	if a.fault != "" {
		for i := range c.Parts {
			c.Parts[i].ReadOnly, c.Parts[i].Complete, c.Parts[i].Reason = false, false, a.fault
		}
		c.Parts = append(c.Parts, guesses(a.text, a.at)...)
		c.ReadOnly, c.Reason = false, a.fault
		return c
	}
	c.Cwd, c.Reason = a.end.end(), "it only reads"
	c.Restrained = !slices.ContainsFunc(c.Parts, func(p permissions.Part) bool { return !p.Inner && !p.Bounded() })
	if !c.Restrained {
		unrestrain(c.Parts)
	}
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Inner {
			continue
		}
		if c.ReadOnly && !p.ReadOnly {
			c.ReadOnly, c.Reason = false, p.Reason
		}
		c.ReadOnlyConfined = c.ReadOnlyConfined && p.ReadOnlyConfined && p.Ask == ""
	}
	return c
}
