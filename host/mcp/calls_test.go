package mcp_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/testenv"
	"github.com/toolquay/toolquay/permissions"
)

// tool is a tool of the embedder's that only reads.
func tool(name string, run func(ctx context.Context, c *host.Call) (abi.ToolResult, error)) func(*mcp.Options, *host.Options) {
	return func(_ *mcp.Options, o *host.Options) {
		o.Tools = append(o.Tools, host.NativeTool{Run: run, Contract: abi.Tool{
			Name: name, Summary: "A tool of a test", InputSchema: `{"type":"object"}`,
			ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue,
		}})
	}
}

func textResult(text string) (abi.ToolResult, error) {
	return abi.ToolResult{Content: []abi.Block{abi.TextBlock(text)}}, nil
}

// within returns what a channel has, in a minute at most.
func within[T any](tb testing.TB, c <-chan T, what string) T {
	tb.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(testenv.Patience):
		tb.Fatal("not in time: ", what)
	}
	panic("unreachable")
}

// TestCancel has a client give up one of two calls: the other goes on.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			begun, ended, goOn := make(chan struct{}, 2), make(chan struct{}, 2), make(chan struct{})
			c := w.connect(serve(t, tool("Wait", func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
				begun <- struct{}{}
				select {
				case <-ctx.Done():
					ended <- struct{}{}
					return abi.ToolResult{}, context.Cause(ctx)
				case <-goOn:
					return textResult("waited")
				}
			})), nil)
			wait := func(ctx context.Context) <-chan string {
				said := make(chan string, 1)
				go func() {
					r, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "Wait"})
					if err != nil {
						said <- err.Error()
						return
					}
					said <- textOf(r)
				}()
				within(t, begun, "the beginning of a call")
				return said
			}
			first := wait(t.Context())
			ctx, cancel := context.WithCancel(t.Context())
			second := wait(ctx)
			cancel()
			if text := within(t, second, "the client's own end"); !strings.Contains(text, context.Canceled.Error()) {
				t.Errorf("the call that was given up: %q", text)
			}
			within(t, ended, "the end of the call that was given up")
			close(goOn)
			if text := within(t, first, "the other call"); text != "waited" {
				t.Errorf("the other call: %q", text)
			}
		})
	}
}

// TestProgress has a tool report while its call runs.
// TestServeEndsWithCalls ends with its context, and what runs with it.
func TestServeEndsWithCalls(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan error, 1)
	s := serve(t, tool("wait", func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
		close(began)
		<-ctx.Done()
		return abi.ToolResult{}, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	there, here := sdk.NewInMemoryTransports()
	go func() { ended <- s.server.Serve(ctx, here) }()
	client := s.connect(there, nil, "2025-11-25")
	go func() { _, _ = client.CallTool(t.Context(), &sdk.CallToolParams{Name: "wait"}) }()
	within(t, began, "the call")
	cancel()
	if err := within(t, ended, "the end"); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			told, heard := make(chan *sdk.ProgressNotificationParams, 10), make(chan struct{})
			o := &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
				told <- r.Params
			}}
			c := w.connect(serve(t, tool("Report", func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
				c.Report(abi.ProgressHead{Progress: &abi.Progress{Message: "half", Done: 1, Total: 2}})
				select {
				case <-heard:
				case <-ctx.Done():
				}
				return textResult("done")
			})), o)
			said := make(chan string, 1)
			go func() {
				params := &sdk.CallToolParams{Name: "Report"}
				params.SetProgressToken("token")
				r, err := c.CallTool(t.Context(), params)
				if err != nil {
					said <- err.Error()
					return
				}
				said <- textOf(r)
			}()
			if p := within(t, told, "progress"); p.Progress != 1 || p.Total != 2 || p.Message != "half" || p.ProgressToken != "token" {
				t.Errorf("progress %+v", p)
			}
			close(heard)
			if text := within(t, said, "the result"); text != "done" {
				t.Error(text)
			}
		})
	}
}

// TestToolsChange adds a plugin while a client listens: it is told, and finds the tool.
func TestToolsChange(t *testing.T) {
	t.Parallel()
	changed := make(chan struct{}, 10)
	o := &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }}
	s := serve(t)
	c := s.pipe(o, "2025-11-25")
	names := func() (list []string) {
		tools, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools.Tools {
			list = append(list, tool.Name)
		}
		return list
	}
	began := time.Now()
	before := names()
	if !slices.Equal(before, names()) {
		t.Error("two lists differ")
	}
	time.Sleep(50 * time.Millisecond) // it is not told of the list that it got
	settings := host.Settings{Rules: []permissions.RuleSet{{Source: permissions.SourceUser, Deny: permissions.RuleTexts("Grep")}}}
	if err := s.host.Apply(settings); err != nil {
		t.Fatal(err)
	}
	after := before
	for slices.Contains(after, "Grep") { // news that are a second late may be of the first list
		within(t, changed, "the news of a change")
		after = names()
	}
	if len(after) != len(before)-1 {
		t.Errorf("after the change there are %v", after)
	}
	if len(changed) > 0 && time.Since(began) < time.Second {
		t.Error("the client was told more than once")
	}
}

// TestRoots has a client offer directories, and later others.
func TestRoots(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	write(t, filepath.Join(first, "here.txt"), "first\n")
	write(t, filepath.Join(second, "here.txt"), "second\n")
	var h *host.Host
	s := serve(t, func(o *mcp.Options, _ *host.Options) {
		o.Open = func(_ context.Context, c mcp.Client) (*host.Session, error) {
			if len(c.Roots) != 1 {
				return nil, errors.New("the client has no root")
			}
			return h.NewSession(host.SessionOptions{Cwd: c.Roots[0]})
		}
	})
	h = s.host
	there, here := sdk.NewInMemoryTransports()
	go func() { _ = s.server.Serve(t.Context(), here) }()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	client.AddRoots(&sdk.Root{URI: "file://" + first}, &sdk.Root{URI: "https://example.com/x"})
	c, err := client.Connect(t.Context(), there, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	read := func() string { return textOf(call(t, c, "Read", map[string]any{"file_path": "here.txt"})) }
	if text := read(); !strings.Contains(text, "first") {
		t.Errorf("in the first root: %q", text)
	}
	client.AddRoots(&sdk.Root{URI: "file://" + second})
	client.RemoveRoots("file://" + first)
	for deadline := time.Now().Add(testenv.Patience); !strings.Contains(read(), "second"); {
		if time.Now().After(deadline) {
			t.Fatal("the second root is not taken up")
		}
	}
}

// TestStoredResult reads what was too long for the model as a resource.
func TestStoredResult(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			long := strings.Repeat("a line of a long result\n", 20_000)
			c := w.connect(serve(t, tool("Long", func(context.Context, *host.Call) (abi.ToolResult, error) { return textResult(long) })), nil)
			r := call(t, c, "Long", nil)
			at := slices.IndexFunc(r.Content, func(block sdk.Content) bool { _, ok := block.(*sdk.ResourceLink); return ok })
			if at < 0 {
				t.Fatalf("no link to the whole result: %.200q", textOf(r))
			}
			link := r.Content[at].(*sdk.ResourceLink)
			got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link.URI})
			if err != nil || len(got.Contents) != 1 || got.Contents[0].Text != long {
				t.Fatalf("the resource is not the whole result: %v", err)
			}
			list, err := c.ListResources(t.Context(), nil)
			if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != link.URI {
				t.Errorf("the list of resources: %+v, %v", list, err)
			}
			if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "toolquay://result/../../a.txt"}); err == nil {
				t.Error("a resource that is not in the list was read")
			}
		})
	}
}

// TestFirstCalls come all at once, before there is a session for them.
func TestFirstCalls(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			c := w.connect(serve(t), nil)
			var calls sync.WaitGroup
			for range 20 {
				calls.Go(func() {
					r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "Read", Arguments: map[string]any{"file_path": "a.txt"}})
					if err != nil || r.IsError {
						t.Errorf("a first call: %v", err)
					}
				})
			}
			calls.Wait()
		})
	}
}

// TestLeaveDuringCall has a client close its session while a call of it runs: both end at once.
func TestLeaveDuringCall(t *testing.T) {
	t.Parallel()
	for _, w := range everyWay() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			begun, ended := make(chan struct{}, 1), make(chan error, 1)
			c := w.connect(serve(t, tool("Wait", func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
				begun <- struct{}{}
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return abi.ToolResult{}, context.Cause(ctx)
			})), nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _, _ = c.CallTool(ctx, &sdk.CallToolParams{Name: "Wait"}) }()
			within(t, begun, "the call begins")
			cancel() // what the client tells of it may come too late
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			within(t, ended, "the call ends")
		})
	}
}
