package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/permissions"
)

// bending are the built-ins by which a shell may end with another status than that of
// its last statement, or run what the text does not show.
var bending = []string{
	"set", "shopt", "trap", "exit", "exec", "return", "source", ".", "eval", "kill", "alias", "enable", "command", "builtin",
}

// programOf names the program whose exit status, which is not 0, is the command's;
// empty where that cannot be told without running it. Where opens is set, it may also be
// the status of a file that the shell could not open, of which the shell tells.
func programOf(command *permissions.Command) (program string, opens bool) {
	if command.Fault != "" {
		return "", false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command.Text), "")
	if err != nil || len(file.Stmts) == 0 || bends(file, command.Text) {
		return "", false
	}
	var redirs []*syntax.Redirect
	call := lastCall(file.Stmts[len(file.Stmts)-1], &redirs)
	if call == nil || len(call.Args) == 0 {
		return "", false
	}
	silent := false
	for _, r := range redirs {
		file := opensFile(r)
		if opens = opens || file; file && silent {
			return "", false // where it cannot be opened, nobody hears of it
		}
		silent = silent || r.N != nil && r.N.Value == "2" || r.Op == syntax.RdrAll || r.Op == syntax.AppAll
	}
	return behindWrappers(command, call), opens
}

// opensFile reports whether a redirection opens a file that may not be there.
func opensFile(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn, syntax.DplOut:
		return false
	}
	return r.Word.Lit() != os.DevNull
}

// mayAbort reports whether an expansion may fail, with which the shell ends the command: a
// division by 0, a variable that is to be set, or one that is read-only.
func mayAbort(n syntax.Node, text string) bool {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		return !plainArithmetic.MatchString(text[n.Pos().Offset():n.End().Offset()])
	case *syntax.ParamExp:
		failing := n.Exp != nil && (n.Exp.Op == syntax.ErrorUnset || n.Exp.Op == syntax.ErrorUnsetOrNull || n.Exp.Op == syntax.OtherParamOps)
		return failing || n.Excl || n.Index != nil || n.Slice != nil
	case *syntax.DeclClause:
		return true // what it makes read-only, an assignment cannot change
	}
	return false
}

// plainArithmetic is arithmetic that has a result: sums and products of numbers that are
// written out, in decimal.
var plainArithmetic = lazyregexp.New(`^\$\(\([ (]*(?:0|[1-9]\d{0,8})(?:[ )]*[-+*][ (]*(?:0|[1-9]\d{0,8}))*[ )]*\)\)$`)

// bends reports whether anything in a command may bend its exit status.
func bends(file *syntax.File, text string) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		found = found || n != nil && mayAbort(n, text)
		switch n := n.(type) {
		case *syntax.FuncDecl:
			found = true // which may have any program's name
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				name := n.Args[0].Lit() // empty where it is expanded, to anything
				found = found || name == "" || slices.Contains(bending, name)
			}
		}
		return !found
	})
	return found
}

// leavesJobs reports whether a command starts something in the background of its shell
// and waits for nothing.
func leavesJobs(command *permissions.Command) bool {
	if command.Fault != "" || !strings.Contains(command.Text, "&") {
		return false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command.Text), "")
	if err != nil {
		return false
	}
	starts, waits := false, false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			starts = starts || n.Background
		case *syntax.CallExpr:
			waits = waits || len(n.Args) > 0 && n.Args[0].Lit() == "wait"
		}
		return true
	})
	return starts && !waits
}

// makesRepository reports whether a command runs git init, or git clone, which may be
// told to make its repository where the command stands.
func makesRepository(command *permissions.Command) bool {
	return slices.ContainsFunc(command.Parts, func(part permissions.Part) bool {
		if len(part.Words) == 0 || filepath.Base(part.Words[0].Text) != gitProgram {
			return false
		}
		sub := subcommand(literal(part.Words), "-C", "-c")
		return sub == "init" || sub == "clone"
	})
}

// lastCall is the simple command whose status a statement has where it fails; nil where
// it depends. The redirections around it are added to redirs.
func lastCall(s *syntax.Stmt, redirs *[]*syntax.Redirect) *syntax.CallExpr {
	if s.Background || s.Coprocess || s.Negated {
		return nil
	}
	*redirs = append(*redirs, s.Redirs...)
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return c
	case *syntax.BinaryCmd:
		if c.Op != syntax.AndStmt { // of which either may have failed
			return lastCall(c.Y, redirs)
		}
	case *syntax.Subshell:
		return lastCall(c.Stmts[len(c.Stmts)-1], redirs)
	case *syntax.Block:
		return lastCall(c.Stmts[len(c.Stmts)-1], redirs)
	}
	return nil
}

// behindWrappers is the program that a simple command runs: the one behind wrappers
// that pass its status on, such as nice, where the analysis knows them. Their part ends
// as the command does.
func behindWrappers(command *permissions.Command, call *syntax.CallExpr) string {
	words, last := make([]string, len(call.Args)), call.Args[len(call.Args)-1].Lit()
	for i, arg := range call.Args {
		words[i] = arg.Lit()
	}
	for _, part := range slices.Backward(command.Parts) {
		if part.Inner || len(part.Words) == 0 {
			continue
		}
		if end := part.Words[len(part.Words)-1]; end.Literal && end.Text == last && part.Words[0].Literal {
			words = literal(part.Words)
		}
		break
	}
	return named(words)
}

// literal are words as they are written, empty where they are computed.
func literal(words []permissions.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if w.Literal {
			out[i] = w.Text
		}
	}
	return out
}

// named is the name of the program that words run, for git with its subcommand: what an
// exit status says depends on that.
func named(words []string) string {
	name := filepath.Base(words[0])
	if name != gitProgram {
		return name
	}
	return strings.TrimSuffix(name+" "+subcommand(words, gitValues...), " ")
}

// subcommand is what words tell git to do; empty where that cannot be told. Values are the
// flags before it that take the next word.
func subcommand(words []string, values ...string) string {
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case slices.Contains(values, word):
			i++
		case !strings.HasPrefix(word, "-"):
			return word
		}
	}
	return ""
}

const gitProgram = "git"

// gitValues are the flags of git, before its subcommand, that take the next word.
var gitValues = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source", "--super-prefix"}
