package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// answer is what a line of the output says.
type answer struct {
	ID    any `json:"id"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Result json.RawMessage `json:"result"`
}

func TestPipe(t *testing.T) {
	t.Parallel()
	ping := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
	tests := []struct {
		name, line string
		code       int
		says       string
	}{
		{"no JSON", "hello", -32700, "not a JSON-RPC message"},
		{"a number", "1", -32700, "not a JSON-RPC message"},
		{"a list", "[]", -32700, "not a JSON-RPC message"},
		{"half", `{"jsonrpc":"2.0","id":2`, -32700, "not a JSON-RPC message"},
		{"deep", strings.Repeat(`{"a":`, 20_000), -32700, "not a JSON-RPC message"},
		{"long", `"` + strings.Repeat("x", 200_000) + `"`, -32600, "too long: at most 150000 bytes"},
		{"other version", `{"jsonrpc":"1.0","id":2,"method":"ping"}`, -32700, "not a JSON-RPC message"},
		{"unknown", `{"jsonrpc":"2.0","id":2,"method":"tools/destroy"}`, -32601, ""},
		{"no text", "\xff\xfe\x00", -32700, "not a JSON-RPC message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			in, to := io.Pipe()
			from, out := io.Pipe()
			go func() { _ = s.server.Serve(t.Context(), &mcp.Pipe{In: in, Out: out, MaxMessage: 150_000}) }()
			lines := bufio.NewScanner(from)
			ask := func(line string) answer {
				t.Helper()
				if _, err := io.WriteString(to, line+"\n"); err != nil {
					t.Fatal(err)
				}
				var a answer
				if !lines.Scan() {
					t.Fatal("the output has ended: ", lines.Err())
				}
				if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
					t.Fatal(err)
				}
				return a
			}
			ask(initialize)
			if a := ask(tt.line); a.Error == nil || a.Error.Code != tt.code || !strings.Contains(a.Error.Message, tt.says) {
				t.Errorf("the answer is %+v", a)
			}
			if a := ask(ping("3")); a.Error != nil || a.ID != 3.0 {
				t.Errorf("the next request is answered by %+v", a)
			}
			_ = to.Close()
		})
	}
}

func TestPipeDuplicateID(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	s := serve(t, func(o *mcp.Options, _ *host.Options) {
		o.Extend = func(server *sdk.Server) {
			server.AddTool(&sdk.Tool{Name: "Wait", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				<-goOn
				return &sdk.CallToolResult{}, nil
			})
		}
	})
	in, to := io.Pipe()
	from, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.server.Serve(t.Context(), &mcp.Pipe{In: in, Out: out})
		_ = out.Close()
	}()
	wait := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"Wait","arguments":{}}}`
	go func() {
		_, _ = io.WriteString(to, initialize+"\n"+wait+"\n"+wait+"\n")
		_ = to.Close() // the first is answered all the same
	}()
	refused, done := 0, 0
	for lines := bufio.NewScanner(from); lines.Scan(); {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		switch {
		case a.ID != 7.0: // that of initialize
		case a.Error != nil:
			refused++
			close(goOn)
		default:
			done++
		}
	}
	if err := <-served; err != nil || refused != 1 || done != 1 {
		t.Errorf("%d refused and %d done, not one of each: %v", refused, done, err)
	}
}

// TestPipeOver sends nothing more once the context of the connection has ended.
func TestPipeOver(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	in, _ := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c, err := (&mcp.Pipe{In: in, Out: &out}).Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	answer := &jsonrpc.Response{Result: json.RawMessage("{}")}
	if err := c.Write(t.Context(), answer); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("before: %v, %q", err, out.String())
	}
	cancel()
	if err := c.Write(t.Context(), answer); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("after: %v, %q", err, out.String())
	}
}
