package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
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
)

// meta is the _meta of a request that speaks a revision.
func meta(revision string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + revision + `","io.modelcontextprotocol/clientCapabilities":{}}`
}

// written sends a body as it is, with headers in pairs, and returns the status and the answer.
func (c *raw) written(method string, body io.Reader, headers ...string) (int, string) {
	c.tb.Helper()
	r, err := http.NewRequestWithContext(c.tb.Context(), method, c.url, body)
	if err != nil {
		c.tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.tb.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.tb.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// lives makes a call that must go well.
func (c *raw) lives() {
	c.tb.Helper()
	if r := c.call("Quick"); r.Error != nil || r.Result["isError"] == true {
		c.tb.Errorf("afterwards a call fails: %+v", r)
	}
}

func quick() host.NativeTool {
	return native("Quick", func(context.Context, *host.Call) (abi.ToolResult, error) { return says("quick"), nil })
}

// TestHostileRequests sends over HTTP what no client should. Each is refused with a reason,
// and the server goes on.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	c := serveNative(t, mcp.TaskOptions{}, func(*mcp.Server) []host.NativeTool { return []host.NativeTool{quick()} })
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta("2026-07-28") + `}}`
	newest := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}
	for name, test := range map[string]struct {
		method, body string
		headers      []string
		status       int
		says         string
	}{
		"another revision in the body": {"POST", strings.Replace(list, "2026-07-28", "2025-11-25", 1), newest, 400, "does not match"},
		"another revision in the head": {"POST", list, []string{"Mcp-Protocol-Version", "2025-11-25"}, 400, ""},
		"no revision in the head":      {"POST", list, nil, 400, ""},
		"a revision to come":           {"POST", strings.Replace(list, "2026-07-28", "9999-01-01", 1), []string{"Mcp-Protocol-Version", "9999-01-01", "Mcp-Method", "tools/list"}, 400, "2026-07-28"},
		"a revision that is none":      {"POST", strings.Replace(list, "2026-07-28", "newest", 1), []string{"Mcp-Protocol-Version", "newest", "Mcp-Method", "tools/list"}, 400, "2026-07-28"},
		"an old revision":              {"POST", list, []string{"Mcp-Protocol-Version", "1999-01-01"}, 400, ""},
		"no JSON":                      {"POST", "hello", newest, 400, ""},
		"half":                         {"POST", list[:40], newest, 400, ""},
		"deep":                         {"POST", strings.Repeat(`{"a":`, 100_000), newest, 400, ""},
		"nothing":                      {"POST", "", newest, 400, ""},
		"many at once":                 {"POST", "[" + list + "," + list + "]", newest, 400, ""},
		"an id that is no id":          {"POST", strings.Replace(list, `"id":1`, `"id":{"a":1}`, 1), newest, 400, ""},
		"a byte too many":              {"POST", "", newest, 413, "8388608"},
		"another session's id":         {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, []string{"Mcp-Session-Id", "AAAA"}, 404, "session"},
		"deleting another's session":   {"DELETE", "", []string{"Mcp-Session-Id", "AAAA"}, 404, "session"},
		"listening without a session":  {"GET", "", []string{"Accept", "text/event-stream"}, 400, ""},
		"a form of a page":             {"POST", list, append([]string{"Content-Type", "text/plain"}, newest...), 415, "application/json"},
		"a page of elsewhere":          {"POST", list, append([]string{"Origin", "https://example.com"}, newest...), 403, "cross-origin"},
		"fetched by a page":            {"POST", list, append([]string{"Sec-Fetch-Site", "cross-site"}, newest...), 403, "cross-origin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := *c
			c.tb = t
			body := io.Reader(strings.NewReader(test.body))
			if test.status == http.StatusRequestEntityTooLarge {
				body = io.LimitReader(spaces{}, 8<<20+1) // of more, the sending fails where the answer is late
			}
			status, said := c.written(test.method, body, test.headers...)
			if status != test.status || !strings.Contains(said, test.says) || said == "" {
				t.Errorf("status %d, %.300q; want %d and %q", status, said, test.status, test.says)
			}
			c.lives()
		})
	}
}

// spaces is an endless text.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestSessionNames names sessions oddly.
func TestSessionNames(t *testing.T) {
	t.Parallel()
	c := serveNative(t, mcp.TaskOptions{}, func(*mcp.Server) []host.NativeTool { return []host.NativeTool{quick()} })
	for _, name := range []string{"..", "a/b", "%2e%2e%2fx", "x%00y", strings.Repeat("n", 65), "ä", "a%20b"} {
		if status, said := c.in(name).written("POST", strings.NewReader("{}"), "Mcp-Protocol-Version", "2026-07-28"); status < 400 || status >= 500 || strings.Contains(said, "panic") {
			t.Errorf("%q: %d, %q", name, status, said)
		}
	}
	c.in("a-good_NAME1").lives()
}

// asksOnce is a tool that asks its client for a name.
func asksOnce(s *mcp.Server) []host.NativeTool {
	return []host.NativeTool{quick(), native("Name", func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		answers, err := s.Input(ctx, c.ID, sdk.InputRequestMap{"who": &sdk.ElicitParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}})
		if err != nil {
			return abi.ToolResult{}, err
		}
		return says(fmt.Sprint(answers["who"].(*sdk.ElicitResult).Content["name"])), nil
	})}
}

// TestRequestState answers a question with states that are not the one which was given for it.
func TestRequestState(t *testing.T) {
	t.Parallel()
	c := serveNative(t, mcp.TaskOptions{}, asksOnce)
	other := serveNative(t, mcp.TaskOptions{}, asksOnce)
	params := map[string]any{"name": "Name", "arguments": map[string]any{"about": "one"}}
	answering := func(state string, change map[string]any) map[string]any {
		p := maps.Clone(params)
		p["requestState"] = state
		p["inputResponses"] = map[string]any{"who": map[string]any{"action": "accept", "content": map[string]any{"name": "Ada"}}}
		maps.Copy(p, change)
		return p
	}
	asked := func(c *raw) string {
		t.Helper()
		state, _ := c.post("tools/call", params).Result["requestState"].(string)
		if state == "" {
			t.Fatal("the call asks nothing")
		}
		return state
	}
	state := asked(c)
	flipped := []byte(state)
	flipped[len(flipped)/2] ^= 1
	for name, r := range map[string]reply{
		"forged":                c.post("tools/call", answering("AAAA", nil)),
		"longer":                c.post("tools/call", answering(state+"AAAA", nil)),
		"changed":               c.post("tools/call", answering(string(flipped), nil)),
		"no base64":             c.post("tools/call", answering("\x00{}", nil)),
		"of other arguments":    c.post("tools/call", answering(state, map[string]any{"arguments": map[string]any{"about": "two"}})),
		"of another tool":       c.post("tools/call", answering(state, map[string]any{"name": "Quick"})),
		"of another session":    c.in("other").post("tools/call", answering(state, nil)),
		"of another principal":  other.post("tools/call", answering(state, nil)),
		"of another's question": c.post("tools/call", answering(asked(other), nil)),
	} {
		if r.Error == nil || r.Error.Code != -32602 || !strings.Contains(r.Error.Message, "requestState") || r.status != 400 {
			t.Errorf("%s: %d, %+v, %+v", name, r.status, r.Result, r.Error)
		}
	}

	// Of many that come at once, one counts.
	replies := make(chan reply, 10)
	var sending sync.WaitGroup
	for range cap(replies) {
		sending.Go(func() { replies <- c.post("tools/call", answering(state, nil)) })
	}
	sending.Wait()
	close(replies)
	good := 0
	for r := range replies {
		switch {
		case r.Error == nil && strings.Contains(fmt.Sprint(r.Result["content"]), "Ada"):
			good++
		case r.Error == nil || r.Error.Code != -32602:
			t.Errorf("a state that came again: %+v, %+v", r.Result, r.Error)
		}
	}
	if good != 1 {
		t.Errorf("%d of %d that came at once count", good, cap(replies))
	}
	if r := c.post("tools/call", answering(state, nil)); r.Error == nil || r.Error.Code != -32602 {
		t.Errorf("a state that comes again later: %+v, %+v", r.Result, r.Error)
	}
	c.lives()
}

// TestFlood has a client with more calls under way than it may: those beyond are refused.
func TestFlood(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	var h *host.Host
	const most = 20
	c := &raw{tb: t, can: knowing()}
	c.server = mcp.New(mcp.Options{
		Info: &sdk.Implementation{Name: "flood", Version: "1"}, MaxCalls: most, MaxSessions: 2,
		Open: func(_ context.Context, client mcp.Client) (*host.Session, error) {
			return h.NewSession(host.SessionOptions{Cwd: t.TempDir(), Asker: client.Asker})
		},
	})
	begun := make(chan struct{}, most)
	h = c.listen(host.Options{Tools: []host.NativeTool{quick(), native("Wait", func(ctx context.Context, _ *host.Call) (abi.ToolResult, error) {
		begun <- struct{}{}
		<-let
		return says("waited"), nil
	})}, Limits: host.LimitOptions{MaxConcurrent: most}})
	c.can = map[string]any{}
	replies := make(chan reply, most)
	for range most {
		go func() { replies <- c.call("Wait") }()
	}
	for range most {
		within(t, begun, "a call")
	}
	var refused []string
	for range 50 {
		r := c.call("Quick")
		if r.Error == nil || r.Error.Code != -32000 {
			t.Fatalf("one call too many: %+v", r)
		}
		refused = append(refused, r.Error.Message)
	}
	if !strings.Contains(refused[0], "20 calls") || len(slices.Compact(refused)) != 1 {
		t.Errorf("refused as %q", refused)
	}
	c.in("second").lives()
	if status, said := c.in("third").written("POST", strings.NewReader("{}"), "Mcp-Protocol-Version", "2026-07-28"); status != http.StatusServiceUnavailable || !strings.Contains(said, "2 sessions") {
		t.Errorf("one session too many: %d, %q", status, said)
	}
	close(let)
	for range most {
		if r := <-replies; r.Error != nil {
			t.Errorf("a call that was under way: %+v", r.Error)
		}
	}
	c.lives()
}

// TestNeverReading has clients that send requests and read no answer: others are served.
func TestNeverReading(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40_000)
	c := serveNative(t, mcp.TaskOptions{}, func(*mcp.Server) []host.NativeTool {
		return []host.NativeTool{quick(), native("Long", func(context.Context, *host.Call) (abi.ToolResult, error) { return says(long), nil })}
	})
	at, err := url.Parse(c.url)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Long","arguments":{},` + meta("2026-07-28") + `}}`
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: Long\r\nContent-Length: %d\r\n\r\n%s", at.Path, at.Host, len(body), body)
	var dialer net.Dialer
	for range 4 {
		conn, err := dialer.DialContext(t.Context(), "tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		go func() { // more answers than a connection holds
			for range 200 {
				if _, err := io.WriteString(conn, request); err != nil {
					return
				}
			}
		}()
	}
	for range 20 {
		c.lives()
	}
}

// TestPipeNeverRead has a client that sends requests, reads no answer and leaves: the server
// ends.
func TestPipeNeverRead(t *testing.T) {
	t.Parallel()
	s := serve(t)
	in, to := io.Pipe()
	_, out := io.Pipe() // nobody reads it
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(ctx, &mcp.Pipe{In: in, Out: out}) }()
	go func() {
		for id := 1; ; id++ {
			if _, err := fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id); err != nil {
				return
			}
		}
	}()
	time.AfterFunc(50*time.Millisecond, cancel)
	select {
	case <-served:
	case <-time.After(testenv.Patience):
		t.Error("the server does not end")
	}
	_ = to.Close()
}

// TestPipeLongLine sends a line of 100 MB: it is refused in constant memory, and the next
// request is answered.
func TestPipeLongLine(t *testing.T) { //nolint:paralleltest // it measures what the process keeps
	s := serve(t)
	in, to := io.Pipe()
	from, out := io.Pipe()
	go func() { _ = s.server.Serve(t.Context(), &mcp.Pipe{In: in, Out: out}) }()
	grown := make(chan uint64, 1)
	go func() {
		grown <- testenv.HeapGrowth(func() { _, _ = io.Copy(to, io.LimitReader(spaces{}, 100<<20)) })
		_, _ = io.WriteString(to, "\n"+initialize+"\n")
	}()
	answers := json.NewDecoder(from)
	var first, second answer
	if err := answers.Decode(&first); err != nil {
		t.Fatal(err)
	}
	if err := answers.Decode(&second); err != nil {
		t.Fatal(err)
	}
	if first.Error == nil || !strings.Contains(first.Error.Message, "too long: at most 8388608 bytes") || second.Error != nil {
		t.Errorf("the answers are %+v and %+v", first, second)
	}
	if g := <-grown; g > 40<<20 {
		t.Errorf("it took %d bytes", g)
	}
	_ = to.Close()
}
