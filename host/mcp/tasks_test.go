package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/mcp"
	"github.com/toolquay/toolquay/internal/testenv"
)

// raw is a client of the revision 2026-07-28 that writes its requests itself.
type raw struct {
	tb     testing.TB
	url    string
	server *mcp.Server
	// can are its capabilities.
	can map[string]any
}

// knowing are the capabilities of a client that knows tasks and can be asked.
func knowing() map[string]any {
	return map[string]any{
		"elicitation": map[string]any{},
		"extensions":  map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}},
	}
}

// reply is the answer to a request.
type reply struct {
	status int
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

// serveNative serves native tools alone, to a client that knows tasks.
func serveNative(tb testing.TB, o mcp.TaskOptions, tools func(*mcp.Server) []host.NativeTool) *raw {
	tb.Helper()
	var h *host.Host
	c := &raw{tb: tb, can: knowing()}
	c.server = mcp.New(mcp.Options{
		Info: &sdk.Implementation{Name: "native", Version: "1"}, Tasks: o,
		Open: func(_ context.Context, client mcp.Client) (*host.Session, error) {
			return h.NewSession(host.SessionOptions{Cwd: tb.TempDir(), Asker: client.Asker})
		},
	})
	h = c.listen(host.Options{Tools: tools(c.server)})
	return c
}

// listen opens a host and serves it, until the test ends.
func (c *raw) listen(o host.Options) *host.Host {
	c.tb.Helper()
	h, err := host.Open(c.tb.Context(), o)
	if err != nil {
		c.tb.Fatal(err)
	}
	web := httptest.NewServer(http.StripPrefix("/mcp", c.server.Handler()))
	c.url = web.URL + "/mcp"
	c.tb.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		if err := c.server.Close(context.Background()); err != nil {
			c.tb.Error(err)
		}
		_ = h.Close(context.Background())
	})
	return h
}

// in is the same client with another session.
func (c *raw) in(session string) *raw {
	other := *c
	other.url += "/" + session
	return &other
}

// post sends a request. Headers are pairs that replace those that belong to it.
func (c *raw) post(method string, params map[string]any, headers ...string) reply {
	c.tb.Helper()
	named := map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": c.can,
	}}
	maps.Copy(named, params)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": named})
	if err != nil {
		c.tb.Fatal(err)
	}
	r, err := http.NewRequestWithContext(c.tb.Context(), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		c.tb.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	for _, key := range []string{"name", "taskId"} {
		if name, ok := params[key].(string); ok {
			r.Header.Set("Mcp-Name", name)
		}
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return c.send(r)
}

// send returns the answer, which may come as one JSON text or as the last event of a stream.
func (c *raw) send(r *http.Request) reply {
	c.tb.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.tb.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.tb.Fatal(err)
	}
	if at := bytes.LastIndex(text, []byte("data: ")); at >= 0 {
		text = text[at+len("data: "):]
	}
	got := reply{status: answer.StatusCode}
	if err := json.Unmarshal(text, &got); err != nil {
		c.tb.Fatalf("%s: %v in %q", r.Header.Get("Mcp-Method"), err, text)
	}
	return got
}

func (c *raw) call(tool string, more ...string) reply {
	c.tb.Helper()
	return c.post("tools/call", map[string]any{"name": tool, "arguments": map[string]any{}}, more...)
}

// task calls a tool, which must become a task, and returns its id.
func (c *raw) task(tool string) string {
	c.tb.Helper()
	r := c.call(tool)
	id, _ := r.Result["taskId"].(string)
	if r.Result["resultType"] != "task" || id == "" {
		c.tb.Fatalf("%s became no task: %+v", tool, r)
	}
	return id
}

func (c *raw) on(method, task string) reply {
	c.tb.Helper()
	return c.post(method, map[string]any{"taskId": task})
}

// until asks for a task until it has a status.
func (c *raw) until(task, status string) map[string]any {
	c.tb.Helper()
	for end := time.Now().Add(testenv.Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if r := c.on("tasks/get", task); r.Error != nil || r.Result["status"] == status {
			return r.Result
		}
	}
	c.tb.Fatalf("the task is not %s: %+v", status, c.on("tasks/get", task))
	return nil
}

// native is a tool that touches nothing.
func native(name string, run func(ctx context.Context, c *host.Call) (abi.ToolResult, error)) host.NativeTool {
	return host.NativeTool{
		Contract: abi.Tool{Name: name, Description: name, InputSchema: `{"type":"object"}`, ReadOnly: abi.TraitTrue, ConcurrencySafe: abi.TraitTrue},
		Run:      run,
	}
}

func says(text string) abi.ToolResult {
	return abi.ToolResult{Content: []abi.Block{abi.TextBlock(text)}}
}

// waits is a tool whose calls wait until they are let go.
func waits(name string, let <-chan struct{}) host.NativeTool {
	return native(name, func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		c.Report(abi.ProgressHead{Progress: &abi.Progress{Message: "halfway"}})
		select {
		case <-let:
			return says("let"), nil
		case <-ctx.Done():
			return abi.ToolResult{}, context.Cause(ctx)
		}
	})
}

// use is what holds for the tools of these tests.
func use(tool string) mcp.TaskUse {
	switch tool {
	case "Now", "Crash", "Ask":
		return mcp.TaskAtOnce
	case "Required":
		return mcp.TaskRequired
	case "Never":
		return mcp.TaskNever
	}
	return mcp.TaskLater
}

func waiting(let <-chan struct{}) func(*mcp.Server) []host.NativeTool {
	return func(*mcp.Server) []host.NativeTool {
		return []host.NativeTool{
			waits("Now", let), waits("Later", let), waits("Required", let), waits("Never", let),
			native("Crash", func(context.Context, *host.Call) (abi.ToolResult, error) { panic("crashed") }),
		}
	}
}

func TestTasks(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	c := serveNative(t, mcp.TaskOptions{Use: use, After: time.Millisecond}, waiting(let))
	stays, goes, later := c.task("Now"), c.task("Now"), c.task("Later")

	running := c.on("tasks/get", stays).Result
	if running["status"] != "working" || running["resultType"] != "complete" || running["ttlMs"] != nil || running["result"] != nil {
		t.Errorf("a task that runs: %v", running)
	}
	if ack := c.on("tasks/cancel", goes); ack.Error != nil || len(ack.Result) != 2 || ack.Result["resultType"] != "complete" { // and _meta
		t.Errorf("a cancellation answers %+v", ack)
	}
	c.until(goes, "cancelled")
	c.on("tasks/cancel", goes)
	for end := time.Now().Add(testenv.Patience); ; time.Sleep(time.Millisecond) {
		r := c.on("tasks/get", stays).Result
		if r["status"] == "working" && r["statusMessage"] == "halfway" {
			break
		}
		if r["status"] != "working" || time.Now().After(end) {
			t.Fatalf("the other task: %v", r)
		}
	}

	close(let)
	for _, task := range []string{stays, later} {
		done := c.until(task, "completed")
		text, _ := json.Marshal(done["result"])
		if done["ttlMs"] == nil || !strings.Contains(string(text), `"text":"let"`) {
			t.Errorf("a task that ended: %v", done)
		}
	}
	if r := c.on("tasks/get", goes).Result; r["status"] != "cancelled" || r["result"] != nil {
		t.Errorf("the cancelled task: %v", r)
	}
	failed := c.until(c.task("Crash"), "failed")
	if e, _ := failed["error"].(map[string]any); e["code"] != float64(-32603) || !strings.Contains(fmt.Sprint(e["message"]), "crashed") || failed["result"] != nil {
		t.Errorf("a task that crashed: %v", failed)
	}
}

// TestTasksAreRefused has all that a client may do wrong.
func TestTasksAreRefused(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	close(let)
	c := serveNative(t, mcp.TaskOptions{Use: use, After: time.Hour}, waiting(let))
	task := c.task("Now")
	ignorant := *c
	ignorant.can = map[string]any{}
	needed := map[string]any{"requiredCapabilities": map[string]any{"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}}}
	for name, test := range map[string]struct {
		reply  reply
		code   int
		status int
	}{
		"unknown":             {c.on("tasks/get", "none"), -32602, 400},
		"another session's":   {c.in("other").on("tasks/get", task), -32602, 400},
		"cancelled elsewhere": {c.in("other").on("tasks/cancel", task), -32602, 400},
		"not declared":        {ignorant.on("tasks/get", task), -32021, 400},
		"needed":              {ignorant.call("Required"), -32021, 400},
		"another header":      {c.post("tasks/get", map[string]any{"taskId": task}, "Mcp-Name", "other"), -32020, 400},
		"another method":      {c.post("tasks/cancel", map[string]any{"taskId": task}, "Mcp-Method", "tasks/get"), -32020, 400},
		"removed":             {c.on("tasks/result", task), -32601, 404},
		"removed too":         {c.post("tasks/list", nil), -32601, 404},
	} {
		r := test.reply
		if r.Error == nil || r.Error.Code != test.code || r.status != test.status {
			t.Errorf("%s: %d, %+v", name, r.status, r.Error)
			continue
		}
		if test.code == -32021 && !reflect.DeepEqual(r.Error.Data, needed) {
			t.Errorf("%s: it does not say what is needed: %v", name, r.Error.Data)
		}
	}
	for _, tool := range []string{"Now", "Later"} {
		if r := ignorant.call(tool); r.Result["resultType"] != "complete" || r.Result["taskId"] != nil {
			t.Errorf("%s of a client that knows no tasks: %+v", tool, r)
		}
	}
	for _, tool := range []string{"Never", "Later"} {
		if r := c.call(tool); r.Result["resultType"] != "complete" || r.Result["taskId"] != nil {
			t.Errorf("%s, which ends at once: %+v", tool, r)
		}
	}
}

// TestTasksAreBounded has more tasks than there may be.
func TestTasksAreBounded(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	c := serveNative(t, mcp.TaskOptions{Use: use, Max: 1}, waiting(let))
	c.task("Now")
	if r := c.call("Required"); r.Error == nil || r.Error.Code != -32000 || !strings.Contains(r.Error.Message, "too many tasks") {
		t.Errorf("one more task: %+v", r)
	}
	answered := make(chan reply)
	go func() { answered <- c.call("Now") }()
	close(let)
	if r := <-answered; r.Result["resultType"] != "complete" {
		t.Errorf("a call beyond the bound: %+v", r)
	}
}

// TestTasksAreForgotten asks for a task that ended a while ago.
func TestTasksAreForgotten(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	close(let)
	c := serveNative(t, mcp.TaskOptions{Use: use, Max: 1, Keep: time.Millisecond}, waiting(let))
	task := c.task("Now")
	for end := time.Now().Add(testenv.Patience); ; time.Sleep(time.Millisecond) {
		r := c.on("tasks/get", task)
		if r.Error != nil && r.Error.Code == -32602 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the task is kept for good: %+v", r)
		}
	}
	c.task("Now")
}

// asks is a tool that asks its client for two names at once, twice.
func asks(s *mcp.Server) []host.NativeTool {
	form := func() *sdk.ElicitParams {
		return &sdk.ElicitParams{Message: "Which?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}
	}
	return []host.NativeTool{native("Ask", func(ctx context.Context, c *host.Call) (abi.ToolResult, error) {
		var told []string
		for range 2 {
			answers, err := s.Input(ctx, c.ID, sdk.InputRequestMap{"a": form(), "b": form()})
			if err != nil {
				return abi.ToolResult{}, err
			}
			for _, key := range []string{"a", "b"} {
				told = append(told, fmt.Sprint(answers[key].(*sdk.ElicitResult).Content["name"]))
			}
		}
		return says(strings.Join(told, " ")), nil
	})}
}

// TestTaskAsks answers what a task asks: one by one, and with what was not asked.
func TestTaskAsks(t *testing.T) {
	t.Parallel()
	c := serveNative(t, mcp.TaskOptions{Use: use}, asks)
	task := c.task("Ask")
	answer := func(key string, response any) reply {
		return c.post("tasks/update", map[string]any{"taskId": task, "inputResponses": map[string]any{key: response}})
	}
	name := func(name string) any {
		return map[string]any{"action": "accept", "content": map[string]any{"name": name}}
	}
	open := func(keys ...string) {
		t.Helper()
		requests, _ := c.until(task, "input_required")["inputRequests"].(map[string]any)
		for _, key := range keys {
			if r, _ := requests[key].(map[string]any); r["method"] != "elicitation/create" {
				t.Errorf("%s is not asked: %v", key, requests)
			}
		}
		if len(requests) != len(keys) {
			t.Errorf("asked is %v", requests)
		}
	}
	open("a", "b")
	for what, r := range map[string]reply{
		"a key that was not asked for": answer("c", name("no")), "no answer": answer("c", 7),
		"an answer to another kind of question": answer("a", map[string]any{"roots": []any{}}),
	} {
		if r.Error != nil {
			t.Errorf("%s: %+v", what, r.Error)
		}
	}
	if r := answer("a", 7); r.Error == nil || r.Error.Code != -32602 {
		t.Errorf("an answer that is none: %+v", r)
	}
	open("a", "b")
	answer("a", name("one"))
	open("b")
	answer("a", name("again"))
	answer("b", name("two"))

	// No key stands for two questions.
	open("a-2", "b-2")
	answer("a", name("again"))
	answer("b-2", name("four"))
	answer("a-2", name("three"))
	text, _ := json.Marshal(c.until(task, "completed")["result"])
	if !strings.Contains(string(text), "one two three four") {
		t.Errorf("the answers came as %s", text)
	}
}

// TestTaskListening listens for what becomes of tasks.
func TestTaskListening(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	c := serveNative(t, mcp.TaskOptions{Use: use}, waiting(let))
	one, two := c.task("Now"), c.task("Now")
	listen := func(c *raw, ids ...string) (*bufio.Scanner, func()) {
		t.Helper()
		ids = append(ids, "none")
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": map[string]any{
			"notifications": map[string]any{"taskIds": ids, "toolsListChanged": true},
			"_meta":         map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": c.can},
		}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen",
		} {
			r.Header.Set(key, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return bufio.NewScanner(answer.Body), func() { _ = answer.Body.Close() }
	}
	next := func(events *bufio.Scanner) (m struct {
		Method string
		Params struct {
			TaskID, Status string
			Notifications  map[string][]string
			Meta           map[string]any `json:"_meta"`
		}
		Result map[string]any
		Error  *struct{ Code int }
	}) {
		t.Helper()
		for events.Scan() {
			text := strings.TrimPrefix(events.Text(), "data: ")
			if !strings.HasPrefix(text, "{") {
				continue
			}
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
		t.Fatal("the stream has ended: ", events.Err())
		return m
	}

	events, end := listen(c, one, two)
	defer end()
	ack := next(events)
	if ids := ack.Params.Notifications["taskIds"]; ack.Method != "notifications/subscriptions/acknowledged" || !slices.Equal(ids, []string{one, two}) || len(ack.Params.Notifications) != 1 {
		t.Errorf("acknowledged is %+v", ack)
	}
	last := map[string]string{}
	for last[one] != "working" || last[two] != "working" {
		m := next(events)
		last[m.Params.TaskID] = m.Params.Status
	}
	c.on("tasks/cancel", one)
	for last[one] != "cancelled" {
		m := next(events)
		last[m.Params.TaskID] = m.Params.Status
	}
	close(let)
	for {
		m := next(events)
		if m.Result != nil {
			break
		}
		if m.Method != "notifications/tasks" || m.Params.Meta["io.modelcontextprotocol/subscriptionId"] != "l" {
			t.Errorf("%+v", m)
		}
		last[m.Params.TaskID] = m.Params.Status
	}
	if last[one] != "cancelled" || last[two] != "completed" || len(last) != 2 {
		t.Errorf("the tasks ended as %v", last)
	}

	other, endOther := listen(c.in("other"), one)
	defer endOther()
	if ids := next(other).Params.Notifications["taskIds"]; len(ids) != 0 {
		t.Errorf("another session listens for %v", ids)
	}
	ignorant := *c
	ignorant.can = map[string]any{}
	refused, endRefused := listen(&ignorant, one)
	defer endRefused()
	if m := next(refused); m.Error == nil || m.Error.Code != -32021 {
		t.Errorf("a client that knows no tasks: %+v", m)
	}
}
