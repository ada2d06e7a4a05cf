package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
)

// question is one open request for input.
type question struct {
	key      string
	request  mcp.InputRequest
	answered chan mcp.InputResponse
}

// Input asks the client of a running call for input, by the call's id: elicitation, and what
// else the revision of the protocol knows. The keys of the requests are those of the
// responses, and clients may see them. It returns [host.ErrNobody] where the client cannot be
// asked all of that, and the call then ends with the protocol's error for it; and an error
// when ctx or the call ends, or the client does not answer in time.
func (s *Server) Input(ctx context.Context, callID string, requests mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	running := s.find(callID)
	if running == nil {
		return nil, fmt.Errorf("no call %q of a client is running: %w", callID, host.ErrNobody)
	}
	responses, err := running.input(ctx, requests)
	if errors.Is(err, host.ErrNobody) {
		running.lacks(requests)
	}
	return responses, err
}

// Capabilities are what the client of a running call says that it can be asked; nil where no
// such call runs.
func (s *Server) Capabilities(callID string) *mcp.ClientCapabilities {
	running := s.find(callID)
	if running == nil {
		return nil
	}
	return running.attached().capabilities
}

func (s *Server) find(callID string) *call {
	for _, c := range s.all() {
		if running := c.find(callID); running != nil {
			return running
		}
	}
	return nil
}

// lacks has the call end with the error of a capability that its client has not.
func (c *call) lacks(requests mcp.InputRequestMap) {
	need := map[string]any{}
	for _, r := range requests {
		switch r.(type) {
		case *mcp.ElicitParams:
			need["elicitation"] = map[string]any{}
		case *mcp.ListRootsParams:
			need["roots"] = map[string]any{}
		default:
			need["sampling"] = map[string]any{}
		}
	}
	data, err := json.Marshal(map[string]any{"requiredCapabilities": need})
	if err != nil {
		panic(err) // it has no values that JSON has not
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lacking = &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client cannot be asked for what this call needs", Data: data}
}

// input asks the client of the call.
func (c *call) input(ctx context.Context, requests mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	at := c.attached()
	for _, r := range requests {
		if !able(at.capabilities, r) {
			return nil, host.ErrNobody
		}
	}
	if at.ask != nil {
		return at.ask(ctx, requests)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.session.server.options.AnswerTimeout, errExpired)
	defer cancel()
	questions := c.put(requests)
	defer c.withdraw(questions)
	responses := make(mcp.InputResponseMap, len(requests))
	for key, q := range questions {
		select {
		case responses[key] = <-q.answered:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return responses, nil
}

// put makes requests the open questions of the call, and wakes the request that waits for it.
func (c *call) put(requests mcp.InputRequestMap) map[string]*question {
	c.mu.Lock()
	defer c.mu.Unlock()
	questions := make(map[string]*question, len(requests))
	for key, r := range requests {
		q := &question{key: key, request: r, answered: make(chan mcp.InputResponse, 1)}
		c.times[key]++
		if n := c.times[key]; n > 1 { // of a task, no key may stand for two questions
			q.key = fmt.Sprintf("%s-%d", key, n)
		}
		questions[key] = q
		c.open = append(c.open, q)
	}
	c.settle(c.early)
	c.early = nil
	if len(c.open) > 0 {
		c.wake()
		if c.task != nil {
			c.task.touch("")
		}
	}
	return questions
}

func (c *call) withdraw(questions map[string]*question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range questions {
		c.open = slices.DeleteFunc(c.open, func(o *question) bool { return o == q })
	}
}

// inputRequired is the result that asks for what is open, or nil if nothing is any more. The
// call waits for the client to come back, and is given up if it does not.
func (c *call) inputRequired() *mcp.CallToolResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) == 0 {
		return nil
	}
	c.at = nil
	c.round++
	limit := c.session.server.options.AnswerTimeout
	c.expiry = time.AfterFunc(limit, c.expire)
	state := c.session.server.seal(c, time.Now().Add(limit))
	return &mcp.CallToolResult{InputRequests: c.requests(), RequestState: state}
}

// requests are what is open. The caller holds the mutex.
func (c *call) requests() mcp.InputRequestMap {
	requests := make(mcp.InputRequestMap, len(c.open))
	for _, q := range c.open {
		requests[q.key] = q.request
	}
	return requests
}

// expire gives up a call whose client did not come back.
func (c *call) expire() {
	c.mu.Lock()
	waits := c.at == nil
	c.mu.Unlock()
	if waits {
		c.cancel(errExpired)
		c.session.forget(c)
	}
}

// goOn takes the input that a client brings for a call which required it.
func (c *clientSession) goOn(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	b, err := c.becomes(ctx, req)
	if err != nil {
		return nil, err
	}
	running, err := c.server.unseal(c, req)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: " + err.Error()}
	}
	running.answer(req.Params.InputResponses)
	return running.await(ctx, attachmentOf(ctx, req), b)
}

func (c *call) answer(responses mcp.InputResponseMap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(responses)
}

// settle hands responses to the questions that they answer. One answer counts, and one of
// another kind than was asked for is none. The caller holds the mutex.
func (c *call) settle(responses mcp.InputResponseMap) {
	c.open = slices.DeleteFunc(c.open, func(q *question) bool {
		r, ok := responses[q.key]
		if !ok || !fits(q.request, r) {
			return false
		}
		q.answered <- r
		return true
	})
}

// able reports whether a client says that it can be asked something.
func able(c *mcp.ClientCapabilities, r mcp.InputRequest) bool {
	if c == nil {
		return false
	}
	switch r := r.(type) {
	case *mcp.ElicitParams:
		return canElicit(c, r.Mode)
	case *mcp.CreateMessageParams, *mcp.CreateMessageWithToolsParams:
		return c.Sampling != nil
	case *mcp.ListRootsParams:
		return c.RootsV2 != nil
	}
	return false
}

// canElicit reports whether a client can elicit in a mode. One that names none can do forms.
func canElicit(c *mcp.ClientCapabilities, mode string) bool {
	switch e := c.Elicitation; {
	case e == nil:
		return false
	case mode == "url":
		return e.URL != nil
	default:
		return e.Form != nil || e.URL == nil
	}
}

// fits reports whether a response is of the kind that a request asks for.
func fits(request mcp.InputRequest, response mcp.InputResponse) bool {
	switch request.(type) {
	case *mcp.ElicitParams:
		_, ok := response.(*mcp.ElicitResult)
		return ok
	case *mcp.ListRootsParams:
		_, ok := response.(*mcp.ListRootsResult)
		return ok
	}
	switch response.(type) {
	case *mcp.CreateMessageResult, *mcp.CreateMessageWithToolsResult:
		return true
	}
	return false
}

// askNow asks a client by requests to it, as the revisions before 2026-07-28 do.
func askNow(ctx context.Context, ss *mcp.ServerSession, requests mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	var mu sync.Mutex
	var asking sync.WaitGroup
	var failed error
	responses := make(mcp.InputResponseMap, len(requests))
	for key, r := range requests {
		asking.Go(func() {
			response, err := askOne(ctx, ss, r)
			mu.Lock()
			defer mu.Unlock()
			responses[key], failed = response, errors.Join(failed, err)
		})
	}
	asking.Wait()
	return responses, failed
}

func askOne(ctx context.Context, ss *mcp.ServerSession, r mcp.InputRequest) (mcp.InputResponse, error) {
	switch r := r.(type) {
	case *mcp.ElicitParams:
		return ss.Elicit(ctx, r)
	case *mcp.CreateMessageParams:
		return ss.CreateMessage(ctx, r)
	case *mcp.CreateMessageWithToolsParams:
		return ss.CreateMessageWithTools(ctx, r)
	case *mcp.ListRootsParams:
		return ss.ListRoots(ctx, r)
	}
	return nil, fmt.Errorf("clients cannot be asked for %T", r)
}
