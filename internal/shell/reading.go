package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// endsWithInput reports whether a loop ends where its input does: a line is read before
// each turn, and nothing in the loop goes back in the input.
func endsWithInput(loop *syntax.WhileClause) bool {
	return !loop.Until && len(loop.Cond) == 1 && readsOn(loop.Cond[0]) && !slices.ContainsFunc(loop.Do, usesInput)
}

// readsOn reports whether a condition fails once there is no more to read:
// read x, or read x || [ -n "$x" ], as there may be a last line without an end.
func readsOn(cond *syntax.Stmt) bool {
	if cond.Negated || cond.Background || len(cond.Redirs) > 0 {
		return false
	}
	switch cmd := cond.Cmd.(type) {
	case *syntax.CallExpr:
		return len(readNames(cmd)) > 0
	case *syntax.BinaryCmd:
		call, ok := cmd.X.Cmd.(*syntax.CallExpr)
		return ok && cmd.Op == syntax.OrStmt && readsOn(cmd.X) && isNotEmpty(cmd.Y, readNames(call))
	}
	return false
}

// readNames are the variables that a call of read sets which takes something from its
// input each time; none if it may not. With -t 0, -n 0 and -N 0 it takes nothing.
func readNames(call *syntax.CallExpr) []string {
	if len(call.Args) == 0 || call.Args[0].Lit() != "read" {
		return nil
	}
	args := call.Args[1:]
	for len(args) > 0 {
		switch args[0].Lit() {
		case "-r":
			args = args[1:]
			continue
		case "-d", "-rd":
			if len(args) > 1 && !hasHole(args[1]) {
				args = args[2:]
				continue
			}
		}
		break
	}
	var names []string
	for _, arg := range args {
		name := arg.Lit()
		if !heedless(name) {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// isNotEmpty reports whether a test holds only where one of the variables is not empty.
func isNotEmpty(test *syntax.Stmt, names []string) bool {
	if test.Negated || test.Background || len(test.Redirs) > 0 {
		return false
	}
	var operand *syntax.Word
	switch cmd := test.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 4 && len(cmd.Assigns) == 0 && cmd.Args[0].Lit() == "[" && cmd.Args[1].Lit() == "-n" && cmd.Args[3].Lit() == "]" {
			operand = quotedParameter(cmd.Args[2])
		}
	case *syntax.TestClause:
		if unary, ok := cmd.X.(*syntax.UnaryTest); ok && unary.Op == syntax.TsNempStr {
			operand, _ = unary.X.(*syntax.Word)
		}
	}
	name := parameterOf(operand)
	return name != "" && slices.Contains(names, name)
}

// quotedParameter is a word that is "$x"; else nil.
func quotedParameter(w *syntax.Word) *syntax.Word {
	if len(w.Parts) == 1 {
		if _, ok := w.Parts[0].(*syntax.DblQuoted); ok {
			return w
		}
	}
	return nil
}

// parameterOf is the x of a word that is $x or "$x"; else empty.
func parameterOf(w *syntax.Word) string {
	if w == nil || len(w.Parts) != 1 {
		return ""
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	if p, ok := part.(*syntax.ParamExp); ok && p.Short && p.Param != nil {
		return p.Param.Value
	}
	return ""
}

// inputless programs take nothing from their input, but for read, which goes on in it.
var inputless = []string{
	"echo", "printf", ":", "true", "false", "test", "[", "basename", "dirname", "break", "continue", "exit", "read", "expr", "date",
	"pwd", "seq", "readlink", "realpath", "stat", "ls", "du",
}

// usesInput reports whether something in a statement of a loop may read the input of the
// loop: a program that goes back in it would have the loop read the same lines again.
func usesInput(stmt *syntax.Stmt) bool {
	fed := map[syntax.Command]bool{}
	uses := false
	syntax.Walk(stmt, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			fed[n.Cmd] = fed[n.Cmd] || slices.ContainsFunc(n.Redirs, isInput)
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				fed[n.Y.Cmd] = true
				fed[n.X.Cmd] = fed[n.X.Cmd] || fed[n]
			}
		case *syntax.CallExpr:
			uses = uses || !fed[n] && len(n.Args) > 0 && !slices.Contains(inputless, n.Args[0].Lit())
		}
		return !uses
	})
	return uses
}

// isInput reports whether a redirection takes the place of the input.
func isInput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return r.N == nil || r.N.Value == "0"
	}
	return false
}
