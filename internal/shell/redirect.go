package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/permissions"
)

// files are the redirections of a command.
type files struct {
	accesses []permissions.Access
	// readOnly and complete are as in Part, and reason says why not readOnly.
	readOnly, complete bool
	// reads says that what is not read-only of them is at most which file is read.
	reads       bool
	reason, ask string
	unknown     permissions.Unknown
}

// redirect follows the redirections of a statement.
func (a *analysis) redirect(stmt *syntax.Stmt, s *state) files {
	f := files{readOnly: true, complete: true, reads: true}
	for _, r := range stmt.Redirs {
		a.substitutions(r, *s)
		a.wires.redirected(r)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		case syntax.DplIn, syntax.DplOut:
			if !isDescriptor(r.Word.Lit()) {
				a.target(&f, r, s)
			}
		default:
			a.target(&f, r, s)
		}
	}
	return f
}

// isDescriptor reports whether the word of >& or <& is a number, a number that
// is moved, or the dash that closes.
func isDescriptor(s string) bool {
	return s == "-" || isNumber(strings.TrimSuffix(s, "-"))
}

// target adds the file of a redirection.
func (a *analysis) target(f *files, r *syntax.Redirect, s *state) {
	if r.Op == syntax.RdrIn && isPipe(r.Word) {
		return // whose command is a part
	}
	shown := quoted(source(r.Word, a.text))
	words := a.fields(r.Word, s)
	if len(words) != 1 || !words[0].Literal {
		connects := len(words) == 1 && !words[0].Glob && mayConnect(words[0].prefix)
		if connects {
			f.unknown |= permissions.UnknownHost
		}
		f.notNamed(a.because("which file "+shown+" is, is only known when it runs", r), r)
		f.reads = f.reads && (!connects || !strings.HasPrefix(words[0].prefix, "/dev/"))
		f.complete = false
		if processOf(r.Word) == nil {
			f.notKnown(effectsOf(r.Op))
		}
		if s.away != "" && r.Op != syntax.RdrIn {
			f.ask = "it writes to a file after " + s.away
		}
		return
	}
	name := words[0].Text
	if strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/") {
		host, _, _ := strings.Cut(name[len("/dev/tcp/"):], "/")
		f.accesses = append(f.accesses, permissions.Access{Kind: permissions.AccessNet, Target: host})
		f.refuse(a.because("it connects to "+quoted(host), r))
		return
	}
	paths, sure := a.paths(name, s)
	if !sure {
		f.notNamed(a.because("where "+shown+" leads is not known", r), r)
		f.complete = false
		f.notKnown(effectsOf(r.Op))
	}
	kinds := effectsOf(r.Op)
	if sure && a.allHarmless(kinds, paths) {
		if neverEnds(kinds[0], paths, nil) {
			f.refuse(a.because(shown+" has no end", r))
			f.complete = false
		}
		return
	}
	for _, kind := range kinds {
		for _, p := range paths {
			f.accesses = append(f.accesses, permissions.Access{Kind: kind, Target: p})
		}
		if kind == permissions.AccessWrite {
			f.refuse(a.because("it writes to "+shown, r))
			if s.away != "" {
				f.ask = "it writes to a file after " + s.away
			}
		}
	}
}

// mayConnect reports whether a name that starts so may be that of a connection.
func mayConnect(prefix string) bool {
	const tcp, udp = "/dev/tcp/", "/dev/udp/"
	return strings.HasPrefix(prefix, tcp) || strings.HasPrefix(prefix, udp) ||
		strings.HasPrefix(tcp, prefix) || strings.HasPrefix(udp, prefix)
}

func effectsOf(op syntax.RedirOperator) []permissions.AccessKind {
	switch op {
	case syntax.RdrIn, syntax.DplIn:
		return []permissions.AccessKind{permissions.AccessRead}
	case syntax.RdrInOut:
		return []permissions.AccessKind{permissions.AccessRead, permissions.AccessWrite}
	}
	return []permissions.AccessKind{permissions.AccessWrite}
}

// notKnown notes that a redirection opens a file that nobody knows before it runs.
func (f *files) notKnown(kinds []permissions.AccessKind) {
	for _, kind := range kinds {
		if f.unknown |= permissions.UnknownOf(kind); kind == permissions.AccessWrite {
			f.unknown |= permissions.UnknownMustAsk
		}
	}
}

// notNamed refuses a redirection whose file is only known when the command runs.
func (f *files) notNamed(why string, r *syntax.Redirect) {
	reads := f.reads && r.Op == syntax.RdrIn && processOf(r.Word) == nil
	f.refuse(why)
	f.reads = reads
}

func (f *files) refuse(why string) {
	f.reads = false
	if f.readOnly {
		f.readOnly, f.reason = false, why
	}
}

// redirectAlone adds the redirections of a compound command, or of none, as a
// part of their own.
func (a *analysis) redirectAlone(stmt *syntax.Stmt, s *state) {
	f := a.redirect(stmt, s)
	at := site{node: stmt, state: *s, files: f}
	a.add(permissions.Part{ReadOnly: true, Complete: true, Reason: "it only reads"}, at)
}

// piped adds what `echo text | sh` makes a shell run.
func (a *analysis) piped(cmd *syntax.BinaryCmd, s state) {
	to, ok := cmd.Y.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	var words []word
	for _, arg := range to.Args {
		words = append(words, a.fields(arg, &s)...)
	}
	if runsInput(words) {
		a.printed(cmd.X, site{node: cmd, state: s, inner: true})
	}
}

// fedBySubstitutions adds what a shell runs that is given a process substitution in
// the place of a script.
func (a *analysis) fedBySubstitutions(words []word, call *syntax.CallExpr, at site) {
	if !runsInput(words) {
		return
	}
	for _, arg := range call.Args {
		for _, part := range arg.Parts {
			if sub, ok := part.(*syntax.ProcSubst); ok {
				a.printed(sub, at)
			}
		}
	}
}

// printed adds, as a script, what commands print that print what is written out in
// them: echo and printf, and those that are fed it.
func (a *analysis) printed(by syntax.Node, at site) {
	syntax.Walk(by, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			for _, text := range a.fedText(node, &at.state) {
				a.fed(text, at)
			}
		case *syntax.CallExpr:
			if len(node.Args) < 2 || node.Args[0].Lit() != "echo" && node.Args[0].Lit() != "printf" {
				break
			}
			var text []string
			for _, arg := range node.Args[1:] {
				for _, w := range a.fields(arg, &at.state) {
					text = append(text, w.Text)
				}
			}
			a.fed(strings.ReplaceAll(strings.Join(text, " "), `\n`, "\n"), at)
		}
		return true
	})
}

// fedText is the text that here-documents and here-strings feed to a command,
// where it is written out.
func (a *analysis) fedText(stmt *syntax.Stmt, s *state) []string {
	var out []string
	for _, r := range stmt.Redirs {
		body := r.Word
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body = r.Hdoc
		case syntax.WordHdoc:
		default:
			continue
		}
		if body == nil {
			continue
		}
		l := a.spell(body, s, false)
		if r.Op != syntax.WordHdoc {
			l = letters{text: []byte(hereBody(r, a.text))}
		}
		out = append(out, string(l.text))
	}
	return out
}

// shells read commands from their input.
var shells = []string{
	"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "busybox", "source", ".", "rbash", "fish", "csh", "tcsh", "yash", "posh",
}

// inputRunners run commands from their input, among what else they do.
var inputRunners = []string{
	"at", "batch", "parallel", "ssh", "su", "runuser", "sg", "newgrp", "screen", "tmux", "script", "chroot", "nsenter",
	"ed", "red", "ex", "vi", "vim", "nvim", "gdb", "lldb", "psql", "mysql", "sqlite3", "ftp", "lftp", "make", "expect",
}

// runsInput reports whether a shell is among the words, which may be what reads
// the input: behind sudo, env or docker exec, too.
func runsInput(words []word) bool {
	return len(words) > 0 && slices.Contains(inputRunners, base(words)) || slices.ContainsFunc(words, func(w word) bool {
		return w.Literal && slices.Contains(shells, path.Base(w.Text))
	})
}

// feeds adds what a shell reads from a here-document as its inner commands.
func (a *analysis) feeds(words []word, stmt *syntax.Stmt, at site) {
	if !runsInput(words) {
		return
	}
	for _, text := range a.fedText(stmt, &at.state) {
		a.fed(text, at)
	}
}

// fed adds the parts of a program's input that is commands. In an editor, a debugger or
// a client of a database a mark stands before them.
func (a *analysis) fed(text string, at site) {
	a.script(text, at)
	if bare := escapes.Replace(text); bare != text {
		a.script(bare, at)
	}
}

var escapes = strings.NewReplacer("!", "\n", ".system ", "\n", ".shell ", "\n", "shell ", "\n", "spawn ", "\n")
