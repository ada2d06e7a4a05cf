package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/printer"
	"go/token"
	"strings"
)

const header = "// Code generated from package abi by go generate ./abi. DO NOT EDIT.\n\n"

// The groups of constants and the types that the wire consists of. A group is
// named by its first constant.
var (
	wireConsts = []string{
		"Version", "MaxWait", "HeaderSize", "PartBytes", "CodeInvalidInput",
		"CapFSRead", "KindFile", "EncodingUTF8", "LineEndingLF", "ExpectAbsent",
		"ModeContent", "DocPDF", "BlockText", "ChangeCwd",
		"MaxOutput", "CapClockNow", "MaxRandom", "CapSessionTodo", "MessageNormal", "MaxMessage", "WorkPending", "WorkCreate",
	}
	wireNames   = []string{"PartType", "Code", "BlockType", "ChangeKind"}
	wireStructs = []string{
		"Error",
		"CallHead", "ResultHead", "Source", "BlockHead", "Change", "Message",
		"RequestHead", "AnswerHead", "ProgressHead", "Progress", "Log",
		"AssessHead", "Fact", "Assessment", "Lines", "Touch", "Invalid", "Check",
		"ReadArgs", "LineArgs", "ReadOK", "LinesOK", "StatArgs", "StatOK",
		"ListArgs", "ListOK", "Entry", "WriteArgs", "ReplaceArgs", "WriteOK",
		"DocsArgs", "DocsOK", "DocBlock", "NamesArgs", "NamesOK", "Found",
		"ContentsArgs", "ContentsOK", "ClockOK", "RandomArgs", "RandomOK",
		"MessageArgs", "MessageOK", "MessageAttachment",
		"Todo", "TodosArgs", "TodosOK", "TodoLists", "WorkItem", "WorkChange", "WorkArgs", "WorkOK",
	}
)

// What plugin authors see of it under the SDK's own package.
var (
	authorConsts = []string{
		"CodeInvalidInput", "CapFSRead", "KindFile", "EncodingUTF8", "LineEndingLF",
		"ExpectAbsent", "ModeContent", "DocPDF", "BlockText", "CapClockNow", "MaxRandom",
		"CapSessionTodo", "MessageNormal", "MaxMessage", "WorkPending", "WorkCreate",
	}
	authorTypes = []string{
		"Code", "Error", "Progress", "Fact", "Assessment", "Lines", "Touch", "Invalid", "Check",
		"ReadArgs", "LineArgs", "ReadOK", "LinesOK", "StatArgs", "StatOK",
		"ListArgs", "ListOK", "Entry", "WriteArgs", "ReplaceArgs", "WriteOK",
		"DocsArgs", "DocsOK", "BlockType", "DocBlock", "NamesArgs", "NamesOK", "Found",
		"ContentsArgs", "ContentsOK", "ClockOK", "RandomArgs", "RandomOK",
		"MessageArgs", "MessageOK", "MessageAttachment",
		"Todo", "TodosArgs", "TodosOK", "TodoLists", "WorkItem", "WorkChange", "WorkArgs", "WorkOK",
	}
)

// wireFile is the source of wire/wire_gen.go.
func wireFile(s *source) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header + "package wire\n\nimport \"math\"\n\n")
	for _, name := range wireConsts {
		if err := constGroup(&b, s, name, func(v *ast.ValueSpec) string { return exprs(v.Values) }); err != nil {
			return nil, err
		}
	}
	if err := known(&b, s); err != nil {
		return nil, err
	}
	for _, name := range wireNames {
		decl, ok := s.types[name]
		if !ok {
			return nil, fmt.Errorf("package abi has no type %s", name)
		}
		comment(&b, decl.doc)
		fmt.Fprintf(&b, "type %s %s\n\n", name, exprs([]ast.Expr{decl.spec.Type}))
	}
	for _, name := range wireStructs {
		fields, err := s.fields(name)
		if err != nil {
			return nil, err
		}
		structType(&b, name, s.types[name].doc, fields)
		encoder(&b, name, fields)
		decoder(&b, name, fields)
	}
	return formatted(b.Bytes())
}

// known writes the method that tells the codes of this version.
func known(b *bytes.Buffer, s *source) error {
	var names []string
	decl, ok := s.consts["CodeInvalidInput"]
	if !ok {
		return errors.New("package abi has no codes")
	}
	for _, spec := range decl.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok {
			names = append(names, v.Names[0].Name)
		}
	}
	fmt.Fprintf(b, "// Known reports whether c is a code of this version.\nfunc (c Code) Known() bool {\nswitch c {\ncase %s:\nreturn true\n}\nreturn false\n}\n\n", strings.Join(names, ",\n"))
	return nil
}

// typesFile is the source of types_gen.go: the author's names for wire types.
func typesFile(s *source) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header + "package toolquay\n\nimport \"github.com/toolquay/toolquay/sdk/go/wire\"\n\n")
	for _, name := range authorConsts {
		alias := func(v *ast.ValueSpec) string { return "wire." + v.Names[0].Name }
		if err := constGroup(&b, s, name, alias); err != nil {
			return nil, err
		}
	}
	for _, name := range authorTypes {
		decl, ok := s.types[name]
		if !ok {
			return nil, fmt.Errorf("package abi has no type %s", name)
		}
		comment(&b, decl.doc)
		fmt.Fprintf(&b, "type %s = wire.%s\n\n", name, name)
	}
	return formatted(b.Bytes())
}

func formatted(src []byte) ([]byte, error) {
	out, err := format.Source(src)
	if err != nil {
		return nil, fmt.Errorf("the generated code does not parse: %w", err)
	}
	return out, nil
}

func constGroup(b *bytes.Buffer, s *source, first string, value func(*ast.ValueSpec) string) error {
	decl, ok := s.consts[first]
	if !ok {
		return fmt.Errorf("package abi has no group of constants that starts with %s", first)
	}
	comment(b, decl.Doc)
	b.WriteString("const (\n")
	for i, spec := range decl.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || len(v.Names) != 1 || len(v.Values) != 1 {
			return fmt.Errorf("the constants of %s are not one a line with a value each", first)
		}
		if i > 0 && v.Doc != nil {
			b.WriteString("\n")
		}
		comment(b, v.Doc)
		typ := ""
		if v.Type != nil && !strings.HasPrefix(value(v), "wire.") {
			typ = " " + exprs([]ast.Expr{v.Type})
		}
		fmt.Fprintf(b, "%s%s = %s%s\n", v.Names[0].Name, typ, value(v), trailing(v.Comment))
	}
	b.WriteString(")\n\n")
	return nil
}

func structType(b *bytes.Buffer, name string, doc *ast.CommentGroup, fields []field) {
	comment(b, doc)
	fmt.Fprintf(b, "type %s struct {\n", name)
	for _, f := range fields {
		comment(b, f.doc)
		fmt.Fprintf(b, "%s %s %s%s\n", f.name, f.typ, f.tag, trailing(f.comment))
	}
	b.WriteString("}\n\n")
}

func comment(b *bytes.Buffer, g *ast.CommentGroup) {
	if g == nil {
		return
	}
	for _, c := range g.List {
		b.WriteString(c.Text + "\n")
	}
}

func trailing(g *ast.CommentGroup) string {
	if g == nil {
		return ""
	}
	return " " + g.List[0].Text
}

func exprs(list []ast.Expr) string {
	var b bytes.Buffer
	for i, e := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		// Printing to a buffer does not fail.
		_ = printer.Fprint(&b, token.NewFileSet(), e)
	}
	return b.String()
}
