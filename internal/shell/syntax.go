package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/toolquay/toolquay/internal/lazyregexp"
)

// ruling is what a piece of syntax does to the judgement of what holds it.
type ruling uint8

const (
	// unclear syntax is a fault: it is not known here, or the parser and bash
	// (or one bash and another) may read it differently. It is the zero value,
	// so that what the table lacks is a fault.
	unclear ruling = iota
	// plain syntax is judged by what it holds.
	plain
	// endless syntax leaves nothing in it read-only, as it need not end.
	endless
	// blind syntax leaves nothing in it read-only but where the command can write nothing and
	// reach no host: what it does depends on what is only known when it runs.
	blind
	// veiled syntax may run or change what the text does not show. It becomes a
	// part of its own, without words, that no rule can allow.
	veiled
	// shifting syntax makes later words mean something else: nothing in the
	// whole command is read-only or completely known.
	shifting
)

// construct is a kind of syntax, as the table tells them apart.
type construct uint8

const (
	unknownSyntax construct = iota
	structure
	quotedText
	simpleCommand
	list
	pipeToTime
	group
	branch
	forWords
	forUnknown
	forArithmetic
	selectMenu
	whileLoop
	readLoop
	sharedReadLoop
	background
	function
	coprocess
	otherDialect
	declaration
	arithmeticCommand
	constantArithmetic
	arithmetic
	fileTest
	evaluatingTest
	assignment
	elementAssignment
	redirection
	fileVariable
	otherRedirection
	trickyClosing
	hereDocument
	trickyHereDocument
	comment
	trickyComment
	substitution
	trickyBackquotes
	processSubstitution
	parameter
	assigningParameter
	evaluatingParameter
	trickyParameter
	extendedGlob
)

// rulings is the positive list of syntax: every node of the tree is on it, or
// the command is a fault.
var rulings = [...]struct {
	ruling ruling
	why    string
}{
	unknownSyntax: {unclear, "it has syntax that is not known here"},

	structure:     {plain, "files, statements, words, patterns: what they hold counts"},
	quotedText:    {plain, "text, with or without quotes"},
	simpleCommand: {plain, "its program and arguments are judged"},
	list:          {plain, "a && b, a || b, a | b, a |& b: each side is judged"},
	pipeToTime:    {unclear, "behind a pipe, time is a program and not a keyword"},
	group:         {plain, "( ), { }, time and !: what they hold is judged"},
	branch:        {plain, "if and case: every branch is judged"},

	forWords:       {plain, "for over words that are written out ends by itself"},
	forUnknown:     {blind, "it loops over a list that is only known when it runs"},
	forArithmetic:  {veiled, "a loop with arithmetic may go on for ever and run what its variables hold"},
	selectMenu:     {endless, "a select loop waits for answers"},
	whileLoop:      {endless, "a while or until loop need not end"},
	sharedReadLoop: {blind, "a while or until loop need not end"},
	readLoop:       {plain, "a loop that reads a line before each turn ends where its input does"},
	background:     {endless, "it is left running in the background"},

	function:     {shifting, "it defines a function, so names may mean something else"},
	coprocess:    {unclear, "coprocesses are not judged"},
	otherDialect: {unclear, "it is syntax of another shell"},

	declaration:        {plain, "declare, export, local, readonly: a part of its own that sets variables"},
	arithmeticCommand:  {veiled, "arithmetic assigns, and runs what the values of its variables say"},
	constantArithmetic: {plain, "arithmetic on numbers alone"},
	arithmetic:         {veiled, "arithmetic on variables runs what their values say"},
	fileTest:           {plain, "[[ ]] with tests on files and strings"},
	evaluatingTest:     {veiled, "the test evaluates a value, which may run what it says"},

	assignment:        {plain, "it goes into the Env of its part"},
	elementAssignment: {veiled, "the index of an array is evaluated, which may run what it says"},

	redirection:        {plain, "its file is judged"},
	fileVariable:       {veiled, "{name}> sets a variable and keeps a file open"},
	otherRedirection:   {unclear, "it is a redirection of another shell"},
	trickyClosing:      {unclear, "what follows >&- is another word, but not to every reader"},
	hereDocument:       {plain, "the substitutions in it are judged"},
	trickyHereDocument: {unclear, "where the here-document ends is not plain"},

	comment:       {plain, "nothing"},
	trickyComment: {unclear, "where the comment begins or ends is not plain"},

	substitution:        {plain, "$( ) and backquotes: the commands in it are judged"},
	trickyBackquotes:    {unclear, "quotes, backslashes and comments in backquotes are read in two ways; use $( )"},
	processSubstitution: {plain, "<( ) and >( ): the commands in it are judged"},

	parameter:           {plain, "a variable: the word is not literal"},
	assigningParameter:  {veiled, "${name:=word} sets a variable"},
	evaluatingParameter: {veiled, "${!name}, ${name@P} and computed indices evaluate a value"},
	trickyParameter:     {unclear, "quotes, brackets and substitutions inside ${ } are read in two ways"},

	extendedGlob: {unclear, "extended patterns mean something else where they are not switched on"},
}

// classify names the construct that a node is. The text is the command's.
func classify(node syntax.Node, text string) construct {
	switch node := node.(type) {
	case *syntax.File, *syntax.Word, *syntax.WordIter, *syntax.ArrayExpr, *syntax.ArrayElem:
		return structure
	case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		return quotedText
	case *syntax.CallExpr:
		return simpleCommand
	case *syntax.BinaryCmd:
		_, timed := node.Y.Cmd.(*syntax.TimeClause)
		return either(timed && (node.Op == syntax.Pipe || node.Op == syntax.PipeAll), pipeToTime, list)
	case *syntax.Subshell, *syntax.Block, *syntax.TimeClause:
		return group
	case *syntax.IfClause:
		return branch
	case *syntax.WhileClause:
		return classifyWhile(node)
	case *syntax.FuncDecl:
		return function
	case *syntax.CoprocClause:
		return coprocess
	case *syntax.DeclClause:
		return declaration
	case *syntax.ArithmCmd, *syntax.LetClause:
		return arithmeticCommand
	case *syntax.CStyleLoop:
		return forArithmetic
	case *syntax.ExtGlob:
		return extendedGlob
	case *syntax.Comment:
		return classifyComment(node, text)
	case *syntax.Stmt:
		return classifyStatement(node)
	case *syntax.ForClause:
		return classifyFor(node)
	case *syntax.CaseClause:
		return either(node.Braces, otherDialect, branch)
	case *syntax.CaseItem:
		return either(node.Op == syntax.ResumeKorn, otherDialect, structure)
	case *syntax.Assign:
		return either(node.Index != nil, elementAssignment, assignment)
	case *syntax.Redirect:
		return classifyRedirect(node, text)
	case *syntax.CmdSubst:
		return classifySubstitution(node, text)
	case *syntax.ProcSubst:
		return either(node.Op == syntax.CmdInTemp, otherDialect, processSubstitution)
	case *syntax.ParamExp:
		return classifyParameter(node, text)
	case *syntax.ArithmExp:
		return either(!node.Bracket && !node.Unsigned && constant(node.X), constantArithmetic, arithmetic)
	case *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
		return structure // judged as a whole, by what holds them
	case *syntax.TestClause, *syntax.ParenTest:
		return fileTest
	case *syntax.UnaryTest:
		return either(evaluatesUnary(node), evaluatingTest, fileTest)
	case *syntax.BinaryTest:
		return either(evaluatesBinary(node), evaluatingTest, fileTest)
	}
	return unknownSyntax
}

func either(cond bool, yes, no construct) construct {
	if cond {
		return yes
	}
	return no
}

func classifyStatement(s *syntax.Stmt) construct {
	switch {
	case s.Coprocess || s.Disown:
		return otherDialect
	case s.Background:
		return background
	}
	return structure
}

// classifyWhile tells apart loops that read a line before each turn. Where something in the loop
// reads the same input, it takes lines away from the loop, or is about to: what goes back in it
// does so behind the line that was read.
func classifyWhile(w *syntax.WhileClause) construct {
	switch {
	case endsWithInput(w):
		return readLoop
	case !w.Until && len(w.Cond) == 1 && readsOn(w.Cond[0]):
		return sharedReadLoop
	}
	return whileLoop
}

func classifyFor(f *syntax.ForClause) construct {
	if f.Braces {
		return otherDialect
	}
	if f.Select {
		return selectMenu
	}
	words, ok := f.Loop.(*syntax.WordIter)
	if !ok {
		return structure // the loop's head is a node of its own
	}
	return either(slices.ContainsFunc(words.Items, hasHole), forUnknown, forWords)
}

// classifyComment accepts comments that begin after a blank and end at the end
// of a line. The parser goes on with the next line after a backslash, bash
// does not.
func classifyComment(c *syntax.Comment, text string) construct {
	at := int(c.Hash.Offset())
	if strings.HasSuffix(c.Text, `\`) || strings.HasSuffix(c.Text, "\\\n") {
		return trickyComment
	}
	if at > 0 && !strings.ContainsRune(" \t\n;", rune(text[at-1])) {
		return trickyComment
	}
	return comment
}

func classifySubstitution(c *syntax.CmdSubst, text string) construct {
	if c.TempFile || c.ReplyVar {
		return otherDialect
	}
	// Bash looks for the closing backquote before it looks at quotes.
	if c.Backquotes && strings.ContainsAny(source(c, text), `\'"#<`) {
		return trickyBackquotes
	}
	return substitution
}

// hereEnd are the words that end here-documents the same way for every reader.
var hereEnd = lazyregexp.New(`^([\w.+-]+|'[\w.+ -]+'|"[\w.+ -]+"|\\[\w.+-]+)$`)

func classifyRedirect(r *syntax.Redirect, text string) construct {
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		return fileVariable
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		// To bash <&- is an operator: in `find <&--delete` it ends before -delete.
		word := source(r.Word, text)
		return either(strings.HasPrefix(word, "-") && word != "-", trickyClosing, redirection)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll,
		syntax.WordHdoc:
		return redirection
	case syntax.Hdoc, syntax.DashHdoc:
		return classifyHereDocument(r, text)
	}
	return otherRedirection
}

// classifyHereDocument accepts a here-document if no line of it could be taken
// for its end. A line that is continued is not looked at as one.
func classifyHereDocument(r *syntax.Redirect, text string) construct {
	word := source(r.Word, text)
	if !hereEnd.MatchString(word) {
		return trickyHereDocument
	}
	if r.Hdoc == nil {
		return hereDocument
	}
	end, body := strings.Trim(word, `'"\`), hereBody(r, text)
	if word == end && strings.Contains(body, "\\\n") {
		return trickyHereDocument
	}
	for line := range strings.Lines(body) {
		if strings.Trim(line, " \t\n`)") == end {
			return trickyHereDocument
		}
	}
	return hereDocument
}

// hereBody is the text of a here-document. The parser's node has the line that
// ends it, too.
func hereBody(r *syntax.Redirect, text string) string {
	body := source(r.Hdoc, text)
	last := strings.LastIndexByte(body, '\n') + 1
	if strings.TrimLeft(body[last:], "\t") == strings.Trim(source(r.Word, text), `'"\`) {
		return body[:last]
	}
	return body
}

// plainParameter is the inside of ${ } that is read in one way only.
var plainParameter = lazyregexp.New(`^\$(\w+|[@*#?$!-]|\{([\w ./:%#*?@^=+,!-]|\$\w|\$\{\w+\})*\})$`)

func classifyParameter(p *syntax.ParamExp, text string) construct {
	code := source(p, text)
	if i := strings.IndexByte(code, '['); i > 0 && strings.HasSuffix(code, "]}") && p.Index != nil && !p.Short {
		// ${name[0]} and ${name[@]}, and nothing behind.
		code = code[:i] + code[len(code)-1:]
	} else if p.Index != nil {
		return trickyParameter
	}
	switch {
	case p.Flags != nil || p.Width || p.IsSet || p.NestedParam != nil || p.Modifiers != nil || p.Param == nil ||
		p.Split != syntax.OptUnset || p.GlobSubst != syntax.OptUnset || p.RcExpand != syntax.OptUnset:
		return otherDialect
	case !plainParameter.MatchString(code):
		return trickyParameter
	case p.Excl || p.Names != 0 || !constantIndex(p.Index):
		return evaluatingParameter
	case p.Slice != nil && (!constant(p.Slice.Offset) || !constant(p.Slice.Length)):
		return evaluatingParameter
	case p.Exp == nil:
		return parameter
	}
	switch p.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return assigningParameter
	case syntax.OtherParamOps:
		return evaluatingParameter
	case syntax.MatchEmpty, syntax.ArrayExclude, syntax.ArrayIntersect:
		return otherDialect
	}
	return parameter
}

func constantIndex(x syntax.ArithmExpr) bool {
	if w, ok := x.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		return true
	}
	return constant(x)
}

// constant reports whether an arithmetic expression is made of numbers only. A
// name in it would be evaluated, whatever its value is.
func constant(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.Word:
		return isNumber(x.Lit())
	case *syntax.ParenArithm:
		return constant(x.X)
	case *syntax.UnaryArithm:
		return x.Op != syntax.Inc && x.Op != syntax.Dec && constant(x.X)
	case *syntax.BinaryArithm:
		// Assignments have a name on their left.
		return constant(x.X) && constant(x.Y)
	}
	return false
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) < 19
}

// evaluatesUnary tells the tests on variables, whose names may hold an index
// that is run, from those on files and strings.
func evaluatesUnary(t *syntax.UnaryTest) bool {
	return t.Op == syntax.TsVarSet || t.Op == syntax.TsRefVar
}

// plainPattern is a regular expression without anything that could end it.
var plainPattern = lazyregexp.New(`^[\w.*+?^$\[\]:/@%,=-]+$`)

func evaluatesBinary(t *syntax.BinaryTest) bool {
	switch t.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		return !numberOperand(t.X) || !numberOperand(t.Y)
	case syntax.TsReMatch:
		w, ok := t.Y.(*syntax.Word)
		return !ok || !plainPattern.MatchString(w.Lit())
	}
	return false
}

func numberOperand(x syntax.TestExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && isNumber(w.Lit())
}

// source is the text of a node.
func source(node syntax.Node, text string) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if from > to || to > len(text) {
		return "\\" // no construct is plain with it
	}
	return text[from:to]
}

// hasHole reports whether a word holds anything that is expanded by running or
// looking something up.
func hasHole(w *syntax.Word) bool {
	for part := range syntax.Preorder(w) {
		switch part.(type) {
		case *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			return true
		}
	}
	return false
}
