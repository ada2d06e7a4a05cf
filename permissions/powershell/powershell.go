// Package powershell finds out what a command for PowerShell would do, before it runs
// and without running anything.
//
// PowerShell's parser is not ours, and its language has many ways to run code: script
// blocks, sub-expressions, types, providers, properties that are computed. So this is
// a positive list over a tokenizer. A text is understood as far as it is commands with
// plain words, joined by ; | && || and new lines (lex.go); the first thing that is
// anything else ends the understanding, and the rest is one part that no rule on its
// words allows. What is understood is read-only where the command is a cmdlet of
// cmdlets.go, every parameter is written out in full, and every value is literal.
// About the rest, parts are guessed that deny and ask rules can meet (guess.go).
//
// It is assumed that PowerShell runs with -NoProfile and -NonInteractive, so that
// functions, aliases and defaults of parameters are those it comes with, and that no
// link is on the way to the directories of a [Place].
//
// What is relied upon of the language is told by the pages about_Parsing,
// about_Quoting_Rules, about_Special_Characters, about_Redirection, about_Pipelines,
// about_Parameters, about_Wildcards, about_Command_Precedence and about_Aliases of
// PowerShell's documentation; where they leave a doubt, nothing is read-only.
package powershell

import (
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/shell"
)

// Place is where a command would run. Paths are absolute and clean, with slashes.
type Place struct {
	// Cwd is the directory it starts in; Home what ~ is, empty if unknown.
	Cwd, Home string
	// Working are the directories that Set-Location may enter unasked. Cwd is one
	// whether or not it is listed.
	Working []string
	// Windows says that names are read as Windows does: a backslash parts them, and ls,
	// cat and their like are aliases.
	Windows bool
}

// Analyse reads a command for PowerShell. It never fails: a text that cannot be taken
// apart has a Fault; one that is only not understood has none, and a part that is
// neither read-only nor complete. It looks at no file.
//
// The words of a part are those of the command as they are written, quotes taken off,
// a list such as a,b being one word: rules on PowerShell(...) and Bash(...) are
// compared with them, whatever the case of their letters where they deny or ask. For
// these there are further parts, Inner: with the cmdlet that an alias means, and
// without a module's name, .exe and the commas.
func Analyse(text string, at Place) permissions.Command {
	c := permissions.Command{Text: text}
	if why := shell.Guard(text); why != "" {
		return faulty(c, at, why)
	}
	read := lex(text)
	if read.fault != "" {
		return faulty(c, at, read.fault)
	}
	a := analysis{at: at, dirs: []string{at.Cwd}}
	pipelines, odd := read.pipelines()
	for i := range pipelines {
		a.pipeline(pipelines[i])
	}
	if a.moves > maxMoves {
		return faulty(c, at, "it changes its directory too often to follow")
	}
	if odd.why != "" {
		a.notUnderstood(text, odd)
	}
	return a.command(c)
}

// faulty is the answer on a command that cannot be judged.
func faulty(c permissions.Command, at Place, why string) permissions.Command {
	c.Fault, c.Reason, c.Parts = why, why, guesses(c.Text, at)
	return c
}

// analysis is what is known of a command so far.
type analysis struct {
	at    Place
	parts []permissions.Part
	// dirs are the directories it may be in, as a Set-Location may fail; the last is
	// where it is if none has.
	dirs  []string
	moves int
	// shaken says why names may mean something else by now; empty is that they do not.
	shaken string
}

// notUnderstood adds the part for what is not understood of a text. It has one word
// that may come to anything, so that no rule allows it and any rule that holds
// commands back asks; what can be seen in it is guessed.
func (a *analysis) notUnderstood(text string, odd oddity) {
	a.parts = append(a.parts, permissions.Part{
		Words:  []permissions.Word{{Text: text[odd.at:]}},
		Reason: odd.why + place(text, odd.at),
	})
	a.parts = append(a.parts, guesses(text, a.at)...)
}

// command puts the answer together.
func (a *analysis) command(c permissions.Command) permissions.Command {
	c.Parts, c.ReadOnly, c.Reason = a.parts, true, "it only reads"
	for i := range c.Parts {
		if p := &c.Parts[i]; !p.Inner && !p.ReadOnly {
			c.ReadOnly, c.Reason = false, p.Reason
			return c
		}
	}
	c.Cwd, c.Restrained = a.dirs[len(a.dirs)-1], true
	return c
}
