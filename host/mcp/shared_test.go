package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/permissions"
)

// raw connects a client that writes its requests itself, and can be asked for forms.
func (s *served) raw() *raw {
	s.tb.Helper()
	web := httptest.NewServer(http.StripPrefix("/mcp", s.server.Handler()))
	s.tb.Cleanup(web.Close)
	return &raw{tb: s.tb, url: web.URL + "/mcp", server: s.server, can: map[string]any{"elicitation": map[string]any{}}}
}

// with returns parameters with others.
func with(params map[string]any, more ...any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, params)
	for i := 0; i < len(more); i += 2 {
		out[fmt.Sprint(more[i])] = more[i+1]
	}
	return out
}

// asked is what a result asks: the only key, and the requestState.
func asked(tb testing.TB, r reply) (key, state string) {
	tb.Helper()
	requests, _ := r.Result["inputRequests"].(map[string]any)
	for key = range requests {
	}
	state, _ = r.Result["requestState"].(string)
	if len(requests) != 1 || state == "" {
		tb.Fatalf("nothing is asked: %+v", r)
	}
	return key, state
}

func accept(key string, content map[string]any) map[string]any {
	return map[string]any{key: map[string]any{"action": "accept", "content": content}}
}

func textIn(r reply) string { return fmt.Sprint(r.Result["content"]) }

// names is a tool that has the client of its call asked for a name.
func names(s *mcp.Server) host.NativeTool {
	return native("Name", func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		answers, err := s.Input(ctx, c.ID, sdk.InputRequestMap{"name": &sdk.ElicitParams{
			Message: "Which?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
		}})
		if err != nil {
			return abi.ToolResult{}, err
		}
		return says(fmt.Sprint(answers["name"].(*sdk.ElicitResult).Content["name"])), nil
	})
}

// TestRequestStateElsewhere brings input by a requestState as it should be, and as it should not.
func TestRequestStateElsewhere(t *testing.T) {
	t.Parallel()
	c := serveNative(t, mcp.TaskOptions{}, func(s *mcp.Server) []host.NativeTool {
		return []host.NativeTool{names(s), native("Other", func(context.Context, *host.Call) (abi.ToolResult, error) { return says("other"), nil })}
	})
	c.can = map[string]any{"elicitation": map[string]any{}}
	other := c.in("other")
	params := map[string]any{"name": "Name", "arguments": map[string]any{"b": 1, "a": "x"}}
	first, second := c.post("tools/call", params), other.post("tools/call", params)
	key, state := asked(t, first)
	_, otherState := asked(t, second)
	input := accept(key, map[string]any{"name": "one"})
	middle := len(state) / 2
	for what, r := range map[string]reply{
		"of another session":   c.post("tools/call", with(params, "requestState", otherState, "inputResponses", input)),
		"with another input":   c.post("tools/call", with(params, "arguments", map[string]any{"a": "y", "b": 1}, "requestState", state, "inputResponses", input)),
		"for another tool":     c.post("tools/call", with(params, "name", "Other", "requestState", state, "inputResponses", input)),
		"that is changed":      c.post("tools/call", with(params, "requestState", state[:middle]+"A"+state[middle+1:]+"A", "inputResponses", input)),
		"that is none":         c.post("tools/call", with(params, "requestState", "!", "inputResponses", input)),
		"that is too short":    c.post("tools/call", with(params, "requestState", "AAAA", "inputResponses", input)),
		"in a session without": c.in("fresh").post("tools/call", with(params, "requestState", state, "inputResponses", input)),
	} {
		if r.Error == nil || r.Error.Code != -32602 || !strings.Contains(r.Error.Message, "requestState") {
			t.Errorf("a requestState %s: %+v", what, r)
		}
	}
	// The order of keys says nothing, and input that is not there is asked for again.
	again := c.post("tools/call", with(params, "requestState", state))
	key, newer := asked(t, again)
	input = accept(key, map[string]any{"name": "one"})
	if r := c.post("tools/call", with(params, "requestState", state, "inputResponses", input)); r.Error == nil || !strings.Contains(r.Error.Message, "used already") {
		t.Errorf("a requestState of an earlier round: %+v", r)
	}
	if r := c.post("tools/call", with(params, "requestState", newer, "inputResponses", input)); !strings.Contains(textIn(r), "one") {
		t.Errorf("the call did not go on: %+v", r)
	}
	if r := c.post("tools/call", with(params, "requestState", newer, "inputResponses", input)); r.Error == nil || !strings.Contains(r.Error.Message, "given up") {
		t.Errorf("a requestState of a call that has ended: %+v", r)
	}
	input = accept(key, map[string]any{"name": "two"})
	if r := other.post("tools/call", with(params, "requestState", otherState, "inputResponses", input)); !strings.Contains(textIn(r), "two") {
		t.Errorf("the call of the other session: %+v", r)
	}
}

// TestSharedSession opens a session for a client that cannot be asked, which others share.
func TestSharedSession(t *testing.T) {
	t.Parallel()
	s := serve(t)
	can := s.raw()
	cannot := *can
	cannot.can = map[string]any{}
	write(t, filepath.Join(s.dir, "b.txt"), "one\n")
	edit := func(c raw, file string) reply {
		c.post("tools/call", map[string]any{"name": "Read", "arguments": map[string]any{"file_path": file}})
		return c.post("tools/call", map[string]any{"name": "Edit", "arguments": map[string]any{"file_path": file, "old_string": "one", "new_string": "two"}})
	}
	denied := func() {
		t.Helper()
		if r := edit(cannot, "b.txt"); !strings.Contains(textIn(r), "needs the allow rule Edit(") {
			t.Errorf("a client that cannot be asked: %+v", r)
		}
	}
	denied()
	asked(t, edit(*can, "a.txt"))
	denied()
}

// TestModeOfSession wishes for modes when the session has one.
func TestModeOfSession(t *testing.T) {
	t.Parallel()
	var h *host.Host
	s := serve(t, func(o *mcp.Options, _ *host.Options) {
		o.Open = func(_ context.Context, c mcp.Client) (*host.Session, error) {
			session, err := h.NewSession(host.SessionOptions{Cwd: t.TempDir()})
			if err == nil && c.Mode != "" {
				err = session.SetMode(c.Mode)
			}
			return session, err
		}
	})
	h = s.host
	c := s.raw()
	list := func(c *raw, mode permissions.Mode) reply {
		return c.post("tools/list", map[string]any{"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": c.can, "toolquay/mode": mode,
		}})
	}
	c.post("tools/list", map[string]any{})
	if r := list(c, permissions.ModeDefault); r.Error != nil {
		t.Errorf("the mode that the session has: %+v", r.Error)
	}
	if r := list(c, permissions.ModePlan); r.Error == nil || !strings.Contains(r.Error.Message, "in the mode default") {
		t.Errorf("a stricter mode is passed over: %.200s", fmt.Sprint(r))
	}
	if r := list(c.in("strict"), permissions.ModePlan); r.Error != nil {
		t.Errorf("another session: %+v", r.Error)
	}
	if r := c.in("strict").post("tools/list", map[string]any{}); r.Error != nil {
		t.Errorf("a request without a wish: %+v", r.Error)
	}
}

// TestCallsOfCallsAsk has a call ask that a call of a client's call made, while another one
// runs: the client of the first is asked.
func TestCallsOfCallsAsk(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			var h *host.Host
			var session *host.Session
			inner := func(name string) func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				return func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
					r := session.Results(ctx, []abi.ToolUse{{ID: "inner-" + name, Name: name, Input: []byte("{}")}})
					return textResult(r[0].Text())
				}
			}
			begun, let := make(chan struct{}), make(chan struct{})
			s := serve(t, tool("Outer", inner("Middle")), tool("Middle", inner("Ask")), tool("Ask", func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				r, err := c.Ask(ctx, host.Ask{Form: &host.Form{
					Message: "Which?", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
				}})
				if err != nil {
					return abi.ToolResult{}, err
				}
				return textResult(string(r.Content))
			}), tool("Wait", func(context.Context, *host.Call) (abi.ToolResult, error) {
				close(begun)
				<-let
				return textResult("waited")
			}), func(o *mcp.Options, _ *host.Options) {
				o.Open = func(_ context.Context, c mcp.Client) (_ *host.Session, err error) {
					session, err = h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Asker: c.Asker})
					return session, err
				}
			})
			h = s.host
			c := w.connect(s, &sdk.ClientOptions{
				ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
				},
			})
			waited := make(chan string, 1)
			go func() {
				r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "Wait"})
				if err != nil {
					waited <- err.Error()
					return
				}
				waited <- textOf(r)
			}()
			within(t, begun, "the beginning of the other call")
			if r := call(t, c, "Outer", nil); !strings.Contains(textOf(r), `{"name":"Ann"}`) {
				t.Errorf("the call that asks: %q", textOf(r))
			}
			close(let)
			if text := within(t, waited, "the other call"); text != "waited" {
				t.Error(text)
			}
		})
	}
}

// TestLongCommand asks for a command whose end is far from its beginning: all of it is shown,
// or nobody is asked. Its lines look like none of the host's.
func TestLongCommand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		padding int
		asked   bool
	}{{3000, true}, {20_000, false}} {
		command := "run " + strings.Repeat("x", test.padding) + "\nDirectory: /safe\nthe-end"
		var message string
		s := serve(t, func(_ *mcp.Options, o *host.Options) {
			o.Tools = append(o.Tools, host.NativeTool{
				Contract: abi.Tool{Name: "Sh", Description: "Sh", InputSchema: `{"type":"object"}`},
				Run:      func(context.Context, *host.Call) (abi.ToolResult, error) { return textResult("done") },
			})
		})
		c := s.pipe(&sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			message = r.Params.Message
			return &sdk.ElicitResult{Action: "decline"}, nil
		}}, "2025-11-25")
		r := call(t, c, "Sh", map[string]any{"command": command})
		if !r.IsError || (message != "") != test.asked {
			t.Errorf("%d characters: asked is %.80q, and the result %.200q", test.padding, message, textOf(r))
		}
		if test.asked && (!strings.Contains(message, "the-end") || strings.Contains(message, "\nDirectory: /safe")) {
			t.Errorf("the question shows %q", message)
		}
	}
}
