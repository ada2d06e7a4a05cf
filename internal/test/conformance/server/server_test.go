package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/internal/testenv"
)

// started is the URL of the program, which serves its plugin.
func started(t *testing.T) string {
	t.Helper()
	plugin := filepath.Join(t.TempDir(), "everything")
	if err := os.Mkdir(plugin, 0o700); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join("plugin", "plugin.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"plugin.toml": manifest, "everything.wasm": testenv.GoGuest(t, "plugin", ".")} {
		if err := os.WriteFile(filepath.Join(plugin, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), testenv.GoProgram(t, "."), filepath.Dir(plugin))
	c.Stderr = t.Output()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// TestServer makes some calls as the suite does, which needs Node.
func TestServer(t *testing.T) {
	t.Parallel()
	url := started(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		answer := &sdk.ClientOptions{
			Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{}},
			ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
			},
		}
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, answer).
			Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			t.Fatal(err)
		}
		sound, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "test_audio_content"})
		if err != nil || len(sound.Content) != 1 {
			t.Fatalf("%s: a sound: %+v, %v", revision, sound, err)
		}
		if _, ok := sound.Content[0].(*sdk.AudioContent); !ok {
			t.Errorf("%s: a sound comes as %T", revision, sound.Content[0])
		}
		greeting, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "test_input_required_result_elicitation"})
		if err != nil || len(greeting.Content) != 1 {
			t.Fatalf("%s: a greeting: %+v, %v", revision, greeting, err)
		}
		if text, ok := greeting.Content[0].(*sdk.TextContent); !ok || text.Text != "Hello, Ada!" {
			t.Errorf("%s: a greeting: %+v", revision, greeting.Content[0])
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
