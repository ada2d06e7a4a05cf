package mcp_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/permissions"
)

// oneSetting is settings of which scheduler.max_calls alone is open.
type oneSetting struct {
	file  string
	value json.RawMessage
}

func (o *oneSetting) File() string { return o.file }

func (o *oneSetting) Get(name string) (capability.Setting, error) {
	return capability.Setting{Value: o.value}, o.Check(name, nil)
}

func (o *oneSetting) Check(name string, _ json.RawMessage) error {
	if name != "scheduler.max_calls" {
		return abi.Errorf(abi.CodeDisabled, "%s is closed", name)
	}
	return nil
}

func (o *oneSetting) Set(_ context.Context, _ string, value json.RawMessage) (before, now capability.Setting, err error) {
	before.Value, now.Value, o.value = o.value, value, value
	return before, now, nil
}

// TestSessionsOwnTools serves those that a client can have: Config, and StructuredOutput where
// the embedder asks for output. No client shows messages.
func TestSessionsOwnTools(t *testing.T) {
	t.Parallel()
	one := &oneSetting{file: filepath.Join(t.TempDir(), "settings.toml")}
	var h *host.Host
	var sessions []*host.Session
	s := serve(t, func(m *mcp.Options, o *host.Options) {
		o.Settings = one
		o.Model.Toolset.Also = []string{"Config", "SendUserMessage"}
		m.Open = func(_ context.Context, c mcp.Client) (*host.Session, error) {
			session, err := h.NewSession(host.SessionOptions{
				Cwd: t.TempDir(), Asker: c.Asker, Unheard: true, Mode: permissions.ModeBypass,
				OutputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
			})
			sessions = append(sessions, session)
			return session, err
		}
	})
	h = s.host
	client := s.pipe(nil, "2026-07-28")
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if !slices.Contains(names, "Config") || !slices.Contains(names, "StructuredOutput") || slices.Contains(names, "SendUserMessage") || slices.Contains(names, "TestingPermission") {
		t.Errorf("offered are %q", names)
	}
	call := func(tool string, input any) *sdk.CallToolResult {
		t.Helper()
		result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: input})
		if err != nil {
			t.Fatal(tool, err)
		}
		return result
	}
	if r := call("Config", map[string]any{"setting": "scheduler.max_calls", "value": 4}); r.IsError {
		t.Errorf("Config: %+v", r.StructuredContent)
	}
	if string(one.value) != "4" {
		t.Errorf("it is set to %s", one.value)
	}
	if r := call("Config", map[string]any{"setting": "mcp.x.url", "value": "x"}); !r.IsError {
		t.Error("a closed setting was set")
	}
	if r := call("StructuredOutput", map[string]any{"n": "x"}); !r.IsError {
		t.Error("an output that does not fit was taken")
	}
	if r := call("StructuredOutput", map[string]any{"n": 5}); r.IsError || string(sessions[0].Output()) != `{"n":5}` {
		t.Errorf("the output is %s", sessions[0].Output())
	}
	if r, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "SendUserMessage", Arguments: map[string]any{"message": "x"}}); err == nil {
		t.Errorf("a message was taken that nobody is shown: %+v", r)
	}
}
