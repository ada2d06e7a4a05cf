package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/permissions"
)

// analysis is one command under judgement.
type analysis struct {
	text  string
	at    Place
	parts []permissions.Part
	// fault is the first reason why the command cannot be judged.
	fault string
	// spans are the stretches of text in which nothing is read-only.
	spans []span
	// veils are the nodes that become parts without words.
	veils []veil
	// depth is how many commands this one is an argument of.
	depth int
	// lines says that the text has more than one.
	lines bool
	// budget is how much may still be looked at behind wrappers.
	budget *int
	// does says that a part does more than read, so that the command does, whatever bounds it.
	does bool
	// wires are the descriptors, of what it starts as well.
	wires *wires
	// timing is the command that the keyword time stands before.
	timing syntax.Command
	// unfollowed says that what variables hold is not followed.
	unfollowed bool
	// turn is how often the statement at hand is followed, for the values of loops.
	turn int
	// brought is what pipes bring to simple commands.
	brought map[*syntax.CallExpr]*feed
	// end is the shell at the end.
	end state
}

func newAnalysis(text string, at Place, budget *int, w *wires) analysis {
	brought := map[*syntax.CallExpr]*feed{}
	return analysis{text: text, at: at, budget: budget, wires: w, lines: strings.Contains(text, "\n"), brought: brought}
}

// span is a stretch of text and why nothing in it is read-only.
type span struct {
	from, to int
	// shifting says that nothing in it is completely known either.
	shifting bool
	// ends says that what is in it ends, so that it does no more than read where it can write
	// nothing and reach no host.
	ends bool
	why  string
}

// veil is a node that may do what the text does not show, and why.
type veil struct {
	node syntax.Node
	why  string
}

// inspect meets every node before anything is made of them, and holds it
// against the table of syntax.
func (a *analysis) inspect(file *syntax.File) {
	var nested []bool
	depth, substitutions := 0, 0
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			if nested[len(nested)-1] {
				depth--
			}
			nested = nested[:len(nested)-1]
			return true
		}
		nests := nesting(node)
		if nested = append(nested, nests); nests {
			depth++
		}
		switch node := node.(type) {
		case *syntax.CmdSubst:
			substitutions++
		case *syntax.Comment:
			// Older versions look for the end of a substitution in comments too.
			if substitutions > 0 && strings.ContainsAny(node.Text, "'\"`()") {
				a.blame(trickyComment, node)
			}
		}
		if depth > maxNesting {
			a.fault = errNested.Error()
			return true
		}
		a.hold(node)
		return true
	})
}

// nesting reports whether a node is a level of nesting.
func nesting(node syntax.Node) bool {
	switch node.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.Subshell, *syntax.Block, *syntax.IfClause,
		*syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl, *syntax.ParenArithm,
		*syntax.ParenTest, *syntax.ParamExp, *syntax.ArithmExp:
		return true
	}
	return false
}

// hold does what the table says on a node.
func (a *analysis) hold(node syntax.Node) {
	// The walk of the library leaves out comments after the first of a list.
	if stmt, ok := node.(*syntax.Stmt); ok {
		for i := range stmt.Comments {
			a.rule(classify(&stmt.Comments[i], a.text), &stmt.Comments[i])
		}
	}
	a.rule(classify(node, a.text), node)
}

func (a *analysis) rule(c construct, node syntax.Node) {
	row := &rulings[c]
	switch row.ruling {
	case plain:
	case endless, blind:
		a.spans = append(a.spans, span{
			from: offset(node), to: int(node.End().Offset()), ends: row.ruling == blind, why: a.because(row.why, node),
		})
	case shifting:
		a.unfollowed = true
		a.spans = append(a.spans, span{to: len(a.text) + 1, shifting: true, why: a.because(row.why, node)})
	case veiled:
		a.veils = append(a.veils, veil{node, a.because(row.why, node)})
	default:
		a.blame(c, node)
	}
}

// blame makes a node the command's fault, if there is none yet.
func (a *analysis) blame(c construct, node syntax.Node) {
	if a.fault == "" {
		a.fault = a.because(rulings[c].why, node)
	}
}

// because adds to a reason where its cause is.
func (a *analysis) because(why string, node syntax.Node) string {
	pos := node.Pos()
	if a.lines {
		return fmt.Sprintf("%s (line %d, column %d)", why, pos.Line(), pos.Col())
	}
	return fmt.Sprintf("%s (column %d)", why, pos.Col())
}

func offset(node syntax.Node) int { return int(node.Pos().Offset()) }
