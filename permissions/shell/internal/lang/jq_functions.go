package lang

import (
	"maps"
	"strings"
	"sync"

	"github.com/itchyny/gojq"
)

// jqFunctions are the functions of any version of jq that only compute (or read
// the input, or write to the standard streams) and end for every input if their
// arguments do.
var jqFunctions = sync.OnceValue(func() map[string]bool { return jqSet(jqFunctionList) })

const jqFunctionList = `
	not/0 empty/0 error/0 error/1 halt/0 halt_error/0 halt_error/1 select/1 map/1 map_values/1 add/0 add/1
	any/0 any/1 any/2 all/0 all/1 all/2 length/0 utf8bytelength/0 type/0 infinite/0 nan/0 isinfinite/0 isnan/0
	isnormal/0 isfinite/0 isvalid/1 isempty/1 keys/0 keys_unsorted/0 values/0 nulls/0 booleans/0 numbers/0
	strings/0 arrays/0 objects/0 iterables/0 scalars/0 normals/0 finites/0 has/1 in/1 inside/1 contains/1
	path/1 paths/0 paths/1 leaf_paths/0 getpath/1 setpath/2 delpaths/1 del/1 pick/1
	to_entries/0 from_entries/0 with_entries/1 recurse/0 recurse_down/0 walk/1 transpose/0 flatten/0 flatten/1
	combinations/0 sort/0 sort_by/1 group_by/1 unique/0 unique_by/1 min/0 max/0 min_by/1 max_by/1 reverse/0
	first/0 first/1 last/0 last/1 nth/1 nth/2 limit/2 skip/2 join/1 toarray/0 IN/1 IN/2 INDEX/1 INDEX/2 JOIN/2 JOIN/3
	JOIN/4 tostream/0 fromstream/1 truncate_stream/1 input/0 inputs/0 debug/0 debug/1 stderr/0 input_filename/0
	input_line_number/0 tostring/0 tonumber/0 toboolean/0 tojson/0 fromjson/0 ascii_downcase/0 ascii_upcase/0
	explode/0 split/1 split/2 splits/1 splits/2 test/1 test/2 match/1 match/2 capture/1 capture/2
	scan/1 scan/2 sub/2 startswith/1 endswith/1 ltrimstr/1 rtrimstr/1 trimstr/1 trim/0 ltrim/0 rtrim/0 format/1
	floor/0 ceil/0 round/0 trunc/0 rint/0 sqrt/0 cbrt/0 pow/2 exp/0 exp2/0 exp10/0 pow10/0 log/0 log2/0 log10/0
	fabs/0 abs/0 sin/0 cos/0 tan/0 asin/0 acos/0 atan/0 atan2/2 sinh/0 cosh/0 tanh/0 fmin/2 fmax/2 fmod/2
	significand/0 logb/0 frexp/0 modf/0 ldexp/2 scalb/2
	now/0 mktime/0 gmtime/0 localtime/0 strftime/1 strflocaltime/1 strptime/1 todate/0 fromdate/0 date/0
	todateiso8601/0 fromdateiso8601/0 dateadd/2 datesub/2 builtins/0 have_literal_numbers/0
	have_decnum/0 ascii/0
`

// jqConditional are functions that end only with some arguments.
var jqConditional = map[string]func(args []*gojq.Query) bool{
	"range/1":   jqCounts,
	"range/2":   jqCounts,
	"range/3":   func(args []*gojq.Query) bool { return jqCounts(args) && !jqIsZero(args[2]) },
	"recurse/1": func(args []*gojq.Query) bool { return jqDescends(args[0]) },
	"recurse/2": func(args []*gojq.Query) bool { return jqDescends(args[0]) },
	"gsub/2":    func(args []*gojq.Query) bool { return jqNeverEmpty(args[0]) },
	"gsub/3":    func(args []*gojq.Query) bool { return jqNeverEmpty(args[0]) && jqFlags(args[2], "gisn") },
	"sub/3": func(args []*gojq.Query) bool {
		return jqFlags(args[2], "isnxl") || jqNeverEmpty(args[0]) && jqFlags(args[2], "gisn")
	},
	// An empty string has jq 1.6 search for ever.
	"index/1":   jqSearchable,
	"rindex/1":  jqSearchable,
	"indices/1": jqSearchable,
}

// jqRefused are jq's own functions that are on no list: they may never end, or
// look at the environment or at other files.
var jqRefused = map[string]bool{
	"env": true, "getenv": true, "repeat": true, "while": true, "until": true, "bsearch": true, "implode": true,
	"modulemeta": true, "get_search_list": true, "get_jq_origin": true, "get_prog_origin": true,
}

// jqNames are the names of all functions of jq, which a filter gives to none of
// its own.
var jqNames = sync.OnceValue(func() map[string]bool {
	names := maps.Clone(jqRefused)
	for key := range jqFunctions() {
		name, _, _ := strings.Cut(key, "/")
		names[name] = true
	}
	for key := range jqConditional {
		name, _, _ := strings.Cut(key, "/")
		names[name] = true
	}
	return names
})

func jqSet(list string) map[string]bool {
	set := map[string]bool{}
	for key := range strings.FieldsSeq(list) {
		set[key] = true
	}
	return set
}

// jqConstant returns the string that a query is, if it is a constant.
func jqConstant(q *gojq.Query) (string, bool) {
	t := jqTerm(q)
	if t == nil || t.Type != gojq.TermTypeString || t.Str == nil || t.Str.Queries != nil {
		return "", false
	}
	return t.Str.Str, true
}

// jqTerm returns the term that a query is, if it is nothing but one, without
// suffixes.
func jqTerm(q *gojq.Query) *gojq.Term {
	if q == nil || q.Op != 0 || len(q.FuncDefs) > 0 || q.Term == nil || len(q.Term.SuffixList) > 0 {
		return nil
	}
	return q.Term
}

// jqNeverEmpty reports whether a query is a constant regular expression that
// matches no empty string. With others gsub goes on for ever before jq 1.7.
func jqNeverEmpty(q *gojq.Query) bool {
	pattern, ok := jqConstant(q)
	return ok && neverEmpty(pattern)
}

// jqFlags reports whether a query is a constant of some of these flags.
func jqFlags(q *gojq.Query, allowed string) bool {
	flags, ok := jqConstant(q)
	return ok && strings.Trim(flags, allowed) == ""
}

// jqSearchable reports whether a query is a string that is not empty, or a
// number.
func jqSearchable(args []*gojq.Query) bool {
	if text, ok := jqConstant(args[0]); ok {
		return text != ""
	}
	return jqIsNumber(args[0])
}

// jqCounts reports whether range with these arguments ends: numbers of a size at
// which adding one changes them. An input may hold larger ones.
func jqCounts(args []*gojq.Query) bool {
	for _, q := range args {
		if !jqIsNumber(q) && !jqIsLength(q) {
			return false
		}
	}
	return true
}

// jqIsNumber reports whether a query is a whole number of reasonable size.
func jqIsNumber(q *gojq.Query) bool {
	t := jqTerm(q)
	if t != nil && t.Type == gojq.TermTypeUnary && len(t.Unary.Term.SuffixList) == 0 {
		t = t.Unary.Term
	}
	return t != nil && t.Type == gojq.TermTypeNumber && len(t.Number) < 10 && strings.Trim(t.Number, "0123456789") == ""
}

func jqIsZero(q *gojq.Query) bool {
	t := jqTerm(q)
	if t != nil && t.Type == gojq.TermTypeUnary {
		t = t.Unary.Term
	}
	return t == nil || strings.Trim(t.Number, "0") == ""
}

// jqIsLength reports whether a query is the length of what is surely an array or
// a string: that of a number is the number.
func jqIsLength(q *gojq.Query) bool {
	if q.Op != gojq.OpPipe || len(q.Patterns) > 0 || len(q.FuncDefs) > 0 {
		return false
	}
	if length := jqTerm(q.Right); length == nil || length.Type != gojq.TermTypeFunc || length.Func.Name != "length" {
		return jqIsLength(q.Right)
	}
	t := jqTerm(q.Left)
	if t == nil || t.Type != gojq.TermTypeFunc {
		return t != nil && t.Type == gojq.TermTypeArray
	}
	switch jqKey(t.Func.Name, len(t.Func.Args)) {
	case "keys/0", "keys_unsorted/0", "to_entries/0", "tostring/0", "tojson/0", "explode/0", "split/1":
		return true
	}
	return false
}

// jqDescends reports whether what a query returns is always a part of its input,
// and a smaller one, so that recursion by it ends: a path with [] in it.
func jqDescends(q *gojq.Query) bool {
	path, iterates := jqPath(q)
	return path && iterates
}

// jqPath reports whether a query returns parts of its input only, or null, and
// whether it iterates, which null cannot be.
func jqPath(q *gojq.Query) (path, iterates bool) {
	if q == nil || len(q.FuncDefs) > 0 || len(q.Patterns) > 0 {
		return false, false
	}
	switch q.Op {
	case 0:
		return jqPathTerm(q.Term)
	case gojq.OpPipe:
		left, iteratesLeft := jqPath(q.Left)
		right, iteratesRight := jqPath(q.Right)
		return left && right, iteratesLeft || iteratesRight
	case gojq.OpComma:
		left, iteratesLeft := jqPath(q.Left)
		right, iteratesRight := jqPath(q.Right)
		return left && right, iteratesLeft && iteratesRight
	}
	return false, false
}

func jqPathTerm(t *gojq.Term) (path, iterates bool) {
	if t == nil {
		return false, false
	}
	switch t.Type {
	case gojq.TermTypeIdentity:
		path = true
	case gojq.TermTypeIndex:
		path = jqPlainIndex(t.Index)
	case gojq.TermTypeFunc:
		path = t.Func.Name == "select" && len(t.Func.Args) == 1
	case gojq.TermTypeQuery:
		path, iterates = jqPath(t.Query)
	}
	for _, s := range t.SuffixList {
		path = path && jqPlainIndex(s.Index)
		iterates = iterates || s.Iter
	}
	return path, iterates
}

// jqPlainIndex reports whether an index, if there is one, is a constant. An
// array as an index makes something new.
func jqPlainIndex(i *gojq.Index) bool {
	if i == nil || i.Start == nil && i.End == nil {
		return true
	}
	if _, ok := jqConstant(i.Start); ok && !i.IsSlice {
		return true
	}
	return !i.IsSlice && jqIsNumber(i.Start)
}
