package repo

import (
	"go/ast"
	"go/parser"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// elsewhere are the files that may make connections without package egress, and why.
var elsewhere = map[string]string{
	"host/internal/shell/sandbox/proxy/http.go":        "sends a request over a connection that egress opened",
	"host/internal/shell/sandbox/proxy/relay_linux.go": "connects to the proxy's Unix socket",
	"host/internal/forward/remote_linux.go":            "connects to the Unix socket of another process of this host",
}

// TestOneWayOut wants every outgoing connection of the host to be judged: only package
// egress makes HTTP clients, transports and dialers.
func TestOneWayOut(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, file := range goFiles(t, parser.SkipObjectResolution) {
		own := covers("host/internal/egress", module+"/"+file.dir())
		if own || strings.HasSuffix(file.name, "_test.go") || !ofTheHost(file.dir()) {
			continue
		}
		for _, found := range connections(file.ast) {
			used[file.name] = true
			if elsewhere[file.name] == "" {
				t.Errorf("%s:%d uses %s: connect by package egress, or list the file here with the reason why not",
					file.name, line(file.data, int(found.at-file.ast.FileStart)), found.call)
			}
		}
	}
	for name := range elsewhere {
		if !used[name] {
			t.Errorf("%s makes no connections, and is listed", name)
		}
	}
}

// ofTheHost tells what runs in the host from what plugins and users' own programs are made
// of, and from tests.
func ofTheHost(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return !slices.Contains([]string{"examples", "plugin-examples", "sdk"}, top) && !strings.HasPrefix(dir, "internal/test")
}

// connecting are the names in packages by which connections to others are made. A pointer
// to a client or transport that was made elsewhere is no use.
var connecting = map[string][]string{
	"net": {
		"Dialer", "Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix",
	},
	"net/http": {
		"Transport", "DefaultTransport", "DefaultClient", "Get", "Head", "Post", "PostForm", "ProxyFromEnvironment",
	},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
}

func connections(file *ast.File) []use {
	packages := map[string][]string{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		packages[name] = connecting[path]
	}
	var found []use
	ast.Inspect(file, func(node ast.Node) bool {
		if _, pointer := node.(*ast.StarExpr); pointer {
			return false
		}
		// A client without a transport has the default one.
		if made, ok := node.(*ast.CompositeLit); ok && selects(made.Type, "http", "Client") && !hasField(made, "Transport") {
			found = append(found, use{"http.Client without a Transport", made.Pos()})
		}
		sel, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(packages[x.Name], sel.Sel.Name) {
			found = append(found, use{x.Name + "." + sel.Sel.Name, sel.Pos()})
		}
		return true
	})
	return found
}

func selects(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && sel.Sel.Name == name
}

func hasField(made *ast.CompositeLit, name string) bool {
	return slices.ContainsFunc(made.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		key, ok := kv.Key.(*ast.Ident)
		return ok && key.Name == name
	})
}
