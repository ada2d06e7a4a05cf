package gitevents

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/permissions"
)

// end is what the exit status of a whole command says of one part.
type end int

const (
	endUnknown end = iota
	endSucceeded
	endFailed
)

// ends are the simple commands of a script, and how each must have ended.
type ends []struct {
	words []permissions.Word
	end   end
}

// unruly are builtins by which a script's status may be another's than the last
// command's, or a name another program's.
var unruly = []string{
	".", "alias", "break", "builtin", "continue", "coproc", "enable", "eval", "exec", "exit", "hash", "kill", "logout",
	"return", "set", "shopt", "source", "suspend", "trap",
}

// endsOf follows the exit status of a script back to the commands that it must come
// from: all of an && list that succeeded, the last of others.
func endsOf(cmd permissions.Command, exit int) ends {
	const signalled = 128
	if exit < 0 || exit >= signalled {
		return nil // It was killed, at no matter which point.
	}
	for _, part := range cmd.Parts {
		if len(part.Words) > 0 && (!part.Words[0].Literal || slices.Contains(unruly, path.Base(part.Words[0].Text))) {
			return nil
		}
	}
	// The text has passed the guard of package shell: it is short, and nested no
	// deeper than the parser bears.
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(cmd.Text), "")
	if err != nil {
		return nil
	}
	w := endWalk{of: make(map[*syntax.CallExpr]end)}
	how := endSucceeded
	if exit != 0 {
		how = endFailed
	}
	w.last(file.Stmts, how)
	return w.all(file)
}

// endWalk goes where a status comes from.
type endWalk struct {
	of map[*syntax.CallExpr]end
}

func (w *endWalk) last(list []*syntax.Stmt, how end) {
	if len(list) > 0 {
		w.stmt(list[len(list)-1], how)
	}
}

func (w *endWalk) stmt(s *syntax.Stmt, how end) {
	if s.Background || s.Coprocess || s.Disown {
		return
	}
	if s.Negated {
		how = opposite(how)
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		// A redirection that fails is a failure too.
		if how == endSucceeded || len(s.Redirs) == 0 {
			w.of[c] = how
		}
	case *syntax.BinaryCmd:
		w.binary(c, how)
	case *syntax.Block:
		w.last(c.Stmts, how)
	case *syntax.Subshell:
		w.last(c.Stmts, how)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.stmt(c.Stmt, how)
		}
	}
}

func (w *endWalk) binary(c *syntax.BinaryCmd, how end) {
	switch {
	case c.Op == syntax.AndStmt && how == endSucceeded, c.Op == syntax.OrStmt && how == endFailed:
		w.stmt(c.X, how)
		w.stmt(c.Y, how)
	case c.Op == syntax.Pipe, c.Op == syntax.PipeAll:
		w.stmt(c.Y, how)
	}
}

func opposite(how end) end {
	if how == endSucceeded {
		return endFailed
	}
	return endSucceeded
}

// all lists the simple commands. Where a function is declared none is sure: it may
// bear a program's name.
func (w *endWalk) all(file *syntax.File) ends {
	var out ends
	declares := false
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			declares = true
		case *syntax.CallExpr:
			out = append(out, struct {
				words []permissions.Word
				end   end
			}{wordsOf(n), w.of[n]})
		}
		return !declares
	})
	if declares {
		return nil
	}
	return out
}

// of is how a part ended. Its words are a command's last ones, as wrappers stand
// before them; where they are several commands', those must have ended alike.
func (e ends) of(words []permissions.Word) end {
	how, found := endUnknown, false
	for _, c := range e {
		if !endsWith(c.words, words) {
			continue
		}
		if found && c.end != how || !wrapsPlainly(c.words[:len(c.words)-len(words)]) {
			return endUnknown
		}
		how, found = c.end, true
	}
	return how
}

// wrapsPlainly reports whether a wrapper's status is the status of what it wraps.
func wrapsPlainly(before []permissions.Word) bool {
	plain := []string{"timeout", "time", "nice", "nohup", "stdbuf", "env", "sudo", "doas", "command"}
	return len(before) == 0 || before[0].Literal && slices.Contains(plain, path.Base(before[0].Text))
}

// endsWith reports whether a command may end with those words. A word that is not
// literal may be any.
func endsWith(command, words []permissions.Word) bool {
	if len(command) < len(words) {
		return false
	}
	for i, w := range command[len(command)-len(words):] {
		other := words[i]
		base := i == 0 && path.Base(w.Text) == path.Base(other.Text)
		if w.Literal && other.Literal && w.Text != other.Text && !base {
			return false
		}
	}
	return true
}

// wordsOf are a command's words, as far as they can be told without expanding
// anything.
func wordsOf(c *syntax.CallExpr) []permissions.Word {
	out := make([]permissions.Word, len(c.Args))
	for i, word := range c.Args {
		out[i].Text, out[i].Literal = literal(word.Parts)
	}
	return out
}

func literal(parts []syntax.WordPart) (string, bool) {
	var text strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\~*?[{") {
				return "", false
			}
			text.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			inner, ok := literal(p.Parts)
			if !ok || p.Dollar {
				return "", false
			}
			text.WriteString(inner)
		default:
			return "", false
		}
	}
	return text.String(), true
}
