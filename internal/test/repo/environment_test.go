package repo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readers are what of the standard library reads the environment, or the home that it
// names, by import path. Those of os that make temporary files do so for the directory "".
var readers = map[string][]string{
	"os": {
		"Getenv", "LookupEnv", "Environ", "ExpandEnv", "UserHomeDir", "UserConfigDir", "UserCacheDir",
		"TempDir", "MkdirTemp", "CreateTemp",
	},
	"os/exec":  {"LookPath"},
	"os/user":  {"Current", "Lookup", "LookupId"},
	"syscall":  {"Getenv", "Environ"},
	"net/http": {"ProxyFromEnvironment", "DefaultTransport", "DefaultClient", "Get", "Head", "Post", "PostForm"},
}

// environmentRooms may read the environment: the room for that, and programs.
var environmentRooms = []string{"host/config", "cmd/host", "examples", "plugin-examples", "sdk/go"}

// environmentFiles are the other files that read it, with what they use and the reason.
var environmentFiles = map[string]struct {
	uses   []string
	reason string
}{
	"internal/tempdir/tempdir.go":                      {[]string{"os.MkdirTemp", "os.TempDir"}, "temporary directories lie where the system has them, and those that killed processes left are found there"},
	"host/internal/shell/sandbox/layout_linux.go":      {[]string{"os.TempDir"}, "hides the temporary directories of other sessions, which internal/tempdir made"},
	"host/internal/shell/sandbox/probe_linux.go":       {[]string{"exec.LookPath"}, "looks for bubblewrap on the search path if it is in no usual directory"},
	"host/internal/shell/sandbox/filter_linux.go":      {[]string{"exec.LookPath"}, "runs in a child process whose environment is that of the command it becomes"},
	"host/internal/shell/sandbox/proxy/relay_linux.go": {[]string{"os.Environ"}, "runs in a child process whose environment is that of the command it starts"},
	"host/main.go":                        {[]string{"os.Environ"}, "a process inside a sandbox hands its environment on to the command that it becomes"},
	"host/internal/shell/process/main.go": {[]string{"os.Getenv"}, "the one variable by which a child process knows that it is a supervisor"},
	"plugins/worker/spawn.go":             {[]string{"os.Getenv"}, "the one variable by which a child process knows that it is a worker"},
	"host/telemetry/otlp/exporters.go":    {[]string{"os.Getenv"}, "a standard variable of OpenTelemetry, whose SDK reads others of them by itself"},
}

// TestOnlyConfigReadsEnvironment wants host/config alone to read environment and home: a
// program that embeds the host decides what of them counts.
func TestOnlyConfigReadsEnvironment(t *testing.T) {
	t.Parallel()
	all := rooms(t)
	used := map[string][]string{}
	for _, file := range goFiles(t, parser.SkipObjectResolution) {
		r := roomOf(all, file.dir())
		if file.isTest() || r == nil || r.forTests || slices.Contains(environmentRooms, r.dir) {
			continue
		}
		for _, found := range environmentReads(file.ast) {
			used[file.name] = append(used[file.name], found.call)
			if !slices.Contains(environmentFiles[file.name].uses, found.call) {
				t.Errorf("%s:%d uses %s: take it as an option, which host/config may fill in",
					file.name, line(file.data, int(found.at-file.ast.FileStart)), found.call)
			}
		}
	}
	for name, exception := range environmentFiles {
		for _, call := range exception.uses {
			if !slices.Contains(used[name], call) {
				t.Errorf("%s does not use %s any more: take it off the list", name, call)
			}
		}
	}
}

// environmentReads finds the uses of readers in a file.
func environmentReads(file *ast.File) []use {
	imported := map[string]string{} // by local name
	for _, spec := range file.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value) // the parser has seen that it is quoted
		name := path.Base(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imported[name] = importPath
	}
	var found []use
	named := map[ast.Node]bool{} // uses that name the directory of a temporary file
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CallExpr:
			named[n.Fun] = len(n.Args) > 0 && !isEmptyString(n.Args[0])
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || !slices.Contains(readers[imported[x.Name]], n.Sel.Name) {
				break
			}
			if strings.HasSuffix(n.Sel.Name, "Temp") && named[n] {
				break
			}
			found = append(found, use{fmt.Sprintf("%s.%s", path.Base(imported[x.Name]), n.Sel.Name), n.Pos()})
		}
		return true
	})
	return found
}

func isEmptyString(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && len(lit.Value) == len(`""`)
}

// TestEnvironmentReadsAreFound proves that the search above sees each form of a use.
func TestEnvironmentReadsAreFound(t *testing.T) {
	t.Parallel()
	const source = `package x

import (
	system "os"
	"os/exec"
)

func a(dir string) {
	_ = system.Getenv("HOME")
	use(system.Getenv)
	system.MkdirTemp("", "x-")
	system.MkdirTemp(dir, "x-")
	exec.LookPath("x")
	exec.Command("x")
	os.Environ()
}
`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, found := range environmentReads(file) {
		calls = append(calls, found.call)
	}
	want := []string{"os.Getenv", "os.Getenv", "os.MkdirTemp", "exec.LookPath"}
	if !slices.Equal(calls, want) {
		t.Errorf("found %q, want %q", calls, want)
	}
}
