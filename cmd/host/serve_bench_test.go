package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/testenv"
)

// BenchmarkCall makes one call after the other: in a program that embeds the host, by toolquay
// mcp over a pipe, and by toolquay serve over HTTP, in both revisions.
func BenchmarkCall(b *testing.B) {
	dir := projectsDir(b)
	b.Run("library", func(b *testing.B) { benchLibrary(b, filepath.Join(dir, "work", "a")) })
	s := startServe(b, dir, "--root", "work", "--no-token", "--cwd", filepath.Join("work", "a"), "--log-level", "warn")
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		b.Run("pipe "+revision, func(b *testing.B) {
			cmd := exec.Command("toolquay", "mcp", "--cwd", filepath.Join(dir, "work", "a"))
			cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME="+testenv.CacheHome())
			benchClient(b, revision, &sdk.CommandTransport{Command: cmd})
		})
		b.Run("HTTP "+revision, func(b *testing.B) {
			benchClient(b, revision, &sdk.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: sending{}}})
		})
	}
}

func benchLibrary(b *testing.B, cwd string) {
	b.Helper()
	h, err := host.Open(b.Context(), host.Options{Builtins: true, Storage: host.StorageOptions{CacheDir: testenv.CompileCache()}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = h.Close(context.Background()) }() // the calls are done
	session, err := h.NewSession(host.SessionOptions{Cwd: cwd})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for e := range session.Call(b.Context(), abi.ToolUse{ID: "1", Name: "Glob", Input: []byte(`{"pattern":"*.txt"}`)}) {
			if e.Kind == host.EventResult && e.Result.IsError {
				b.Fatal(e.Result.Text())
			}
		}
	}
}

func benchClient(b *testing.B, revision string, t sdk.Transport) {
	b.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).
		Connect(b.Context(), t, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	params := &sdk.CallToolParams{Name: "Glob", Arguments: map[string]any{"pattern": "*.txt"}}
	for b.Loop() {
		if r, err := c.CallTool(b.Context(), params); err != nil || r.IsError {
			b.Fatal(r, err)
		}
	}
}
