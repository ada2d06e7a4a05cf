package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/permissions"
)

// keeps is a tool that keeps a file of the name that it is given.
func keeps() host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{Name: "Keep", Summary: "Keeps", InputSchema: anything, ReadOnly: abi.TraitTrue},
		Run: func(_ context.Context, c *host.Call) (abi.ToolResult, error) {
			var in struct{ Name, Content string }
			if err := abi.Unmarshal(c.Input, &in); err != nil {
				return abi.ToolResult{}, err
			}
			path, err := c.Keep(in.Name, []byte(in.Content))
			return abi.ToolResult{Content: []abi.Block{abi.TextBlock(path)}}, err
		},
	}
}

// TestKeptFiles lie in the session's directory under safe names, are private, and can be read
// unasked.
func TestKeptFiles(t *testing.T) {
	t.Parallel()
	sessions := filepath.Join(t.TempDir(), "sessions")
	h := open(t, host.Options{Builtins: true, Tools: []host.NativeTool{keeps()}, Storage: host.StorageOptions{Sessions: sessions}})
	s := session(t, h, host.SessionOptions{ID: "s", Cwd: t.TempDir(), Mode: permissions.ModeDontAsk})
	paths := make(map[string]bool)
	for _, name := range []string{"report.csv", "report.csv", "../../../x/../.ssh/config", "", "con", strings.Repeat("n", 300) + "." + strings.Repeat("e", 300), "a/b\\c:d.t x\x00"} {
		r, _ := one(t, s, "Keep", fmt.Sprintf(`{"name":%q,"content":"whole"}`, strings.ReplaceAll(name, "\x00", "-")))
		path := r.Text()
		paths[path] = true
		if r.IsError || filepath.Dir(path) != filepath.Join(host.SessionDir(sessions, "s"), "files") || len(filepath.Base(path)) > 100 {
			t.Errorf("%q: kept as %q", name, path)
			continue
		}
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", name, info, err)
		}
		if r, _ := one(t, s, "Read", fmt.Sprintf(`{"file_path":%q}`, path)); r.IsError || !strings.Contains(r.Text(), "whole") {
			t.Errorf("%q cannot be read: %s", path, r.Text())
		}
	}
	if len(paths) != 6 {
		t.Errorf("kept %v", paths)
	}
	none := session(t, open(t, host.Options{Tools: []host.NativeTool{keeps()}}), host.SessionOptions{})
	if r, _ := one(t, none, "Keep", `{"name":"x","content":"y"}`); !r.IsError || !strings.Contains(r.Text(), "no directory") {
		t.Errorf("without a directory: %s", r.Text())
	}
}
