package repo

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the repository's root, seen from this package's folder.
const root = "../../.."

// skipDirs are folders that hold no source: build output and other programs'
// own data.
var skipDirs = []string{".git", ".task", ".idea", ".vscode", "target", "bin", "node_modules"}

// files returns the slash-separated paths, from the root, of all files that
// keep accepts.
func files(t *testing.T, keep func(name string) bool) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skipDirs, entry.Name()):
			return fs.SkipDir
		case entry.Type().IsRegular() && keep(name):
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walking the repository: %v", err)
	}
	return found
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// goFile is one parsed Go file, whatever its build constraints say.
type goFile struct {
	name string // path from the root
	ast  *ast.File
	data []byte
}

func (f goFile) dir() string { return path.Dir(f.name) }

func (f goFile) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// goFiles parses every Go file of the repository, nested modules included, but
// not those below testdata folders, which the go command ignores too.
func goFiles(t *testing.T, mode parser.Mode) []goFile {
	t.Helper()
	names := files(t, func(name string) bool {
		return path.Ext(name) == ".go" && !strings.Contains("/"+name, "/testdata/")
	})
	if len(names) < 20 {
		t.Fatalf("found only %d Go files: the walk does not see the repository", len(names))
	}
	var parsed []goFile
	fset := token.NewFileSet()
	for _, name := range names {
		data := read(t, name)
		file, err := parser.ParseFile(fset, name, data, mode)
		if err != nil {
			t.Errorf("parsing: %v", err)
			continue
		}
		parsed = append(parsed, goFile{name, file, data})
	}
	return parsed
}

// isText guesses as git does: a file with a zero byte in its first 8,000 is
// binary.
func isText(data []byte) bool {
	return !bytes.Contains(data[:min(len(data), 8000)], []byte{0})
}

// line returns the 1-based line that holds the byte at offset.
func line(data []byte, offset int) int {
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}
