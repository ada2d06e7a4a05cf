package repo

import (
	"bytes"
	"go/ast"
	"go/parser"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// tableRows returns the cells of a Markdown table, which is found by its header row.
func tableRows(t *testing.T, document, header string) [][]string {
	t.Helper()
	_, table, ok := strings.Cut(string(read(t, document)), header+"\n")
	if !ok {
		t.Fatalf("%s has no table with the header %s", document, header)
	}
	columns := len(cellsOf(header))
	var rows [][]string
	for text := range strings.Lines(table) {
		if !strings.HasPrefix(text, "|") {
			break
		}
		cells := cellsOf(text)
		if len(cells) != columns {
			t.Fatalf("%s: a table row has %d cells, not %d: %s", document, len(cells), columns, text)
		}
		rows = append(rows, cells)
	}
	if len(rows) < 2 {
		t.Fatalf("%s: the table with the header %s has no rows", document, header)
	}
	return rows[1:] // without the dashes below the header
}

func cellsOf(row string) []string { return strings.Split(strings.Trim(row, "| \n"), " | ") }

// linked returns the path that a cell links to: from the root, without a fragment.
func linked(t *testing.T, document, cell string) string {
	t.Helper()
	targets := localLinks([]byte(cell))
	if len(targets) != 1 {
		t.Errorf("%s: %q links to %d files, not to one", document, cell, len(targets))
		return "."
	}
	return path.Join(path.Dir(document), targets[0])
}

// TestGlossary wants the terms of the glossary in order, each once, with a link to
// something that exists and says its path.
func TestGlossary(t *testing.T) {
	t.Parallel()
	const glossary = "docs/glossary.md"
	tree := os.DirFS(root)
	before := ""
	for _, cells := range tableRows(t, glossary, "| term | what it is | where | older words |") {
		term := strings.ToLower(strings.Trim(cells[0], "*`"))
		if term <= before {
			t.Errorf("%s: %q stands after %q: keep the terms sorted, each once", glossary, term, before)
		}
		before = term
		file := linked(t, glossary, cells[2])
		if _, err := fs.Stat(tree, file); err != nil {
			t.Errorf("%s: %s links to %s, which does not exist", glossary, term, file)
		}
		if !strings.HasPrefix(cells[2], "["+file+"](") {
			t.Errorf("%s: %s: the text of the link to %s is not that path", glossary, term, file)
		}
	}
}

// TestWhereTable wants every function that ARCHITECTURE.md names as the answer to a
// question in the file that it names.
func TestWhereTable(t *testing.T) {
	t.Parallel()
	declaredIn := map[string][]string{} // the files, by functions
	for _, file := range goFiles(t, parser.SkipObjectResolution) {
		if file.isTest() {
			continue
		}
		for _, name := range functions(file.ast) {
			declaredIn[name] = append(declaredIn[name], file.name)
		}
	}
	for _, cells := range tableRows(t, "ARCHITECTURE.md", "| where | file | function |") {
		file, function := linked(t, "ARCHITECTURE.md", cells[1]), strings.Trim(cells[2], "`")
		if !slices.Contains(declaredIn[function], file) {
			t.Errorf("ARCHITECTURE.md: where %s: %s does not declare %s (declared in: %s)",
				cells[0], file, function, strings.Join(declaredIn[function], ", "))
		}
	}
}

// functions names the functions that a file declares, and the methods as Type.Method.
func functions(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := function.Name.Name
		if function.Recv != nil {
			name = receiver(function.Recv.List[0].Type) + "." + name
		}
		names = append(names, name)
	}
	return names
}

// receiver is the name of the type of a method.
func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestGlossaryIsLinked wants the glossary where people look for it.
func TestGlossaryIsLinked(t *testing.T) {
	t.Parallel()
	for _, document := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"} {
		if !bytes.Contains(read(t, document), []byte("](docs/glossary.md)")) {
			t.Errorf("%s does not link to docs/glossary.md", document)
		}
	}
}
