package programs

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/permissions"
)

// judgeWrapper judges a program that starts the command in its operands.
func judgeWrapper(r *row, args []Arg) Finding {
	l := r.read(args)
	known := l.unknown == "" && l.loose == "" && l.several == ""
	f := Finding{Effects: l.effects(), Reason: r.name + ": " + r.why}
	if l.command < 0 || !known {
		f.Inner = guesses(args)
	} else {
		f.Inner = l.inner(args[l.command:])
	}
	for _, it := range l.items {
		if it.kind == kindShell && it.arg.Literal {
			f.Inner = append(f.Inner, Inner{Shell: it.arg.Text})
		}
	}
	f.Unknown = l.unseen()
	if (!known || r.text) && slices.ContainsFunc(args, isExpanded) {
		f.Unknown = permissions.UnknownAll // which command it starts is not known
	}
	if r.transparent && known && l.command >= 0 {
		return f.transparent(r)
	}
	return f
}

// transparent makes a wrapper one that is looked through.
func (f Finding) transparent(r *row) Finding {
	inner := &f.Inner[0]
	inner.Transparent = true
	if name, _ := programName(inner.Args[0].Text); table()[name] != nil && table()[name].byName {
		f.Reason = r.name + " starts " + name + " without what makes that safe"
		return f
	}
	f.ReadOnly, f.Complete, f.Reason = true, true, r.why
	return f
}

// inner returns the command at the end of a line, behind the variables that are
// set for it and a "--" of its own (kubectl exec POD -- COMMAND).
func (l *line) inner(command []Arg) []Inner {
	for len(command) > 1 && l.row.opaque && (strings.Contains(command[0].Text, "=") || command[0].Text == "--") {
		command = command[1:]
	}
	if l.row.text {
		return shellText(command)
	}
	return []Inner{{Args: command}}
}

// shellText is a command that a shell reads out of words.
func shellText(words []Arg) []Inner {
	var text []string
	for _, w := range words {
		if !w.Literal {
			return nil
		}
		text = append(text, w.Text)
	}
	return []Inner{{Shell: strings.Join(text, " ")}}
}

// mostGuesses bounds the commands that a line is searched for.
const mostGuesses = 8

// guesses are the commands that may be in a line whose flags are not known: one
// begins at any word.
func guesses(args []Arg) []Inner {
	var out []Inner
	for i, a := range args {
		if a.Literal && a.Text != "" && a.Text[0] != '-' && len(out) < mostGuesses {
			out = append(out, Inner{Args: args[i:]})
		}
	}
	return out
}

// isExpanded reports whether it is only known later what a word is.
func isExpanded(a Arg) bool { return !a.Literal }

// judgeXargs judges xargs: only without flags is it looked through.
func judgeXargs(r *row, args []Arg) Finding {
	if len(args) == 0 {
		args = []Arg{{Text: "echo", Literal: true}}
	}
	if args[0].Literal && !strings.HasPrefix(args[0].Text, "-") {
		f := Finding{Inner: []Inner{{Args: args, More: true}}}
		return f.transparent(r)
	}
	f := judgeWrapper(r, args)
	for i := range f.Inner {
		f.Inner[i].More = true
	}
	f.Reason = "xargs with flags may start anything"
	return f
}

// judgeEnv judges env, which prints the environment where it starts nothing.
func judgeEnv(r *row, args []Arg) Finding {
	if len(args) == 0 || len(args) == 1 && args[0].Literal && (args[0].Text == "-0" || args[0].Text == "--null") {
		return Finding{ReadOnly: true, Complete: true, Reason: "it prints the variables that the shell may show with echo anyway"}
	}
	return judgeWrapper(r, args)
}

// judgeCommand judges the shell's command, which with -v only tells of one.
func judgeCommand(r *row, args []Arg) Finding {
	if len(args) > 0 && args[0].Literal && (args[0].Text == "-v" || args[0].Text == "-V") {
		return Finding{ReadOnly: true, Complete: true, Reason: "it tells what a name means to the shell"}
	}
	return judgeWrapper(r, args)
}

// judgeShell judges a shell: with -c its text is read, else its script is not.
func judgeShell(r *row, args []Arg) Finding {
	f := Finding{Reason: r.name + ": " + r.why}
	text := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !a.Literal:
			f.Unknown = permissions.UnknownAll
			return f
		case len(a.Text) < 2 || a.Text[0] != '-' && a.Text[0] != '+':
			if text {
				f.Inner = []Inner{{Shell: a.Text}}
			} else {
				f.Effects = []Effect{{Kind: permissions.AccessRead, Name: a.Text}}
			}
			return f
		case a.Text == "--rcfile" || a.Text == "--init-file":
			i++
		case strings.HasPrefix(a.Text, "--"):
		default:
			text = text || strings.Contains(a.Text, "c")
			if strings.HasSuffix(a.Text, "o") || strings.HasSuffix(a.Text, "O") {
				i++
			}
		}
	}
	return f
}
