package lang

import "github.com/itchyny/gojq"

// jqParts are the parts of a filter, with the fields that jqJudge looks at.
var jqParts = []struct {
	value  any
	fields []string
}{
	{gojq.Query{}, []string{"Meta", "Imports", "FuncDefs", "Term", "Left", "Right", "Patterns", "Op"}},
	{gojq.FuncDef{}, []string{"Name", "Args", "Body"}},
	{gojq.Term{}, []string{
		"Type", "Index", "Func", "Object", "Array", "Number", "Unary", "Format", "Str", "If", "Try", "Reduce",
		"Foreach", "Label", "Break", "Query", "SuffixList",
	}},
	{gojq.Unary{}, []string{"Op", "Term"}},
	{gojq.Pattern{}, []string{"Name", "Array", "Object"}},
	{gojq.PatternObject{}, []string{"Key", "KeyString", "KeyQuery", "Val"}},
	{gojq.Index{}, []string{"Name", "Str", "Start", "End", "IsSlice"}},
	{gojq.Func{}, []string{"Name", "Args"}},
	{gojq.String{}, []string{"Str", "Queries"}},
	{gojq.Object{}, []string{"KeyVals"}},
	{gojq.ObjectKeyVal{}, []string{"Key", "KeyString", "KeyQuery", "Val"}},
	{gojq.Array{}, []string{"Query"}},
	{gojq.Suffix{}, []string{"Index", "Iter", "Optional"}},
	{gojq.If{}, []string{"Cond", "Then", "Elif", "Else"}},
	{gojq.IfElif{}, []string{"Cond", "Then"}},
	{gojq.Try{}, []string{"Body", "Catch"}},
	{gojq.Reduce{}, []string{"Query", "Patterns", "Start", "Update"}},
	{gojq.Foreach{}, []string{"Query", "Patterns", "Start", "Update", "Extract"}},
	{gojq.Label{}, []string{"Ident", "Body"}},
}
