package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/permissions"
)

// bending are the built-ins by which a shell may end with another status than that of
// its last statement, or run what the text does not show.
var bending = []string{
	"set", "shopt", "trap", "exit", "exec", "return", "source", ".", "eval", "kill", "alias", "enable", "command", "builtin",
}

// programOf names the program whose exit status, which is not 0, is the command's;
// empty where that cannot be told without running it.
func programOf(command *permissions.Command) string {
	if command.Fault != "" {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command.Text), "")
	if err != nil || len(file.Stmts) == 0 || bends(file) {
		return ""
	}
	call := lastCall(file.Stmts[len(file.Stmts)-1])
	if call == nil || len(call.Args) == 0 {
		return ""
	}
	return behindWrappers(command, call)
}

// bends reports whether anything in a command may bend its exit status.
func bends(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
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

// lastCall is the simple command whose status a statement has where it fails; nil where
// it depends.
func lastCall(s *syntax.Stmt) *syntax.CallExpr {
	if s.Background || s.Coprocess || s.Negated {
		return nil
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return c
	case *syntax.BinaryCmd:
		if c.Op != syntax.AndStmt { // of which either may have failed
			return lastCall(c.Y)
		}
	case *syntax.Subshell:
		return lastCall(c.Stmts[len(c.Stmts)-1])
	case *syntax.Block:
		return lastCall(c.Stmts[len(c.Stmts)-1])
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
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case slices.Contains(gitValues, word):
			i++
		case word == "":
			return name
		case !strings.HasPrefix(word, "-"):
			return name + " " + word
		}
	}
	return name
}

const gitProgram = "git"

// gitValues are the flags of git, before its subcommand, that take the next word.
var gitValues = []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source", "--super-prefix"}
