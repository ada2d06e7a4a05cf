//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/plugins"
)

// lie puts one of each kind of thing into a directory, beside nothing at all,
// and returns their names. Some lie behind another.
func lie(t *testing.T, dir string) []string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "dir", "sub"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644))
	must(os.WriteFile(filepath.Join(dir, "closed"), []byte("x"), 0))
	must(os.Symlink("file", filepath.Join(dir, "link")))
	must(os.Symlink("/nowhere/customer-4711", filepath.Join(dir, "dangling")))
	must(os.Symlink("loop", filepath.Join(dir, "loop")))
	must(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	return []string{"missing", "file", "closed", "dir", "dir/", "dir/sub", "dir/missing", "file/below", "missing/below", "link", "dangling", "loop", "fifo"}
}

// TestRefusalsTellNothing names things of every kind in a place that a rule
// denies, and in one that nobody was asked about. But for the name that the
// model gave, all the answers must be the same.
func TestRefusalsTellNothing(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(root, "secret")
	places := map[string]struct {
		dir   string
		names []string
		code  abi.Code
	}{
		"denied":  {secret, lie(t, secret), abi.CodeDenied},
		"unasked": {outside, lie(t, outside), abi.CodeNeedsApproval},
	}
	// What leads into a denied place is denied too, whatever is there.
	for _, name := range places["denied"].names {
		link := "to-" + strings.ReplaceAll(strings.TrimSuffix(name, "/"), "/", "-")
		if err := os.Symlink(filepath.Join(secret, name), filepath.Join(root, link)); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	s := session(t, open(t, host.Options{
		Builtins:    true,
		Tools:       operations(),
		Permissions: host.PermissionOptions{Rules: []permissions.RuleSet{{Deny: permissions.RuleTexts("Read(./secret/**)")}}},
	}), host.SessionOptions{Cwd: root})
	for place, test := range places {
		for _, tool := range []string{"Read", "Grep", "Glob", "fs_read", "fs_stat", "fs_list", "search_names", "search_contents"} {
			t.Run(place+", "+tool, func(t *testing.T) {
				var first string
				for _, name := range test.names {
					r, _ := one(t, s, tool, input(t, tool, test.dir+"/"+name))
					wantError(t, r, test.code)
					shape := strings.ReplaceAll(r.Text(), filepath.Join(test.dir, name), "PATH")
					if first == "" {
						first = shape // nothing is there
					}
					if shape != first {
						t.Errorf("%s is told from what is missing:\n%s\n%s", name, shape, first)
					}
				}
			})
		}
	}
}

// operations are native tools that name no field: each makes one capability
// call, which only the second gate judges.
func operations() []host.NativeTool {
	var tools []host.NativeTool
	for _, name := range []string{abi.CapFSRead, abi.CapFSStat, abi.CapFSList, abi.CapSearchNames, abi.CapSearchContents} {
		contract := abi.Tool{Name: strings.ReplaceAll(name, ".", "_"), Summary: "Asks for " + name, InputSchema: anything, ReadOnly: abi.TraitTrue}
		tools = append(tools, host.NativeTool{Contract: contract, Run: func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
			answer, err := c.Do(ctx, abi.Request{Name: name, Args: c.Input})
			if err != nil {
				return abi.ToolResult{}, err
			}
			return abi.ToolResult{}, answer.Close()
		}})
	}
	return tools
}

func input(t *testing.T, tool, path string) string {
	t.Helper()
	in := map[string]string{"path": path}
	switch {
	case tool == "Read":
		in = map[string]string{"file_path": path}
	case tool == "Grep" || tool == "Glob" || strings.HasPrefix(tool, "search"):
		in["pattern"] = "x"
	}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestScopeTellsNothingOfDeniedPaths has a plugin with a scope ask for what is
// denied and out of its scope. Whether it is a directory, whose scope is judged
// by what is found in it, must not show.
func TestScopeTellsNothingOfDeniedPaths(t *testing.T) {
	root := t.TempDir()
	target := filepath.Join(root, "secret", "x")
	for name, tree := range map[string]bool{"a file": false, "a directory": true} {
		t.Run(name, func(t *testing.T) {
			access := path(permissions.AccessRead, target)
			access.Tree = tree
			s := session(t, open(t, host.Options{
				Plugins: host.PluginOptions{
					Sources: []plugins.Source{plugin(t, "pass_through", fixtureTool+fixtureCapability+"scope = [\"./docs/**\"]\n")},
					Granted: []string{"fixture"},
				},
				Capabilities: []capability.Capability{&testCapability{accesses: []permissions.Access{access}}},
				Permissions:  host.PermissionOptions{Rules: []permissions.RuleSet{{Deny: permissions.RuleTexts("Read(./secret/**)")}}},
			}), host.SessionOptions{Cwd: root})
			r, _ := one(t, s, "Fixture", `{}`)
			wantError(t, r, abi.CodeDenied, "reading "+target+" (", "Read(./secret/**)")
		})
	}
}
