package mcp_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
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

// served is a server for a directory with one file, a.txt.
type served struct {
	tb     testing.TB
	dir    string
	server *mcp.Server
	host   *host.Host
}

func serve(tb testing.TB, change ...func(*mcp.Options, *host.Options)) *served {
	tb.Helper()
	s := &served{tb: tb, dir: tb.TempDir()}
	write(tb, filepath.Join(s.dir, "a.txt"), "one\n")
	var h *host.Host
	o := mcp.Options{
		Info: &sdk.Implementation{Name: "toolquay", Version: "test"},
		Open: func(_ context.Context, c mcp.Client) (*host.Session, error) {
			return h.NewSession(host.SessionOptions{Cwd: s.dir, Asker: c.Asker})
		},
	}
	of := host.Options{
		Builtins: true,
		Storage:  host.StorageOptions{CacheDir: testenv.CompileCache(), Sessions: filepath.Join(tb.TempDir(), "sessions")},
	}
	for _, c := range change {
		c(&o, &of)
	}
	s.server = mcp.New(o)
	observe := of.Observe.Events
	of.Observe.Events = func(e host.Event) {
		s.server.Observe(e)
		if observe != nil {
			observe(e)
		}
	}
	h, err := host.Open(tb.Context(), of)
	if err != nil {
		tb.Fatal(err)
	}
	s.host = h
	tb.Cleanup(func() {
		if err := s.server.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		_ = h.Close(context.Background())
	})
	return s
}

// pipe connects a client by a pipe.
func (s *served) pipe(o *sdk.ClientOptions, revision string) *sdk.ClientSession {
	s.tb.Helper()
	there, here := sdk.NewInMemoryTransports()
	go func() { _ = s.server.Serve(s.tb.Context(), here) }()
	return s.connect(there, o, revision)
}

// http connects a client over HTTP.
func (s *served) http(o *sdk.ClientOptions, revision string) *sdk.ClientSession {
	s.tb.Helper()
	web := httptest.NewServer(http.StripPrefix("/mcp", s.server.Handler()))
	s.tb.Cleanup(web.Close)
	return s.connect(&sdk.StreamableClientTransport{Endpoint: web.URL + "/mcp"}, o, revision)
}

func (s *served) connect(t sdk.Transport, o *sdk.ClientOptions, revision string) *sdk.ClientSession {
	s.tb.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).
		Connect(s.tb.Context(), t, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = c.Close() })
	if got := c.InitializeResult().ProtocolVersion; got != revision {
		s.tb.Fatalf("the revision is %s, not %s", got, revision)
	}
	return c
}

// call calls a tool, which must have a result.
func call(tb testing.TB, c *sdk.ClientSession, name string, arguments map[string]any) *sdk.CallToolResult {
	tb.Helper()
	r, err := c.CallTool(tb.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
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

var revisions = []string{"2025-11-25", "2026-07-28"}

// way is a way in which a client speaks with a server.
type way struct {
	name    string
	connect func(*served, *sdk.ClientOptions) *sdk.ClientSession
}

func everyWay() (list []way) {
	for _, revision := range revisions {
		list = append(list,
			way{"pipe " + revision, func(s *served, o *sdk.ClientOptions) *sdk.ClientSession { return s.pipe(o, revision) }},
			way{"HTTP " + revision, func(s *served, o *sdk.ClientOptions) *sdk.ClientSession { return s.http(o, revision) }})
	}
	return list
}

func TestServer(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			c := w.connect(serve(t), nil)
			tools, err := c.ListTools(t.Context(), nil)
			if err != nil || !slices.ContainsFunc(tools.Tools, func(tool *sdk.Tool) bool { return tool.Name == "Read" }) {
				t.Fatalf("no tool Read is offered: %v", err)
			}
			read := call(t, c, "Read", map[string]any{"file_path": "a.txt"})
			if text := textOf(read); read.IsError || !strings.Contains(text, "one") {
				t.Errorf("Read answers %q, not the file", text)
			}
			edit := call(t, c, "Edit", map[string]any{"file_path": "a.txt", "old_string": "one", "new_string": "two"})
			if text := textOf(edit); !edit.IsError || !strings.Contains(text, "needs the allow rule Edit(") {
				t.Errorf("a denial should name the rule that would allow it: %q", text)
			}
		})
	}
}

// person answers what is elicited.
func person(tb testing.TB, answers ...map[string]any) *sdk.ClientOptions {
	tb.Helper()
	return &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			if len(answers) == 0 {
				tb.Errorf("asked too often: %s", r.Params.Message)
				return &sdk.ElicitResult{Action: "cancel"}, nil
			}
			if !strings.Contains(r.Params.Message, "a.txt") || !strings.Contains(r.Params.Message, "+two") {
				tb.Errorf("the question does not say what changes: %q", r.Params.Message)
			}
			answer := maps.Clone(answers[0]) // the SDK adds defaults to it
			answers = answers[1:]
			return &sdk.ElicitResult{Action: "accept", Content: answer}, nil
		},
	}
}

func TestApproval(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			c := w.connect(s, person(t, map[string]any{"answer": "deny", "message": "not this file"}, map[string]any{"answer": "allow"}))
			call(t, c, "Read", map[string]any{"file_path": "a.txt"})
			edit := map[string]any{"file_path": "a.txt", "old_string": "one", "new_string": "two"}
			denied := call(t, c, "Edit", edit)
			if text := textOf(denied); !denied.IsError || !strings.Contains(text, "not this file") {
				t.Errorf("a denied edit says %q, not the person's words", text)
			}
			if allowed := call(t, c, "Edit", edit); allowed.IsError {
				t.Errorf("an allowed edit: %q", textOf(allowed))
			}
			text, err := os.ReadFile(filepath.Join(s.dir, "a.txt"))
			if err != nil || string(text) != "two\n" {
				t.Errorf("the file has %q, %v", text, err)
			}
		})
	}
}

func BenchmarkCall(b *testing.B) {
	for _, revision := range revisions {
		b.Run(revision, func(b *testing.B) {
			s := serve(b)
			c := s.pipe(nil, revision)
			for b.Loop() {
				call(b, c, "Read", map[string]any{"file_path": "a.txt"})
			}
		})
	}
}
