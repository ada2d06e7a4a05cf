package programs

import (
	"slices"
	"strings"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// judgeWrapper judges a program that starts the command in its operands, or in the
// values of its flags. Where it is not known which word the command begins at, it
// is taken to begin at each.
func judgeWrapper(r *row, args []Arg) Finding {
	l := r.read(args)
	known := l.unknown == "" && l.loose == "" && l.several == "" && !r.somewhere
	f := Finding{Effects: l.effects(), AnyHost: l.anyHost(), Reason: r.name + ": " + r.why}
	texts := l.texts()
	switch {
	case known && l.command >= 0:
		var more Finding
		f.Inner, more = l.inner(args[l.command:])
		f = f.with(more)
	case known && (len(texts) > 0 || !r.starts()):
	default:
		f.Inner = guesses(l.withoutFirst(args))
	}
	f.Unknown = l.unseen()
	if known && r.transparent && l.command >= 0 {
		return f.transparent(r)
	}
	f.Inner = append(f.Inner, texts...)
	return f
}

// withoutFirst blanks the first operand where it is one word, whichever, and no command
// can begin there: timeout "$T" make.
func (l *line) withoutFirst(args []Arg) []Arg {
	if len(l.row.takes) < 2 || l.row.takes[0].kind == kindCommand || l.row.takes[0].repeat {
		return args
	}
	at := slices.IndexFunc(args, func(a Arg) bool { return a.Text == "--" || !strings.HasPrefix(a.Text, "-") })
	if at < 0 || args[at].Literal || !args[at].Single {
		return args
	}
	args = slices.Clone(args)
	args[at] = Arg{Literal: true}
	return args
}

// starts reports whether an operand of a row is a command.
func (r *row) starts() bool {
	return r.somewhere || slices.ContainsFunc(r.takes, func(o operand) bool { return o.kind == kindCommand })
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
// set for it and a "--" of its own (kubectl exec POD -- COMMAND); and what the
// variables do.
func (l *line) inner(command []Arg) (list []Inner, set Finding) {
	for len(command) > 1 && l.row.opaque {
		name, value, assigns := strings.Cut(command[0].Text, "=")
		if assigns && !l.row.text {
			set = set.with(Variable(name, Arg{Text: value, Literal: command[0].Literal}))
		} else if command[0].Text != "--" && command[0].Text != "-" {
			break
		}
		command = command[1:]
	}
	switch {
	case l.row.text && l.row.byName && len(command) > 1: // git reads text for a shell in one word only
		return append(shellText(command), Inner{Args: command}), set
	case l.row.text:
		return shellText(command), set
	case strings.HasPrefix(command[0].Text, "-") && l.row.opaque:
		return guesses(command), set // a flag, and not listed: flock FILE -c TEXT
	}
	return []Inner{{Args: command}}, set
}

// texts are the values of flags, and the operands, that are text for a shell.
func (l *line) texts() []Inner {
	var out []Inner
	for _, it := range l.items {
		if it.kind == kindShell {
			out = append(out, textReadings(it.arg)...)
		}
	}
	return out
}

// textReadings are the commands in a value that is text for a shell, or names a
// program: all of it, and what stands behind a mark that some programs want before
// a command ("|cmd", "!cmd", "exec=cmd", "alias.x=!cmd").
func textReadings(value Arg) []Inner {
	out := shellText([]Arg{value})
	if !value.Literal {
		return out
	}
	_, behind, _ := strings.Cut(value.Text, "=")
	_, bound, _ := strings.Cut(value.Text, ": ") // bind -x '"\C-a": rm x'
	for _, text := range []string{value.Text, behind, bound} {
		if bare := strings.TrimLeft(text, "|!@+: "); bare != "" && bare != value.Text {
			out = append(out, Inner{Shell: bare})
		}
	}
	return out
}

// shellText is a command that a shell reads out of words. Where some are expanded
// before, a person is asked besides: what is put in may end one command and begin
// another.
func shellText(words []Arg) []Inner {
	var text []string
	var holes []Inner
	for _, w := range words {
		if !w.Literal && holes == nil {
			holes = []Inner{{Args: []Arg{w}}}
		}
		text = append(text, w.unquoted())
	}
	return append([]Inner{{Shell: strings.Join(text, " ")}}, holes...)
}

// unquoted is the text of a word; of one that is expanded as it was written, without
// the quotes around it.
func (a Arg) unquoted() string {
	if n := len(a.Text); !a.Literal && n > 1 && a.Text[0] == '"' && a.Text[n-1] == '"' {
		return quotesOff.Replace(a.Text[1 : n-1])
	}
	return a.Text
}

var quotesOff = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`")

// The bounds on guesses: how many there are, and how many words each has at most.
const (
	mostGuesses = 100
	longGuess   = 16
)

// guesses are the commands that may be in a line whose flags are not known: one
// begins at any word, and in a word that may be text for a shell. A word that is
// expanded may be anything.
func guesses(args []Arg) []Inner {
	var out []Inner
	for i, a := range args {
		switch rest := args[i:min(len(args), i+longGuess)]; {
		case i == mostGuesses:
			return append(out, Inner{Args: []Arg{{Text: "..."}}})
		case !a.Literal:
			if !mounts.MatchString(a.Text) {
				out = append(out, Inner{Args: rest, Guess: true})
			}
		case strings.HasPrefix(a.Text, "-"):
			if _, value, ok := strings.Cut(a.Text, "="); ok {
				out = append(out, Inner{Shell: value})
			} else if !strings.HasPrefix(a.Text, "--") {
				for j := 2; j < min(len(a.Text), 5); j++ { // "-cTEXT", "-qcTEXT"
					out = append(out, Inner{Shell: a.Text[j:]})
				}
			}
		case a.Text != "":
			out = append(out, Inner{Args: rest, Guess: true})
			if strings.ContainsAny(a.Text, " \t\n;&|<>()$`=") {
				out = append(out, textReadings(a)...)
			}
		}
	}
	return out
}

// mounts are words such as "$PWD:/src", which are no programs.
var mounts = lazyregexp.New(`^"?\$(?:PWD|HOME|\{PWD\}|\{HOME\})"?:`)

// judgeXargs judges xargs: only without flags is it looked through.
func judgeXargs(r *row, args []Arg) Finding {
	if len(args) == 0 {
		args = []Arg{{Text: "echo", Literal: true}}
	}
	if args[0].Literal && !strings.HasPrefix(args[0].Text, "-") {
		f := Finding{Inner: []Inner{{Args: args, More: true}}}
		return f.transparent(r)
	}
	if _, ok := ReadXargs(args); ok && r.read(args).command < 0 {
		return Finding{ReadOnly: true, Complete: true, Reason: "without a command xargs prints its input"}
	}
	f := judgeWrapper(r, args)
	for i := range f.Inner {
		f.Inner[i].More = f.Inner[i].Shell == ""
		f.Inner[i].placeholders(r.read(args))
	}
	f.Reason = "xargs with flags may start anything"
	return f
}

// An Xargs is what xargs is told of its input by flags that only say how it is read, and
// how often the command runs.
type Xargs struct {
	// Mark stands in the command in the place of a name; where it is empty, names are
	// put behind the command.
	Mark string
	// NUL says that names end in NUL.
	NUL bool
}

// xargsFlags are those flags.
var xargsFlags = strings.Fields(`-0 -r -t -x -n -L -P -d -I -s -E
	--null --no-run-if-empty --verbose --exit --max-args --max-procs --max-chars --max-lines --delimiter`)

// ReadXargs reads the words behind xargs. It reports false where there are other flags.
func ReadXargs(args []Arg) (Xargs, bool) {
	l := table()["xargs"].read(args)
	mark, marked := l.value("-I")
	other := slices.ContainsFunc(l.flags, func(f string) bool { return !slices.Contains(xargsFlags, f) })
	unsure := slices.ContainsFunc(l.items, func(it item) bool { return !it.arg.Literal })
	// Behind -I, a flag on how many names a command gets may put them behind it again.
	both := marked && l.has("-n", "-L", "--max-args", "--max-lines")
	if other || unsure || both || l.unknown != "" || len(l.odd) > 0 || marked && mark.Text == "" {
		return Xargs{}, false
	}
	return Xargs{Mark: mark.Text, NUL: l.has("-0", "--null") && !l.has("-d", "--delimiter")}, true
}

// Plain reports whether every flag that a program has only reads, also where it is called
// by its name from another program.
func Plain(program string) bool {
	r := table()[program]
	return r != nil && r.plain && !r.byName && !r.changes && !r.never
}

// placeholders marks the words of a command that xargs puts its input into.
func (in *Inner) placeholders(l *line) {
	mark, ok := l.value("-I", "-i", "--replace")
	if !ok && !l.has("-i", "--replace") {
		return
	}
	if mark.Text == "" || !mark.Literal {
		mark.Text = "{}"
	}
	in.Args = slices.Clone(in.Args)
	for i := range in.Args {
		in.Args[i].Literal = in.Args[i].Literal && !strings.Contains(in.Args[i].Text, mark.Text)
	}
}

// judgeEnv judges env, which prints the environment where it starts nothing.
func judgeEnv(r *row, args []Arg) Finding {
	if len(args) == 0 || len(args) == 1 && args[0].Literal && (args[0].Text == "-0" || args[0].Text == "--null") {
		return Finding{ReadOnly: true, Complete: true, Reason: "it prints the variables that the shell may show with echo anyway"}
	}
	f := judgeWrapper(r, args)
	for _, in := range f.Inner {
		// env -S has marks of its own for blanks.
		if text := envBlanks.Replace(in.Shell); text != in.Shell {
			f.Inner = append(f.Inner, Inner{Shell: text})
		}
	}
	return f
}

var envBlanks = strings.NewReplacer(`\_`, " ", `\t`, " ", `\n`, " ", `\v`, " ", `\f`, " ", `\r`, " ")

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
		flag := len(a.Text) > 1 && (a.Text[0] == '-' || a.Text[0] == '+')
		switch {
		case text && !flag:
			f.Inner = append(f.Inner, shellText(args[i:i+1])...)
			return f
		case !a.Literal && !startsPlain(a) && (!a.Single || i+1 < len(args)):
			f.Inner = append(f.Inner, guesses(args[i:])...) // it may be -c
			return f
		case !a.Literal:
			f.Unknown = permissions.UnknownAll
			return f
		case !flag:
			f.Effects = []Effect{{Kind: permissions.AccessRead, Name: a.Text}}
			return f
		case a.Text == "--rcfile" || a.Text == "--init-file":
			i++
		case strings.HasPrefix(a.Text, "--"):
			// fish has --command=TEXT, --init-command=TEXT and their abbreviations.
			if name, value, ok := strings.Cut(a.Text, "="); ok {
				f.Inner = append(f.Inner, Inner{Shell: value})
			} else {
				text = text || len(name) > 2 && strings.Contains(name, "com")
			}
		default:
			text = text || strings.Contains(a.Text, "c") || r.name == "fish" && strings.Contains(a.Text, "C")
			i += strings.Count(a.Text, "o") + strings.Count(a.Text, "O")
		}
	}
	return f
}
