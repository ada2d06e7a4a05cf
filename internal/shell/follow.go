package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/permissions"
)

// follow goes through the command as bash would, both ways at every turn.
func (a *analysis) follow(file *syntax.File) {
	start := state{vars: a.given()}
	if a.at.Cwd != "" {
		start.dirs = []string{a.at.Cwd}
	}
	a.followFrom(file, start)
}

func (a *analysis) followFrom(file *syntax.File, start state) {
	for _, s := range a.spans {
		if s.shifting {
			start = start.lost()
			start.rehomed = true
		}
	}
	// Syntax that hides something may be anywhere in a word: it comes first.
	for _, v := range a.veils {
		p := permissions.Part{Reason: v.why}
		if name := setBy(v.node); name != "" {
			p.Env = []string{name}
		}
		a.parts = append(a.parts, p)
		a.parts = append(a.parts, guessAll(source(v.node, a.text), a.at, true)...)
		start = start.shake(v.why)
		start.rehomed = true
	}
	o := a.statements(file.Stmts, start)
	a.end = o.ok
}

// setBy names the variable that a node sets, if it can be told.
func setBy(node syntax.Node) string {
	if p, ok := node.(*syntax.ParamExp); ok && p.Param != nil {
		return p.Param.Value
	}
	return ""
}

// statements follows a list: each starts where the one before has ended,
// however it ended.
func (a *analysis) statements(list []*syntax.Stmt, s state) outcome {
	o := always(s)
	for i, stmt := range list {
		if i > 0 {
			s = o.either()
		}
		o = a.statement(stmt, s)
	}
	return o
}

func (a *analysis) statement(stmt *syntax.Stmt, s state) outcome {
	first := len(a.parts)
	o := a.compound(stmt, s)
	if stmt.Negated {
		o.ok, o.failed = o.failed, o.ok
	}
	if stmt.Background {
		a.beside(first)
		return always(s)
	}
	return o
}

// compound follows a command with its redirections.
func (a *analysis) compound(stmt *syntax.Stmt, s state) outcome {
	if call, ok := stmt.Cmd.(*syntax.CallExpr); ok {
		return a.call(call, stmt, s)
	}
	if decl, ok := stmt.Cmd.(*syntax.DeclClause); ok {
		return a.declare(decl, stmt, s)
	}
	if len(stmt.Redirs) > 0 {
		a.redirectAlone(stmt, &s)
		o := a.nested(stmt, s)
		o.failed.vars = common(o.failed.vars, s.vars) // a file that cannot be opened
		return o
	}
	return a.nested(stmt, s)
}

// nested follows the command in a statement.
func (a *analysis) nested(stmt *syntax.Stmt, s state) outcome {
	switch cmd := stmt.Cmd.(type) {
	case nil:
		return always(s)
	case *syntax.Subshell:
		a.statements(cmd.Stmts, s)
		return always(s)
	case *syntax.Block:
		return a.statements(cmd.Stmts, s)
	case *syntax.BinaryCmd:
		return a.binary(cmd, s)
	case *syntax.IfClause:
		return a.branch(cmd, s)
	case *syntax.CaseClause:
		return a.cases(cmd, s)
	case *syntax.ForClause:
		return a.loop(cmd, s)
	case *syntax.WhileClause:
		s = a.unsettled(cmd, s)
		return a.body(func(s state) outcome {
			o := a.statements(cmd.Cond, s)
			return a.statements(cmd.Do, fork(o.ok, o.failed))
		}, cmd, s)
	case *syntax.FuncDecl:
		a.statement(cmd.Body, s.lost())
		return always(s.lost())
	case *syntax.TimeClause:
		return a.timed(cmd, s)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		a.substitutions(cmd, s)
		return always(s)
	case *syntax.CoprocClause: // a fault; its parts are for deny rules
		a.statement(cmd.Stmt, s)
		return always(s)
	}
	a.blame(unknownSyntax, stmt)
	return always(s.lost())
}

func (a *analysis) binary(cmd *syntax.BinaryCmd, s state) outcome {
	switch cmd.Op {
	case syntax.AndStmt:
		x := a.statement(cmd.X, s)
		y := a.statement(cmd.Y, x.ok)
		return outcome{y.ok, join(y.failed, x.failed)}
	case syntax.OrStmt:
		x := a.statement(cmd.X, s)
		y := a.statement(cmd.Y, x.failed)
		return outcome{fork(x.ok, y.ok), y.failed}
	}
	// Both sides of a pipe are subshells.
	first := len(a.parts)
	a.statement(cmd.X, s)
	a.feeding(cmd, s)
	a.statement(cmd.Y, s)
	a.piped(cmd, s)
	a.beside(first)
	return always(s)
}

func (a *analysis) branch(cmd *syntax.IfClause, s state) outcome {
	cond := outcome{s, s}
	if len(cmd.Cond) > 0 {
		cond = a.statements(cmd.Cond, s)
	}
	then := a.statements(cmd.Then, cond.ok)
	if cmd.Else == nil {
		return always(fork(then.either(), cond.failed))
	}
	rest := a.branch(cmd.Else, cond.failed)
	return always(fork(then.either(), rest.either()))
}

func (a *analysis) cases(cmd *syntax.CaseClause, s state) outcome {
	a.substitutions(cmd.Word, s)
	end := s
	for _, item := range cmd.Items {
		for _, pattern := range item.Patterns {
			a.substitutions(pattern, s)
		}
		// What falls through starts where the item before has ended.
		o := a.statements(item.Stmts, fork(s, end))
		end = fork(end, o.either())
	}
	return always(end)
}

func (a *analysis) loop(cmd *syntax.ForClause, s state) outcome {
	a.substitutions(cmd.Loop, s)
	var turns []variable
	if words, ok := cmd.Loop.(*syntax.WordIter); ok {
		turns = a.turns(cmd, words, &s)
		if name := words.Name.Value; !heedless(name) {
			why := a.because("a loop sets "+name, words)
			a.parts = append(a.parts, permissions.Part{Env: []string{name}, Reason: why})
			s = s.shake(why)
			s.rehomed = true
		}
	}
	s = a.unsettled(cmd, s)
	return a.body(func(s state) outcome { return a.each(turns, cmd.Do, s) }, cmd, s)
}

// each follows the body of a loop, once for each value of its variable if they are known.
func (a *analysis) each(turns []variable, body []*syntax.Stmt, s state) outcome {
	if len(turns) == 0 || s.shaken != "" {
		return a.statements(body, s)
	}
	before := a.turn
	a.turn = max(before, 1) * len(turns)
	o := a.statements(body, s.with(turns[0]))
	for _, turn := range turns[1:] {
		if o.either().shaken != "" {
			break // what the others are is not known
		}
		next := a.statements(body, s.with(turn))
		o = outcome{fork(o.ok, next.ok), fork(o.failed, next.failed)}
	}
	a.turn = before
	return o
}

// body follows what may run any number of times. If it leaves the shell other
// than it was, then what is known of it holds for the first time only: then it is followed
// once more, as the second time.
func (a *analysis) body(run func(s state) outcome, loop syntax.Node, s state) outcome {
	first := len(a.parts)
	o := run(s)
	if end := o.either(); end.shaken != s.shaken {
		run(join(s, end))
	}
	for i := first; i < len(a.parts); i++ {
		a.parts[i].Again = true
	}
	end := o.either()
	if slices.Equal(end.dirs, s.dirs) && end.shaken == s.shaken && end.rehomed == s.rehomed {
		return always(s)
	}
	why := a.because("what the loop does depends on how often it has run", loop)
	for i := first; i < len(a.parts); i++ {
		p := &a.parts[i]
		p.ReadOnly, p.ReadOnlyConfined, p.Complete, p.Reason = false, false, false, why
		if p.Ask == "" && len(p.Accesses) > 0 {
			p.Ask = why
		}
	}
	return always(join(s, end).shake(why).lost())
}

// beside notes that the parts from the first on run at the same time as others.
func (a *analysis) beside(first int) {
	for i := first; i < len(a.parts); i++ {
		a.parts[i].Beside = true
	}
}

// timed follows `time x`, which is a wrapper to rules.
func (a *analysis) timed(cmd *syntax.TimeClause, s state) outcome {
	if cmd.Stmt == nil {
		return always(s)
	}
	a.timing = cmd.Stmt.Cmd
	return a.statement(cmd.Stmt, s)
}

// substitutions follows the commands inside the words of a node. They run in
// subshells.
func (a *analysis) substitutions(node syntax.Node, s state) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			a.statements(n.Stmts, s)
			return false
		case *syntax.ProcSubst:
			first := len(a.parts)
			a.statements(n.Stmts, s)
			a.beside(first)
			return false
		}
		return true
	})
}
