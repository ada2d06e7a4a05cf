// Package powershell finds out what a command for PowerShell would do, before it runs
// and without running anything.
//
// PowerShell's parser is not ours, and its language has many ways to run code: script
// blocks, sub-expressions, types, providers, properties that are computed. So this is
// a splitter and a short positive list. A text is understood as far as it is commands
// with plain words, joined by ; | && || and new lines (split.go); the first thing that
// is anything else ends the understanding, and the rest is one part that no rule on its
// words allows. What is understood is read-only where the command is a cmdlet of
// cmdlets.go, every parameter is written out in full, and every value is literal
// (judge.go). About the rest, parts are made that deny and ask rules can meet
// (effects.go).
//
// It is assumed that PowerShell runs with -NoProfile and -NonInteractive, so that
// functions, aliases and defaults of parameters are those it comes with, that no link is
// on the way to the directories of a [Place], and that this is not Windows, where no
// command runs yet: names there have dots that are dropped, devices and short forms.
//
// What is relied upon of the language is told by the pages about_Parsing,
// about_Quoting_Rules, about_Special_Characters, about_Redirection, about_Pipelines,
// about_Parameters, about_Wildcards, about_Command_Precedence and about_Aliases of
// PowerShell's documentation; where they leave a doubt, nothing is read-only.
package powershell

import (
	"github.com/toolquay/toolquay/internal/shell"
	"github.com/toolquay/toolquay/permissions"
)

// Place is where a command would run. Paths are absolute and clean, with slashes.
type Place struct {
	// Cwd is the directory it starts in; Home what ~ is, empty if unknown.
	Cwd, Home string
	// Working are the directories that Set-Location may enter unasked. Cwd is one
	// whether or not it is listed.
	Working []string
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
	a := analysis{at: at, dirs: []string{at.Cwd}}
	r := splitter{text: text}
	if c.Fault = shell.Guard(text); c.Fault == "" {
		r.split()
		c.Fault = r.fault
	}
	for i := range r.pipelines {
		a.pipeline(r.pipelines[i])
	}
	if a.lost {
		c.Fault = "it changes its directory too often to follow"
	}
	if c.Fault != "" {
		c.Reason, c.Parts = c.Fault, guesses(text, at)
		return c
	}
	if r.odd != "" {
		// One word that may come to anything: no rule allows it, and any rule that
		// holds commands back asks.
		a.parts = append(a.parts, permissions.Part{
			Words:  []permissions.Word{{Text: text[r.oddAt:]}},
			Reason: r.odd + place(text, r.oddAt),
		})
		a.parts = append(a.parts, guesses(text, at)...)
	}
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

// place is where an offset of the text is, as a remark.
func place(text string, offset int) string { return " (" + shell.Position(text, offset) + ")" }

// analysis is what is known of a command so far.
type analysis struct {
	at    Place
	parts []permissions.Part
	// dirs are the directories it may be in, as a Set-Location may fail; the last is
	// where it is if none has.
	dirs []string
	// lost says that they are too many.
	lost bool
	// shaken says why names may mean something else by now; empty is that they do not.
	shaken string
}
