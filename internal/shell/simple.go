package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/internal/shell/internal/programs"
	"github.com/toolquay/toolquay/permissions"
)

// site is where a simple command stands.
type site struct {
	node  syntax.Node
	state state
	// env are the variables set for it that may matter; odd says that one of them is not
	// among those that only tune a program.
	env   []string
	odd   bool
	files files
	// inner says that it is started by another one that rules do not look
	// through, and depth how often so.
	inner bool
	depth int
	// hosts are what the variables that are set for it name; unknown is as in Part.
	hosts   []string
	unknown permissions.Unknown
	// guess says that commands that begin at each word behind it are tried as well.
	guess bool
	// feed is what its input brings.
	feed *feed
	// veto and gaps are why it is not read-only, and not completely known, for
	// the sake of a wrapper that rules look through.
	veto, gaps string
}

// call follows a simple command.
func (a *analysis) call(call *syntax.CallExpr, stmt *syntax.Stmt, s state) outcome {
	var words []word
	for _, arg := range call.Args {
		if !isText(arg) {
			a.substitutions(arg, s)
		}
		words = append(words, a.fields(arg, &s)...)
	}
	at := site{node: call, feed: a.brought[call]}
	before := s
	s = a.assigned(call.Assigns, s, &at)
	at.state, at.files = s, a.redirect(stmt, &s)
	if a.timing == call && len(words) > 1 && words[0].is("--") {
		words = words[1:]
		if !words[0].Literal || strings.Contains(words[0].Text, "=") {
			at.state = at.state.shake(a.because("what looks like an assignment behind -- is one", call))
		}
	}
	if len(words) == 0 {
		return a.callNothing(call, stmt, before, at)
	}
	switch {
	case words[0].is("read"):
		at.env = slices.DeleteFunc(at.env, func(name string) bool { return name == "IFS" }) // how it splits, and no more
	case words[0].is("cd"), words[0].is("pushd"), words[0].is("popd"):
		return a.move(words, at)
	}
	if a.timing == call {
		timed := append([]word{{Arg: programs.Arg{Text: "time", Literal: true}}}, words...)
		a.lookThrough(timed, at)
	}
	found := a.program(words, at)
	a.feeds(words, stmt, at)
	a.fedBySubstitutions(words, call, at)
	return always(a.after(words, found.ReadOnly, at).set(words))
}

// isText reports whether there is nothing to follow in a word.
func isText(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		default:
			return false
		}
	}
	return true
}

// callNothing is an assignment alone, or words that expand to nothing.
func (a *analysis) callNothing(call *syntax.CallExpr, stmt *syntax.Stmt, before state, at site) outcome {
	if len(call.Args) == 0 && harmlessNames(call.Assigns) {
		at.env = nil
		a.add(permissions.Part{ReadOnly: true, Complete: true, Reason: "it sets a variable that no program heeds"}, at)
		if s := a.assign(call.Assigns, before); len(stmt.Redirs) == 0 {
			return always(s)
		}
		return always(at.state) // where a file cannot be opened nothing is set
	}
	p := permissions.Part{Reason: a.because("its words are empty", call), Env: at.env}
	if len(call.Args) == 0 {
		var names []string
		for _, as := range call.Assigns {
			names = append(names, as.Name.Value)
		}
		p.Env = names
		p.Reason = a.because("it sets "+strings.Join(names, ", "), call)
	}
	a.add(p, at)
	s := at.state.shake(p.Reason)
	s.rehomed = s.rehomed || len(call.Args) > 0 || slices.ContainsFunc(p.Env, isDirectoryVariable)
	return always(s)
}

// declare follows export, declare, local, readonly, typeset.
func (a *analysis) declare(decl *syntax.DeclClause, stmt *syntax.Stmt, s state) outcome {
	words := []word{{Arg: programs.Arg{Text: decl.Variant.Value, Literal: true}}}
	at := site{node: decl, state: s}
	var env []string
	for _, arg := range decl.Args {
		a.substitutions(arg, s)
		a.variable(arg, &at)
		text := source(arg, a.text)
		words = append(words, word{Arg: programs.Arg{Text: text, Literal: isSimple(text)}})
		if arg.Name != nil {
			env = append(env, arg.Name.Value)
		}
	}
	at.state, at.env, at.files = s, env, a.redirect(stmt, &s)
	why := a.because(quoted(words[0].Text)+" sets variables", decl)
	a.add(permissions.Part{Words: plainWords(words), Env: env, Reason: why}, at)
	s = s.shake(why)
	s.rehomed = true
	return always(s)
}

// assigned follows assignments before a program, and keeps the names of those that
// may matter to it, and what they name. It returns the state in which the program runs.
func (a *analysis) assigned(list []*syntax.Assign, s state, at *site) state {
	env := &at.env
	for _, as := range list {
		at.state = s
		s = s.without(as.Name.Value)
		if as.Value == nil && as.Array == nil {
			if !isHarmless(as.Name.Value, "") || as.Append {
				*env, at.odd = append(*env, as.Name.Value), at.odd || as.Append || !tunes(as.Name.Value, "")
			}
			continue
		}
		a.variable(as, at)
		a.substitutions(as, at.state)
		value, ok := "", as.Array == nil && as.Index == nil && !as.Append && !hasHole(as.Value)
		if ok {
			l := a.spell(as.Value, &at.state, false)
			value = string(l.text)
		}
		if !ok || !isHarmless(as.Name.Value, value) {
			*env, at.odd = append(*env, as.Name.Value), at.odd || !ok || !tunes(as.Name.Value, value)
		}
	}
	at.state = s
	return s
}

// variable adds what an assignment may have programs start, and the hosts that it
// names, for deny and ask rules.
func (a *analysis) variable(as *syntax.Assign, at *site) {
	if as.Value == nil {
		return
	}
	l := a.spell(as.Value, &at.state, false)
	value := programs.Arg{Text: string(l.text), Literal: !slices.Contains(l.mark, markHole) && !l.wild}
	var name string
	if as.Name != nil {
		name = as.Name.Value
	} else {
		name, value.Text, _ = strings.Cut(value.Text, "=")
	}
	found := programs.Variable(name, value)
	for i := range found.Inner {
		a.started(&found.Inner[i], nil, *at)
	}
	for _, e := range found.Effects {
		at.hosts = append(at.hosts, e.Name)
	}
	if found.AnyHost {
		at.unknown |= permissions.UnknownHost
	}
}

// program adds the parts of a program and of what it starts, and returns what
// is known of it.
func (a *analysis) program(words []word, at site) programs.Finding {
	for i := range words {
		*a.budget -= len(words[i].Text) + 4
	}
	if *a.budget < 0 {
		return programs.Finding{} // the whole command is a fault then
	}
	found := a.judge(words)
	if wrapped := found.Inner; len(wrapped) == 1 && wrapped[0].Transparent && wrapped[0].Shell == "" {
		a.lookThrough(words, at)
		inner := innerWords(&wrapped[0], words)
		if base(words) == "xargs" {
			if fed := a.named(words, inner, at.feed); fed != nil {
				inner = fed
			}
		}
		if len(inner) > 0 && at.depth < maxInner {
			return a.program(inner, at.through(words, &found))
		}
		found.ReadOnly, found.Complete = false, false
	}
	fed := a.xargs(words, &found, at.feed)
	mine := len(a.parts)
	a.add(a.part(words, found, at), at)
	a.readings(words, mine)
	if len(fed) > 0 {
		a.program(fed, at.within())
	}
	for i := range found.Inner {
		if in := &found.Inner[i]; !in.Guess || !at.guess {
			a.started(in, words, at)
		}
	}
	// A person is asked about the outer command, whose part rules speak of.
	for i := mine + 1; i < len(a.parts); i++ {
		if p := a.parts[i]; p.Ask != "" && (a.parts[mine].Ask == "" || p.Critical) {
			a.parts[mine].Ask, a.parts[mine].Critical = p.Ask, a.parts[mine].Critical || p.Critical
		}
	}
	return found
}

// lookThrough adds the part of a wrapper that rules look through.
func (a *analysis) lookThrough(words []word, at site) {
	a.parts = append(a.parts, permissions.Part{
		Words: plainWords(words), Env: at.env, Inner: true,
		Reason: a.because(quoted(words[0].Text)+" is looked through", at.node),
	})
}

// through is the site behind a wrapper.
func (at site) through(words []word, wrapper *programs.Finding) site {
	at.depth++
	why := quoted(words[0].Text) + ": " + wrapper.Reason
	if !wrapper.ReadOnly && at.veto == "" {
		at.veto = why
	}
	if !wrapper.Complete && at.gaps == "" {
		at.gaps = why
	}
	return at
}

// The bounds on programs that start programs: how deep they are looked into,
// and how much work they make: a byte of a word is one, of a script scriptCost.
const (
	maxInner   = 8
	maxWork    = 60_000
	scriptCost = 4
)

// within is the site of a command that another one starts.
func (at site) within() site {
	at.depth++
	at.inner, at.veto, at.gaps, at.guess = true, "", "", false
	at.files = files{readOnly: true, complete: true, reads: true}
	return at
}

// started adds the parts of a command that another one starts.
func (a *analysis) started(in *programs.Inner, outer []word, at site) {
	if at.depth >= maxInner {
		a.fault = errNested.Error()
		return
	}
	at = at.within()
	at.guess = in.Guess
	if in.Shell == "" {
		if words := innerWords(in, outer); len(words) > 0 {
			a.program(words, at)
		}
		return
	}
	a.script(in.Shell, at)
}

// script adds the parts of text that a program hands to a shell.
func (a *analysis) script(text string, at site) {
	sub := newAnalysis(text, a.at, a.budget, a.wires)
	sub.depth, sub.unfollowed = a.depth+1, true
	if *a.budget -= scriptCost * (len(text) + 10); sub.depth > maxInner || *a.budget < 0 {
		a.fault = errNested.Error()
		return
	}
	if guard(text) != "" {
		a.parts = append(a.parts, guesses(text, a.at)...)
		return
	}
	file, err := parse(text)
	if err != nil {
		a.parts = append(a.parts, guesses(text, a.at)...)
		return
	}
	if sub.inspect(file); sub.fault != errNested.Error() {
		sub.followFrom(file, at.state)
	}
	if sub.fault != "" {
		sub.parts = append(sub.parts, guesses(text, a.at)...)
	}
	for _, p := range sub.parts {
		p.Inner = true
		p.ReadOnly, p.ReadOnlyConfined = p.ReadOnly && sub.fault == "", false
		p.Complete = p.Complete && sub.fault == ""
		a.parts = append(a.parts, p)
	}
}

func innerWords(in *programs.Inner, outer []word) []word {
	// What is known of a word as it was written is still true.
	var written map[programs.Arg]word
	for _, w := range outer {
		if w == (word{Arg: w.Arg}) {
			continue
		}
		if written == nil {
			written = make(map[programs.Arg]word)
		}
		written[w.Arg] = w
	}
	out := make([]word, 0, len(in.Args)+1)
	for _, arg := range in.Args {
		if w, ok := written[arg]; ok {
			out = append(out, w)
		} else {
			out = append(out, word{Arg: arg})
		}
	}
	if in.More {
		out = append(out, word{Arg: programs.Arg{Text: "..."}})
	}
	return out
}

// binFolders are where programs are what their names say.
var binFolders = []string{"/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/"}

// judge asks what a program does with its words.
func (a *analysis) judge(words []word) programs.Finding {
	name := words[0].Text
	if !words[0].Literal {
		return programs.Finding{Reason: "which program it is, is only known when it runs", Unknown: permissions.UnknownAll}
	}
	args := make([]programs.Arg, len(words))
	for i := range words {
		args[i] = words[i].Arg
		if words[i].fed != nil {
			args[i] = programs.Arg{Text: words[i].fed.text(), Glob: true}
		}
		if words[i].pipe {
			args[i] = programs.Arg{Text: pipeName, Literal: true}
		}
	}
	dir, base := path.Split(name)
	usual := dir == "" || slices.Contains(binFolders, dir)
	if lower := strings.ToLower(base); lower != base {
		base, usual = lower, false // some file systems find it
	}
	if !usual {
		args[0].Text = base
	}
	found := programs.Judge(args)
	if !usual {
		found.ReadOnly, found.Complete = false, false
		found.Reason = "it is a program outside of the usual folders"
		found.Inner = slices.Clone(found.Inner)
		for i := range found.Inner {
			found.Inner[i].Transparent = false
		}
	}
	return found
}

// pipeName is what bash gives a program for a process substitution.
const pipeName = "/dev/fd/63"
