package mcp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/testenv"
)

// connected is a client of a server for a directory.
func connected(tb testing.TB, dir string) *sdk.ClientSession {
	tb.Helper()
	h, err := host.Open(tb.Context(), host.Options{Builtins: true, Storage: host.StorageOptions{CacheDir: testenv.CompileCache()}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = h.Close(context.Background()) })
	s, err := h.NewSession(host.SessionOptions{Cwd: dir})
	if err != nil {
		tb.Fatal(err)
	}
	server, err := mcp.New(mcp.Options{Session: s, Info: sdk.Implementation{Name: "toolquay", Version: "test"}})
	if err != nil {
		tb.Fatal(err)
	}
	ct, st := sdk.NewInMemoryTransports()
	go func() { _ = server.Serve(tb.Context(), st) }()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(tb.Context(), ct, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

func TestServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := connected(t, dir)
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil || !slices.ContainsFunc(tools.Tools, func(tool *sdk.Tool) bool { return tool.Name == "Read" }) {
		t.Fatalf("no tool Read is offered: %v", err)
	}
	read, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "Read", Arguments: map[string]any{"file_path": "a.txt"}})
	if err != nil || read.IsError {
		t.Fatalf("Read: %v, %+v", err, read)
	}
	if text := textOf(read); !strings.Contains(text, "one") {
		t.Errorf("Read answers %q, not the file", text)
	}
	edit, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "Edit", Arguments: map[string]any{"file_path": "a.txt", "old_string": "one", "new_string": "two"}})
	if err != nil || !edit.IsError {
		t.Fatalf("Edit, which nobody allowed: %v, %+v", err, edit)
	}
	if text := textOf(edit); !strings.Contains(text, "Edit(") {
		t.Errorf("the denial names no rule: %q", text)
	}
}

func textOf(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

func BenchmarkCall(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	c := connected(b, dir)
	for b.Loop() {
		if _, err := c.CallTool(b.Context(), &sdk.CallToolParams{Name: "Read", Arguments: map[string]any{"file_path": "a.txt"}}); err != nil {
			b.Fatal(err)
		}
	}
}
