package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveTasks adds the methods of the Tasks extension, which the SDK does not have.
func (c *clientSession) serveTasks() error {
	if err := mcp.AddReceivingCustomMethod(c.sdk, "tasks/get", c.taskGet); err != nil {
		return err
	}
	if err := mcp.AddReceivingCustomMethod(c.sdk, "tasks/update", c.taskUpdate); err != nil {
		return err
	}
	if err := mcp.AddReceivingCustomMethod(c.sdk, "tasks/cancel", c.taskCancel); err != nil {
		return err
	}
	c.sdk.AddReceivingMiddleware(taskResults)
	return nil
}

// taskParams are those of all methods on tasks.
type taskParams struct {
	mcp.ParamsBase
	TaskID string `json:"taskId"`
	// InputResponses are read one by one: one that is wrong is not to spoil the others.
	InputResponses map[string]json.RawMessage `json:"inputResponses,omitempty"`
}

// acknowledged is an empty result.
type acknowledged struct {
	mcp.ResultBase
	ResultType string `json:"resultType"`
}

func acknowledge() *acknowledged { return &acknowledged{ResultType: "complete"} }

func (c *clientSession) taskGet(_ context.Context, _ *mcp.ServerSession, p *taskParams) (*taskState, error) {
	t, err := c.taskOf(p)
	if err != nil {
		return nil, err
	}
	return t.state(), nil
}

// taskUpdate takes answers to what a task asked. Those to anything else are passed over.
func (c *clientSession) taskUpdate(_ context.Context, _ *mcp.ServerSession, p *taskParams) (*acknowledged, error) {
	t, err := c.taskOf(p)
	if err != nil {
		return nil, err
	}
	open := t.call.openRequests()
	responses := make(mcp.InputResponseMap, len(p.InputResponses))
	for key, raw := range p.InputResponses {
		if open[key] == nil {
			continue
		}
		var one mcp.InputResponseMap
		text, err := json.Marshal(map[string]json.RawMessage{key: raw})
		if err == nil {
			err = json.Unmarshal(text, &one)
		}
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		responses[key] = one[key]
	}
	t.call.answer(responses)
	t.touch("")
	return acknowledge(), nil
}

func (c *clientSession) taskCancel(_ context.Context, _ *mcp.ServerSession, p *taskParams) (*acknowledged, error) {
	t, err := c.taskOf(p)
	if err != nil {
		return nil, err
	}
	t.cancel()
	return acknowledge(), nil
}

// taskOf is the task that a request is about.
func (c *clientSession) taskOf(p *taskParams) (*task, error) {
	if p == nil || !knowsTasks(p.GetMeta()) {
		return nil, errNoTasks
	}
	t := c.tasks.find(p.TaskID)
	if t == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("there is no task %.100q in this session, or no more", p.TaskID)}
	}
	return t, nil
}

// errNoTasks refuses a client that does not know the extension.
var errNoTasks = &jsonrpc.Error{
	Code:    mcp.CodeMissingRequiredClientCapabilities,
	Message: "this needs the extension " + tasksExtension + ", which the client does not declare",
	Data:    json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
}

// knowsTasks reports whether the _meta of a request declares the extension. What a client
// declared before does not count, and the older revisions cannot declare it.
func knowsTasks(meta map[string]any) bool {
	capabilities, _ := meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := capabilities["extensions"].(map[string]any)
	_, ok := extensions[tasksExtension]
	return ok
}

// taskKey is where the context of a tools/call carries the place for a task that it becomes.
type taskKey struct{}

// taskResults is a middleware that answers with the task which a call has become: the SDK's
// handlers of tools have no type for that.
func taskResults(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != "tools/call" || !knowsTasks(req.GetParams().GetMeta()) {
			return next(ctx, method, req)
		}
		var made *task
		result, err := next(context.WithValue(ctx, taskKey{}, &made), method, req)
		if err != nil || made == nil {
			return result, err
		}
		return made.begun(), nil
	}
}

// sameTask refuses a request on a task whose header names another one, and reports whether it
// did not: what routes by headers would be misled. The SDK knows no such requests; that
// the header Mcp-Method is the method it checks itself.
func (h *handler) sameTask(w http.ResponseWriter, r *http.Request) bool {
	switch r.Header.Get("Mcp-Method") {
	case "tasks/get", "tasks/update", "tasks/cancel":
	default:
		return true
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.server.options.MaxMessage))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, err)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var m struct {
		ID     json.RawMessage `json:"id"`
		Params struct {
			TaskID string `json:"taskId"`
		} `json:"params"`
	}
	name := r.Header.Get("Mcp-Name")
	if json.Unmarshal(body, &m) != nil || m.Params.TaskID == name { // the SDK says what is wrong with it
		return true
	}
	answer(w, http.StatusBadRequest, m.ID, &jsonrpc.Error{
		Code: mcp.CodeHeaderMismatch, Message: fmt.Sprintf("the header Mcp-Name is %.100q, and params.taskId %.100q: send the same", name, m.Params.TaskID),
	})
	return false
}

// becoming says when a call becomes a task, for the request that waits for it.
type becoming struct {
	made          **task           // the place for the task
	now, required bool             // at once; and not at all otherwise
	after         <-chan time.Time // or then; nil is never
}

// becomes is when a call becomes a task. The error is that of a tool whose calls always do, to a
// client that does not know tasks.
func (c *clientSession) becomes(ctx context.Context, req *mcp.CallToolRequest) (becoming, error) {
	made, knows := ctx.Value(taskKey{}).(**task)
	o := &c.server.options.Tasks
	use := o.Use(req.Params.Name)
	switch {
	case !knows && use == TaskRequired:
		return becoming{}, errNoTasks
	case !knows || use == TaskNever:
		return becoming{}, nil
	case use == TaskLater:
		return becoming{made: made, after: time.After(o.After)}, nil
	}
	return becoming{made: made, now: true, required: use == TaskRequired}, nil
}

// become makes a task of the call, which goes on without the request that waits for it. It
// reports whether it could.
func (c *call) become(b becoming) bool {
	t := c.session.tasks.begin(c)
	if t == nil {
		return false
	}
	c.mu.Lock()
	c.task = t
	t.touch(c.said)
	c.at = c.last
	c.mu.Unlock()
	go func() {
		<-c.done
		t.end()
		c.session.forget(c)
	}()
	*b.made = t
	return true
}

var errTooManyTasks = &jsonrpc.Error{Code: codeBusy, Message: "there are too many tasks in this session: ask for the results of those that have ended, or wait until they are forgotten"}
