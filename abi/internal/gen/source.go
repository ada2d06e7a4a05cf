package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// source is what the generator knows of package abi.
type source struct {
	consts map[string]*ast.GenDecl // by the first name of the group
	types  map[string]typeDecl
}

type typeDecl struct {
	doc  *ast.CommentGroup
	spec *ast.TypeSpec
}

// load parses the package's files, without its tests.
func load(dir string) (*source, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	s := &source{consts: make(map[string]*ast.GenDecl), types: make(map[string]typeDecl)}
	fset := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.add(file)
	}
	return s, nil
}

func (s *source) add(file *ast.File) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		switch decl.Tok {
		case token.CONST:
			if first, ok := decl.Specs[0].(*ast.ValueSpec); ok {
				s.consts[first.Names[0].Name] = decl
			}
		case token.TYPE:
			for _, spec := range decl.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				doc := t.Doc
				if doc == nil {
					doc = decl.Doc
				}
				s.types[t.Name.Name] = typeDecl{doc: doc, spec: t}
			}
		}
	}
}

// field is one field of a wire type that crosses the border.
type field struct {
	name      string
	doc       *ast.CommentGroup
	comment   *ast.CommentGroup
	typ       fieldType
	tag       string
	key       string // of the JSON object
	omitEmpty bool
}

// fieldType is a field's type, taken apart.
type fieldType struct {
	kind kind
	// name is the type's own, or that of what it points to or holds.
	name string
}

type kind int

const (
	kindString  kind = iota // string, or a type based on it
	kindInt                 // int, int64, uint32
	kindFloat               // float64
	kindBool                // bool
	kindRaw                 // one JSON value, as it came
	kindStruct              // a wire type
	kindPointer             // to a wire type
	kindScalar              // a pointer to bool, int, uint32 or string
	kindList                // a slice of wire types
	kindStrings             // a slice of strings
	kindRawMap              // a map of strings to JSON values
)

func (t fieldType) String() string {
	switch t.kind {
	case kindRaw:
		return "Raw"
	case kindPointer, kindScalar:
		return "*" + t.name
	case kindList, kindStrings:
		return "[]" + t.name
	case kindRawMap:
		return "map[string]Raw"
	}
	return t.name
}

// fields lists those of a struct that have a JSON key.
func (s *source) fields(name string) ([]field, error) {
	decl, ok := s.types[name]
	if !ok {
		return nil, fmt.Errorf("package abi has no type %s", name)
	}
	st, ok := decl.spec.Type.(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("%s is no struct", name)
	}
	var out []field
	for _, f := range st.Fields.List {
		if f.Tag == nil {
			return nil, fmt.Errorf("%s has a field without a tag", name)
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return nil, err
		}
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if key == "-" {
			continue
		}
		typ, err := s.fieldType(f.Type)
		if err != nil || key == "" {
			return nil, fmt.Errorf("%s.%s: key %q: %w", name, f.Names[0].Name, key, err)
		}
		for _, n := range f.Names {
			out = append(out, field{
				name: n.Name, doc: f.Doc, comment: f.Comment, typ: typ, tag: f.Tag.Value,
				key: key, omitEmpty: slices.Contains(strings.Split(options, ","), "omitempty"),
			})
		}
	}
	return out, nil
}

func (s *source) fieldType(e ast.Expr) (fieldType, error) {
	switch t := e.(type) {
	case *ast.Ident:
		return s.named(t.Name)
	case *ast.SelectorExpr:
		if t.Sel.Name == "RawMessage" {
			return fieldType{kindRaw, "Raw"}, nil
		}
	case *ast.StarExpr:
		of, err := s.fieldType(t.X)
		switch of.kind {
		case kindStruct:
			of.kind = kindPointer
		case kindInt, kindBool, kindString:
			of.kind = kindScalar
		default:
			return of, fmt.Errorf("no codec for a pointer to %s", of)
		}
		return of, err
	case *ast.ArrayType:
		of, err := s.fieldType(t.Elt)
		switch {
		case of.kind == kindStruct:
			of.kind = kindList
		case of.kind == kindString && of.name == "string":
			of.kind = kindStrings
		default:
			return of, fmt.Errorf("no codec for a list of %s", of)
		}
		return of, err
	case *ast.MapType:
		of, err := s.fieldType(t.Value)
		if of.kind != kindRaw {
			return of, fmt.Errorf("no codec for a map of %s", of)
		}
		return fieldType{kindRawMap, "Raw"}, err
	}
	return fieldType{}, fmt.Errorf("no codec for a %T", e)
}

func (s *source) named(name string) (fieldType, error) {
	switch name {
	case "string":
		return fieldType{kindString, name}, nil
	case "int", "int64", "uint32":
		return fieldType{kindInt, name}, nil
	case "float64":
		return fieldType{kindFloat, name}, nil
	case "bool":
		return fieldType{kindBool, name}, nil
	}
	decl, ok := s.types[name]
	if !ok {
		return fieldType{}, fmt.Errorf("package abi has no type %s", name)
	}
	switch base := decl.spec.Type.(type) {
	case *ast.StructType:
		return fieldType{kindStruct, name}, nil
	case *ast.Ident:
		of, err := s.named(base.Name)
		of.name = name
		return of, err
	}
	return fieldType{}, fmt.Errorf("no codec for type %s", name)
}
