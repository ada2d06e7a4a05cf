package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/internal/lazyregexp"
	"github.com/toolquay/toolquay/internal/shell/internal/programs"
)

// variable is a variable of the shell whose value is known.
type variable struct {
	name, value string
	// wild says that the value is the name of a file that the pattern in its place
	// matches, or that pattern where it matches none.
	wild bool
	// given says that the shell starts with it, so that rules may name it as it is written.
	given bool
}

// The bounds on loops that are followed value by value: how often a statement is followed
// at most, and how many bytes of loop that makes.
const (
	maxTurns    = 64
	maxUnrolled = 8_000
)

// maxKnown is how long a word with the value of a variable in it may be, so that values that
// are made of others do not grow without end, and a pattern that trims one is soon matched.
const maxKnown = 256

// plainPath is a value that stays one word where nothing quotes it, and that has no meaning
// to pathname expansion: the usual case.
func plainPath(value string) bool { return value != "" && isSimple(value) }

// with is the state in which a variable has a value that is known.
func (s state) with(c variable) state {
	s = s.without(c.name)
	s.vars = append(slices.Clip(s.vars), c)
	return s
}

// without is the state in which it is not known what variables hold.
func (s state) without(names ...string) state {
	if len(s.vars) > 0 {
		s.vars = slices.DeleteFunc(slices.Clone(s.vars), func(c variable) bool { return slices.Contains(names, c.name) })
	}
	return s
}

// common are the constants that two states agree on.
func common(a, b []variable) []variable {
	if slices.Equal(a, b) {
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(c variable) bool { return !slices.Contains(b, c) })
}

// valueOf is the value of an expansion, if it is known: of $f, ${f}, and of ${f%.go} and
// its like. In a script that another program reads, in a command that defines functions,
// and after what may have changed the shell, none is.
func (a *analysis) valueOf(p *syntax.ParamExp, s *state) (variable, bool) {
	if a.unfollowed || s.shaken != "" || p.Param == nil || !plainParameter.MatchString(source(p, a.text)) {
		return variable{}, false
	}
	i := slices.IndexFunc(s.vars, func(c variable) bool { return c.name == p.Param.Value })
	if i < 0 || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 {
		return variable{}, false
	}
	c := s.vars[i]
	if p.Exp == nil || len(c.value) > maxKnown {
		return c, len(c.value) <= maxKnown
	}
	value, ok := trimmed(c.value, p.Exp)
	return variable{value: value, given: c.given}, ok && !c.wild
}

// trimPattern is a pattern that means the same with every option of the shell.
var trimPattern = lazyregexp.New(`^[\w./*-]+$`)

// trimmed is what ${f#x}, ${f##x}, ${f%x} and ${f%%x} leave of a value of ASCII.
func trimmed(value string, exp *syntax.Expansion) (string, bool) {
	if exp.Word == nil || !isSimple(value) {
		return "", false
	}
	pattern := exp.Word.Lit()
	if len(exp.Word.Parts) != 1 || len(pattern) > maxKnown || !trimPattern.MatchString(pattern) {
		return "", false
	}
	switch exp.Op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		return behind(value, pattern, exp.Op == syntax.RemLargePrefix), true
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return reversed(behind(reversed(value), reversed(pattern), exp.Op == syntax.RemLargeSuffix)), true
	}
	return "", false
}

// behind is what stands behind the shortest or longest start of a value that a pattern of
// letters and stars matches. Patterns of bash match across slashes.
func behind(value, pattern string, longest bool) string {
	first, more, _ := strings.Cut(pattern, "*")
	rest, ok := strings.CutPrefix(value, first)
	if !ok || first == pattern {
		return rest
	}
	pieces := strings.Split(more, "*")
	for i, piece := range pieces {
		find := strings.Index
		if longest && i == len(pieces)-1 {
			find = strings.LastIndex
		}
		at := find(rest, piece)
		if at < 0 {
			return value
		}
		rest = rest[at+len(piece):]
	}
	return rest
}

// reversed is a text of ASCII from its end.
func reversed(text string) string {
	b := []byte(text)
	slices.Reverse(b)
	return string(b)
}

// printedName is what $(dirname x) and $(basename x) stand for, if x is known.
func (a *analysis) printedName(sub *syntax.CmdSubst, s *state) (string, bool) {
	if a.unfollowed || s.shaken != "" || len(sub.Stmts) != 1 {
		return "", false
	}
	stmt := sub.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(stmt.Redirs)+len(call.Assigns) > 0 || stmt.Negated || stmt.Background {
		return "", false
	}
	var words []string
	for _, arg := range call.Args {
		for _, w := range a.fields(arg, s) {
			if !w.Literal || w.also != "" {
				return "", false
			}
			words = append(words, w.Text)
		}
	}
	if len(words) > 1 && words[1] == "--" {
		words = slices.Delete(words, 1, 2)
	}
	if len(words) != 2 || !plainPath(words[1]) || strings.HasPrefix(words[1], "-") || strings.HasPrefix(words[1], "//") {
		return "", false
	}
	switch words[0] {
	case "dirname":
		name := trimSlashes(words[1])
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return ".", true
		}
		return trimSlashes(name[:i]), true
	case "basename":
		return path.Base(words[1]), true
	}
	return "", false
}

func trimSlashes(name string) string {
	if bare := strings.TrimRight(name, "/"); bare != "" {
		return bare
	}
	return "/"
}

// known is the value of a word that is assigned, if it is known.
func (a *analysis) known(w *syntax.Word, s *state) (string, bool) {
	if w == nil {
		return "", true
	}
	l := a.spell(w, s, false)
	for i, c := range l.text {
		if l.mark[i] == markHole || c == '~' && l.mark[i] == markPlain {
			return "", false
		}
	}
	return string(l.text), !l.wild && !l.home && !l.translated
}

// harmlessNames reports whether all that is assigned goes into variables that neither the
// shell nor a program heeds.
func harmlessNames(list []*syntax.Assign) bool {
	return !slices.ContainsFunc(list, func(as *syntax.Assign) bool {
		return as.Name == nil || as.Index != nil || as.Array != nil || !heedless(as.Name.Value)
	})
}

// heedless reports whether a variable may hold anything, as neither the shell nor a program
// is known to heed it. Bash sets _ itself.
func heedless(name string) bool { return name != "_" && programs.HarmlessName(name) }

// assign is the state after assignments, in their order.
func (a *analysis) assign(list []*syntax.Assign, s state) state {
	for _, as := range list {
		value, ok := a.known(as.Value, &s)
		if s = s.without(as.Name.Value); ok && !as.Append && !as.Naked {
			s = s.with(variable{name: as.Name.Value, value: value})
		}
	}
	return s
}

// setters are the built-in commands that set variables, or forget them, and may only read
// otherwise.
var setters = []string{"read", "unset"}

// set is the state after one of the setters, or after another command.
func (s state) set(words []word) state {
	if !words[0].Literal || !slices.Contains(setters, words[0].Text) {
		return s
	}
	for _, w := range words[1:] {
		if !w.Literal {
			s.vars = nil
			return s
		}
		s = s.without(w.Text)
	}
	return s
}

// unsettled is the state before any turn of a loop: what the loop sets may have any value.
func (a *analysis) unsettled(loop syntax.Node, s state) state {
	if len(s.vars) == 0 {
		return s
	}
	syntax.Walk(loop, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name == nil {
				s.vars = nil
			} else {
				s = s.without(n.Name.Value)
			}
		case *syntax.WordIter:
			s = s.without(n.Name.Value)
		case *syntax.CallExpr:
			s = s.called(n)
		}
		return true
	})
	return s
}

// called is the state after a simple command that has yet to be followed.
func (s state) called(call *syntax.CallExpr) state {
	if len(call.Args) == 0 {
		return s
	}
	words := make([]word, len(call.Args))
	for i, arg := range call.Args {
		lit := arg.Lit()
		words[i].Text, words[i].Literal = lit, lit != "" && len(arg.Parts) == 1 && isSimple(lit)
	}
	if !words[0].Literal { // a quoted name, or one that is expanded
		s.vars = nil
	}
	return s.set(words)
}

// turns are the values that a loop gives its variable, one after the other; none where
// they are not known, or too many to follow.
func (a *analysis) turns(loop *syntax.ForClause, words *syntax.WordIter, s *state) []variable {
	var out []variable
	for _, item := range words.Items {
		for _, w := range a.fields(item, s) {
			if !w.Literal && (!w.Glob || !simplePattern(w.Text)) {
				return nil
			}
			out = append(out, variable{name: words.Name.Value, value: w.Text, wild: w.Glob})
		}
	}
	size := len(out) * int(loop.End().Offset()-loop.Pos().Offset())
	if a.unfollowed || loop.Select || !expands(loop, words.Name.Value) || max(a.turn, 1)*len(out) > maxTurns || max(a.turn, 1)*size > maxUnrolled {
		return nil
	}
	if *a.budget < size+maxWork/2 { // the rest is for the programs: many loops make much of a short text
		return nil
	}
	*a.budget -= size
	return out
}

// expands reports whether a variable stands in the body of a loop.
func expands(loop *syntax.ForClause, name string) bool {
	found := false
	for _, stmt := range loop.Do {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			p, ok := n.(*syntax.ParamExp)
			found = found || ok && p.Param != nil && p.Param.Value == name
			return !found
		})
	}
	return found
}

// simplePattern reports whether the special characters of a pattern are all * and ?.
func simplePattern(pattern string) bool {
	return isSimple(strings.NewReplacer("*", "", "?", "").Replace(pattern))
}
