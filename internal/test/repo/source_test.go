package repo

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// maxLines is the longest Go file that one reads with pleasure. Generated files
// are nobody's reading.
const maxLines = 600

func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t, parser.ParseComments|parser.PackageClauseOnly) {
		if n := bytes.Count(file.data, []byte("\n")); n > maxLines && !ast.IsGenerated(file.ast) {
			t.Errorf("%s has %d lines, more than %d: split it by what its parts do", file.name, n, maxLines)
		}
	}
}

// TestPackagesAreDocumented wants a comment that touches the package clause in
// one file of every package: a comment with an empty line below it shows
// nowhere.
func TestPackagesAreDocumented(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, file := range goFiles(t, parser.ParseComments|parser.PackageClauseOnly) {
		name := file.ast.Name.Name
		// An external test package is part of the package it tests.
		pkg := file.dir() + ": package " + strings.TrimSuffix(name, "_test")
		documented[pkg] = documented[pkg] || hasPackageDoc(file.ast)
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("%s has no doc comment that touches a package clause: say in one sentence what it is for", pkg)
		}
	}
}

// hasPackageDoc reports whether the file documents its package in the form
// godoc wants: "Package name ..." for libraries, any sentence for commands.
func hasPackageDoc(file *ast.File) bool {
	if file.Doc == nil || strings.TrimSpace(file.Doc.Text()) == "" {
		return false
	}
	name := strings.TrimSuffix(file.Name.Name, "_test")
	return name == "main" || strings.HasPrefix(file.Doc.Text(), "Package "+name+" ")
}

// TestSkipsArePermitted wants every skip to go through internal/testenv, where
// those that CI may take are listed.
func TestSkipsArePermitted(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t, parser.SkipObjectResolution) {
		if covers("internal/testenv", file.dir()) {
			continue
		}
		for _, found := range skips(file.ast) {
			t.Errorf("%s:%d skips by %s: use testenv.NeedTool, testenv.Missing or testenv.Permitted",
				file.name, line(file.data, int(found.at-file.ast.FileStart)), found.call)
		}
	}
}

type use struct {
	call string
	at   token.Pos
}

// skips finds calls of Skip, Skipf and SkipNow on parameters of the testing
// package's types, and calls of testing.Short.
func skips(file *ast.File) []use {
	var found []use
	tests := testParams(file)
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		isSkip := slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) && tests[x.Name]
		if isSkip || x.Name == "testing" && sel.Sel.Name == "Short" {
			found = append(found, use{x.Name + "." + sel.Sel.Name, call.Pos()})
		}
		return true
	})
	return found
}

// testParams returns the names of all parameters of type *testing.T, *testing.B,
// *testing.F or testing.TB.
func testParams(file *ast.File) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		function, ok := node.(*ast.FuncType)
		if !ok {
			return true
		}
		for _, field := range function.Params.List {
			if !isTestType(field.Type) {
				continue
			}
			for _, name := range field.Names {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

func isTestType(expr ast.Expr) bool {
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	sel, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == "testing" && slices.Contains([]string{"T", "B", "F", "TB"}, sel.Sel.Name)
}

// TestSkipsAreFound proves that the search above sees each form of a skip.
func TestSkipsAreFound(t *testing.T) {
	t.Parallel()
	const source = `package x

import "testing"

func TestA(t *testing.T)      { t.Skip("a"); t.Run("b", func(sub *testing.T) { sub.SkipNow() }) }
func helper(tb testing.TB)    { tb.Helper(); tb.Skipf("c") }
func FuzzD(f *testing.F)      { if testing.Short() { return } }
func TestE(t *testing.T)      { var reader scanner; reader.Skip() }
`
	file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, found := range skips(file) {
		calls = append(calls, found.call)
	}
	want := []string{"t.Skip", "sub.SkipNow", "tb.Skipf", "testing.Short"}
	if !slices.Equal(calls, want) {
		t.Errorf("skips found: %q, want %q", calls, want)
	}
}
