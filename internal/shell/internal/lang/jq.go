package lang

import (
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// Jq judges a filter for jq. It must be read-only to every version of jq since
// 1.5, so a filter that only some parse alike is not. -f, -L and --from-file
// take code from files and never come here; files named by --rawfile,
// --slurpfile and --argfile the caller lists. Variables ($name) may hold
// anything, but $ENV and env show the environment and are refused.
func Jq(filter string) Finding {
	if fault := jqGuard(filter); fault != "" {
		return refused(fault)
	}
	query, err := gojq.Parse(filter)
	if err != nil {
		return refused("it is not understood")
	}
	var j jqJudge
	j.query(query)
	if j.fault != "" {
		return refused(j.fault)
	}
	return Finding{ReadOnly: true}
}

// jqGuard refuses, besides what guard does, a backslash at the end of a line:
// behind one a comment goes on in the next line for jq since 1.7.1 only.
// (Nowhere else is one allowed.)
func jqGuard(filter string) string {
	if fault := guard(filter); fault != "" {
		return fault
	}
	if strings.Contains(filter, "\\\n") || strings.HasSuffix(filter, `\`) {
		return "a line ends in a backslash"
	}
	return ""
}

// jqJudge walks a filter. Every part of it is looked at, whether or not it can
// be reached.
type jqJudge struct {
	fault string
	depth int
	// own are the functions, name/arity, that the filter defines around the present
	// place; a parameter is one without arguments.
	own []string
}

func (j *jqJudge) fail(reason string) {
	if j.fault == "" {
		j.fault = reason
	}
}

func (j *jqJudge) query(q *gojq.Query) {
	if q == nil || j.fault != "" {
		return
	}
	if j.depth++; j.depth > maxDepth {
		j.fail("it is nested too deep")
	}
	defer func() { j.depth-- }()
	if q.Meta != nil || len(q.Imports) > 0 {
		j.fail("it takes code from files (import, include)")
	}
	own := len(j.own)
	for _, def := range q.FuncDefs {
		j.define(def)
	}
	j.term(q.Term)
	j.query(q.Left)
	j.patterns(q.Patterns)
	j.query(q.Right)
	j.own = j.own[:own]
}

// define judges a function. None takes a name that is refused elsewhere, so that
// nothing hangs on where its scope ends.
func (j *jqJudge) define(def *gojq.FuncDef) {
	if jqRefused[def.Name] {
		j.fail("it defines " + def.Name + ", which there is already")
	}
	j.own = append(j.own, jqKey(def.Name, len(def.Args)))
	own := len(j.own)
	for _, arg := range def.Args {
		name := strings.TrimPrefix(arg, "$")
		if jqRefused[name] {
			j.fail("a parameter has the name of a function, " + name)
		}
		j.own = append(j.own, jqKey(name, 0))
	}
	j.query(def.Body)
	j.own = j.own[:own]
}

func jqKey(name string, arity int) string { return name + "/" + strconv.Itoa(arity) }

func (j *jqJudge) queries(all ...*gojq.Query) {
	for _, q := range all {
		j.query(q)
	}
}

// term judges a term by its parts.
func (j *jqJudge) term(t *gojq.Term) {
	if t == nil || j.fault != "" {
		return
	}
	if j.depth++; j.depth > maxDepth {
		j.fail("it is nested too deep")
	}
	defer func() { j.depth-- }()
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeRecurse, gojq.TermTypeNull, gojq.TermTypeTrue,
		gojq.TermTypeFalse, gojq.TermTypeNumber, gojq.TermTypeBreak:
	case gojq.TermTypeIndex:
		j.index(t.Index)
	case gojq.TermTypeFunc:
		j.call(t.Func)
	case gojq.TermTypeObject:
		j.object(t.Object)
	case gojq.TermTypeArray:
		j.query(t.Array.Query)
	case gojq.TermTypeUnary:
		j.term(t.Unary.Term)
	case gojq.TermTypeFormat, gojq.TermTypeString:
		j.text(t.Str)
	case gojq.TermTypeQuery:
		j.query(t.Query)
	default:
		j.control(t)
	}
	for _, s := range t.SuffixList {
		j.index(s.Index)
	}
}

// control judges the terms that begin with a keyword.
func (j *jqJudge) control(t *gojq.Term) {
	switch t.Type {
	case gojq.TermTypeIf:
		j.queries(t.If.Cond, t.If.Then, t.If.Else)
		for _, e := range t.If.Elif {
			j.queries(e.Cond, e.Then)
		}
	case gojq.TermTypeTry:
		j.queries(t.Try.Body, t.Try.Catch)
	case gojq.TermTypeReduce:
		j.patterns(t.Reduce.Patterns)
		j.queries(t.Reduce.Query, t.Reduce.Start, t.Reduce.Update)
	case gojq.TermTypeForeach:
		j.patterns(t.Foreach.Patterns)
		j.queries(t.Foreach.Query, t.Foreach.Start, t.Foreach.Update, t.Foreach.Extract)
	case gojq.TermTypeLabel:
		j.query(t.Label.Body)
	default:
		j.fail("it is not understood")
	}
}

func (j *jqJudge) index(i *gojq.Index) {
	if i == nil {
		return
	}
	j.text(i.Str)
	j.queries(i.Start, i.End)
}

func (j *jqJudge) text(s *gojq.String) {
	if s != nil {
		j.queries(s.Queries...)
	}
}

func (j *jqJudge) object(o *gojq.Object) {
	for _, kv := range o.KeyVals {
		j.variable(kv.Key)
		j.text(kv.KeyString)
		j.queries(kv.KeyQuery, kv.Val)
	}
}

func (j *jqJudge) patterns(all []*gojq.Pattern) {
	for _, p := range all {
		j.patterns(p.Array)
		for _, o := range p.Object {
			j.text(o.KeyString)
			j.query(o.KeyQuery)
			if o.Val != nil {
				j.patterns([]*gojq.Pattern{o.Val})
			}
		}
	}
}

// variable judges a name where it is a variable.
func (j *jqJudge) variable(name string) {
	if name == "$ENV" || strings.HasPrefix(name, "$__prog") || strings.Contains(name, "::") {
		j.fail("it uses " + name)
	}
}

// call judges the use of a function or a variable.
func (j *jqJudge) call(f *gojq.Func) {
	j.queries(f.Args...)
	if strings.HasPrefix(f.Name, "$") {
		j.variable(f.Name)
		return
	}
	if key := jqKey(f.Name, len(f.Args)); !slices.Contains(j.own, key) && !jqFunctions()[key] {
		j.fail("it uses " + key + ", which is not on the list of functions that only compute")
	}
}
