package servers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp/servers"
	"github.com/toolquay/toolquay/permissions"
)

// contents answers each read with some contents.
func contents(list ...*mcp.ResourceContents) mcp.ResourceHandler {
	return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		for _, c := range list {
			c.URI = r.Params.URI
		}
		return &mcp.ReadResourceResult{Contents: list}, nil
	}
}

// library has resources of every kind, on several pages.
func library() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "library"}, &mcp.ServerOptions{PageSize: 2})
	put := func(uri, name, mime string, h mcp.ResourceHandler) {
		s.AddResource(&mcp.Resource{URI: uri, Name: name, MIMEType: mime}, h)
	}
	put("doc://notes", "notes", "text/plain", contents(&mcp.ResourceContents{Text: "first\nsecond"}))
	put("doc://parts", "parts", "", contents(&mcp.ResourceContents{Text: "one"}, &mcp.ResourceContents{Text: "two"}))
	put("doc://image", "image", "image/png", contents(&mcp.ResourceContents{MIMEType: "image/png", Blob: []byte("\x89PNG")}))
	put("doc://x/../../report.exe?a=b", "report", "application/pdf", contents(&mcp.ResourceContents{MIMEType: "application/pdf", Blob: []byte("%PDF-1.7")}))
	put("doc://nothing", "nothing", "", contents())
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "page://{n}", Name: "page", Description: "A page\x1b[31m\nof many"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "this is " + r.Params.URI}}}, nil
		})
	return s
}

// offered are the names of the tools that a session offers.
func offered(t *testing.T, s *host.Session) []string {
	t.Helper()
	states, err := s.Tools(host.FormatMCP)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, st := range states {
		if st.NotOffered == nil {
			names = append(names, st.Name)
		}
	}
	return names
}

// TestResourceToolsAreOffered while a connected server has resources.
func TestResourceToolsAreOffered(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{}, "", "")
	set := connect(t, h, servers.Config{Name: "plain", URL: serve(t, newServer())})
	s := session(t, h, host.SessionOptions{})
	has := func() bool {
		names := offered(t, s)
		return slices.Contains(names, "ListMcpResources") && slices.Contains(names, "ReadMcpResource")
	}
	if has() {
		t.Error("offered, and nobody has resources")
	}
	set.Configure([]servers.Config{{Name: "lib", URL: serve(t, library())}})
	wait(t, "the tools for resources", has)
	set.Configure(nil)
	wait(t, "their end", func() bool { return !has() })
}

// TestListResources lists the resources of all servers that no rule denies, page by page, and says
// which server did not answer.
func TestListResources(t *testing.T) {
	t.Parallel()
	broken := library()
	broken.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "resources/list" {
				return nil, errors.New("out of order")
			}
			return next(ctx, method, r)
		}
	})
	empty := mcp.NewServer(&mcp.Implementation{Name: "empty"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Resources: &mcp.ResourceCapabilities{}}})
	h := open(t, host.Options{}, "", "mcp__hidden")
	connect(t, h,
		servers.Config{Name: "lib", URL: serve(t, library())}, servers.Config{Name: "hidden", URL: serve(t, library())},
		servers.Config{Name: "plain", URL: serve(t, newServer())}, servers.Config{Name: "broken", URL: serve(t, broken)},
		servers.Config{Name: "empty", URL: serve(t, empty)},
	)
	s := session(t, h, host.SessionOptions{Mode: permissions.ModeDontAsk})
	r := call(t.Context(), s, "ListMcpResources", `{}`)
	want := `The MCP server broken could not list its resources: the MCP server broken answered with an error: out of order (0)
The MCP server empty has no resources now.
Resources of the MCP server lib:
- doc://image (image, image/png)
- doc://notes (notes, text/plain)
- doc://nothing (nothing)
- doc://parts (parts)
- doc://x/../../report.exe?a=b (report, application/pdf)
Templates of the MCP server lib, to be filled in:
- page://{n} (page): A page\x1b[31m\nof many`
	if r.IsError || r.Text() != want {
		t.Errorf("got\n%s\nwant\n%s", r.Text(), want)
	}
	var got struct {
		Resources []struct{ URI, Name, MIMEType, Server string }
		Templates []struct{ URITemplate, Server string }
		Failed    []struct{ Server, Error string }
	}
	if err := json.Unmarshal(r.Structured, &got); err != nil || len(got.Resources) != 5 || got.Resources[1].URI != "doc://notes" || got.Resources[1].Server != "lib" ||
		len(got.Templates) != 1 || got.Templates[0].URITemplate != "page://{n}" || len(got.Failed) != 1 || got.Failed[0].Server != "broken" {
		t.Errorf("structured: %s, %v", r.Structured, err)
	}
	for input, want := range map[string]string{
		`{"server":"lib"}`:    "- doc://notes (notes, text/plain)",
		`{"server":"lob"}`:    `there is no MCP server "lob"; did you mean "lib"?`,
		`{"server":"plain"}`:  "the MCP server plain has no resources",
		`{"server":"hidden"}`: "deny rule",
		`{"server":"broken"}`: "out of order",
	} {
		if r := call(t.Context(), s, "ListMcpResources", input); !strings.Contains(r.Text(), want) || r.IsError == strings.Contains(input, "lib") || strings.Contains(r.Text(), "MCP server empty") {
			t.Errorf("%s: got %s", input, r.Text())
		}
	}
}

// TestListsAreBounded of servers that have too many resources, or page without end.
func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	s := library()
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method != "resources/list" {
				return next(ctx, method, r)
			}
			list := &mcp.ListResourcesResult{NextCursor: "more", Resources: []*mcp.Resource{{URI: "x://" + strings.Repeat("y", 3000)}, {}}}
			for i := range 60 {
				list.Resources = append(list.Resources, &mcp.Resource{URI: fmt.Sprintf("x://%d/%s", i, strings.Repeat("z", 100)), Description: strings.Repeat("d", 10_000)})
			}
			return list, nil
		}
	})
	h := open(t, host.Options{}, "", "")
	connect(t, h, servers.Config{Name: "lib", URL: serve(t, s)})
	r := call(t.Context(), session(t, h, host.SessionOptions{}), "ListMcpResources", `{}`)
	var got struct{ Resources []json.RawMessage }
	if err := json.Unmarshal(r.Structured, &got); err != nil || len(got.Resources) != 500 || len(r.Structured) > 100_000 {
		t.Errorf("%d resources in %d bytes, %v", len(got.Resources), len(r.Structured), err)
	}
}

// TestReadResource shows texts and images, and saves what is neither.
func TestReadResource(t *testing.T) {
	t.Parallel()
	sessions := filepath.Join(t.TempDir(), "sessions")
	h := open(t, host.Options{Storage: host.StorageOptions{Sessions: sessions}}, "mcp__lib", "")
	connect(t, h, servers.Config{Name: "lib", URL: serve(t, library())})
	s := session(t, h, host.SessionOptions{ID: "s"})
	read := func(uri string) abi.ToolResult {
		return call(t.Context(), s, "ReadMcpResource", fmt.Sprintf(`{"server":"lib","uri":%q}`, uri))
	}
	for uri, want := range map[string][2]string{
		"doc://notes": {"first\nsecond", `{"contents":[{"mimeType":"text/plain","text":"first\nsecond","uri":"doc://notes"}]}`},
		"doc://parts": {"[doc://parts]\none\n[doc://parts]\ntwo", `{"contents":[{"text":"one","uri":"doc://parts"},{"text":"two","uri":"doc://parts"}]}`},
		"page://7":    {"this is page://7", `{"contents":[{"text":"this is page://7","uri":"page://7"}]}`},
	} {
		if r := read(uri); r.IsError || r.Text() != want[0] || string(r.Structured) != want[1] {
			t.Errorf("%s: got %q, %s", uri, r.Text(), r.Structured)
		}
	}
	if r := read("doc://image"); len(r.Content) != 1 || r.Content[0].Type != abi.BlockImage || r.Content[0].MediaType != "image/png" || !bytes.Equal(r.Content[0].Data, []byte("\x89PNG")) {
		t.Errorf("an image: %+v", r)
	}
	r := read("doc://x/../../report.exe?a=b")
	var saved struct {
		Contents []struct{ MIMEType, BlobSavedTo string }
	}
	if err := json.Unmarshal(r.Structured, &saved); err != nil || len(saved.Contents) != 1 {
		t.Fatalf("%s, %v", r.Structured, err)
	}
	path := saved.Contents[0].BlobSavedTo
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "%PDF-1.7" || !strings.HasPrefix(path, host.SessionDir(sessions, "s")) || filepath.Ext(path) != ".pdf" || !strings.Contains(r.Text(), path) {
		t.Errorf("saved to %s: %q, %v; %s", path, text, err, r.Text())
	}
	for uri, want := range map[string]string{"doc://note": `did you mean "doc://notes"?`, "other://entirely": "ListMcpResources lists what"} {
		if r := read(uri); !r.IsError || r.Error.Code != abi.CodeNotFound || !strings.Contains(r.Text(), want) {
			t.Errorf("%s: got %s", uri, r.Text())
		}
	}
	none := session(t, h, host.SessionOptions{ID: "t"})
	if r := call(t.Context(), none, "ReadMcpResource", `{"server":"libs","uri":"x"}`); !r.IsError || !strings.Contains(r.Text(), `did you mean "lib"?`) {
		t.Errorf("an unknown server: %s", r.Text())
	}
}

// TestReadResourceIsJudged as what the server does, and as the tool that it is.
func TestReadResourceIsJudged(t *testing.T) {
	t.Parallel()
	url := serveAs(t, library(), true)
	for name, test := range map[string]struct {
		allow, deny string
		want        string
	}{
		"nothing said":       {"", "", "needs a person's approval"},
		"allowed by server":  {"mcp__lib", "", "first"},
		"allowed by name":    {"ReadMcpResource", "", "first"},
		"another server":     {"mcp__other", "", "needs a person's approval"},
		"denied by server":   {"ReadMcpResource", "mcp__lib", "deny rule"},
		"denied by name":     {"mcp__lib", "ReadMcpResource", "deny rule"},
		"one tool is denied": {"mcp__lib", "mcp__lib__say", "first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, host.Options{}, test.allow, test.deny)
			connect(t, h, servers.Config{Name: "lib", URL: url})
			r := call(t.Context(), session(t, h, host.SessionOptions{}), "ReadMcpResource", `{"server":"lib","uri":"doc://notes"}`)
			if !strings.Contains(r.Text(), test.want) {
				t.Errorf("got %q", r.Text())
			}
		})
	}
}

// TestResourceThatHangs ends at the server's time for calls, and the next read works.
func TestResourceThatHangs(t *testing.T) {
	t.Parallel()
	s := library()
	s.AddResource(&mcp.Resource{URI: "doc://slow", Name: "slow"}, func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	h := open(t, host.Options{}, "mcp__lib", "")
	connect(t, h, servers.Config{Name: "lib", URL: serve(t, s), CallTimeout: 300 * time.Millisecond})
	in := session(t, h, host.SessionOptions{})
	if r := call(t.Context(), in, "ReadMcpResource", `{"server":"lib","uri":"doc://slow"}`); !r.IsError || r.Error.Code != abi.CodeTimeout {
		t.Errorf("got %s", r.Text())
	}
	wait(t, "a read after it", func() bool {
		return !call(t.Context(), in, "ReadMcpResource", `{"server":"lib","uri":"doc://notes"}`).IsError
	})
}

// TestListingIsNeverAsked about, in whatever mode, and also where writes are staged.
func TestListingIsNeverAsked(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}}, "", "")
	connect(t, h, servers.Config{Name: "lib", URL: serve(t, library())})
	for _, mode := range []permissions.Mode{permissions.ModeDefault, permissions.ModePlan, permissions.ModeAcceptEdits, permissions.ModeBypass, permissions.ModeDontAsk} {
		for _, stage := range []bool{false, true} {
			s := session(t, h, host.SessionOptions{Mode: mode, Stage: stage})
			if r := call(t.Context(), s, "ListMcpResources", `{}`); r.IsError || !strings.Contains(r.Text(), "doc://notes") {
				t.Errorf("%s, staged %v: %s", mode, stage, r.Text())
			}
		}
	}
}

// TestResourcesOfAProgram that is stopped when nobody uses it, and that crashes.
func TestResourcesOfAProgram(t *testing.T) {
	t.Parallel()
	h := open(t, host.Options{Shell: &host.Shell{}, Storage: host.StorageOptions{Sessions: filepath.Join(t.TempDir(), "sessions")}}, "mcp__one", "")
	config := program(t, "library")
	config.IdleTimeout = 50 * time.Millisecond
	set := connect(t, h, config)
	s := session(t, h, host.SessionOptions{})
	for range 2 {
		if r := call(t.Context(), s, "ReadMcpResource", `{"server":"one","uri":"doc://notes"}`); r.Text() != "first\nsecond" {
			t.Errorf("got %s", r.Text())
		}
		wait(t, "the program to be stopped", func() bool { return set.Status()[0].State == servers.Idle })
		if r := call(t.Context(), s, "ListMcpResources", `{"server":"one"}`); !strings.Contains(r.Text(), "doc://notes") {
			t.Errorf("got %s", r.Text())
		}
	}
	if r := call(t.Context(), s, "ReadMcpResource", `{"server":"one","uri":"doc://crash"}`); !r.IsError || !strings.Contains(r.Text(), "exit status 3") {
		t.Errorf("got %s", r.Text())
	}
	wait(t, "the tools to be back", func() bool {
		return !call(t.Context(), s, "ReadMcpResource", `{"server":"one","uri":"doc://notes"}`).IsError
	})
	r := call(t.Context(), s, "ReadMcpResource", `{"server":"one","uri":"doc://long"}`)
	if r.IsError || len(r.Text()) > 10_000 || !strings.Contains(r.Text(), "<persisted-output>") || string(r.Structured) != `{"contents":[{"uri":"doc://long"}]}` {
		t.Errorf("a long one: %d bytes, %.200s, %.200s", len(r.Text()), r.Text(), r.Structured)
	}
}
