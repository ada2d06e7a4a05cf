package mcp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
)

// call is one call of a client's. It goes on in the host while requests come and go: the one
// that began it, and in the revision 2026-07-28 those that bring the input it requires.
type call struct {
	session *clientSession
	id      string
	// host is the id of the host's session in which it runs.
	host string
	// binding is what the call is about: who brings input for it must name the same.
	binding [sha256.Size]byte
	cancel  context.CancelCauseFunc
	// done is closed when there is a result.
	done   chan struct{}
	result *abi.ToolResult
	// asked holds a token when there are questions that the client was not told of.
	asked chan struct{}

	mu    sync.Mutex
	at    *attachment // nil while no request waits
	last  *attachment // what is known of the client by the last one
	open  []*question
	times map[string]int       // how often something was asked under a key
	said  string               // how far it has come
	task  *task                // that it has become, or nil
	early mcp.InputResponseMap // what the client answered before it was asked
	// lacking is what an embedder wanted to ask of a client that cannot be asked.
	lacking *jsonrpc.Error
	round   int         // how many times the client was asked
	expiry  *time.Timer // ends the call if the client does not come back
}

// attachment is a request that waits for a call's result.
type attachment struct {
	progress *progress
	// ask asks the client at once; nil in revisions in which a result does.
	ask func(ctx context.Context, requests mcp.InputRequestMap) (mcp.InputResponseMap, error)
	// revision is that of the request, and capabilities are what its client can be asked.
	revision     string
	capabilities *mcp.ClientCapabilities
}

func attachmentOf(ctx context.Context, req *mcp.CallToolRequest) *attachment {
	a := &attachment{progress: progressOf(ctx, req), revision: req.ProtocolVersion(), capabilities: req.ClientCapabilities()}
	if req.ProtocolVersion() < stateless {
		a.ask = func(asking context.Context, requests mcp.InputRequestMap) (mcp.InputResponseMap, error) {
			// By the request's own context, so that the question takes the way of its answer.
			ctx, cancel := context.WithCancelCause(ctx)
			defer context.AfterFunc(asking, func() { cancel(context.Cause(asking)) })()
			return askNow(ctx, req.Session, requests)
		}
	}
	return a
}

var (
	errLeft    = errors.New("the client gave the call up")
	errExpired = errors.New("the client did not come back with the input that the call requires")
)

// call is the SDK's handler of a call: it begins one, or goes on with one that required input.
func (c *clientSession) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState != "" {
		return c.goOn(ctx, req)
	}
	b, err := c.becomes(ctx, req)
	if err != nil {
		return nil, err
	}
	call, err := c.begun(ctx, req)
	if err != nil {
		return nil, err
	}
	return call.await(ctx, attachmentOf(ctx, req), b)
}

// begun begins a call. Its context is not that of the request, which may be over before it.
func (c *clientSession) begun(ctx context.Context, req *mcp.CallToolRequest) (*call, error) {
	use := abi.ToolUse{ID: "mcp-" + strconv.FormatInt(c.server.ids.Add(1), 10), Name: req.Params.Name, Input: req.Params.Arguments}
	if len(use.Input) == 0 || string(use.Input) == "null" { // as some clients write none
		use.Input = []byte("{}")
	}
	ctx = context.WithoutCancel(ctx)
	if of := c.server.options.Context; of != nil {
		ctx = of(ctx, req.Params.GetMeta())
	}
	running := &call{
		session: c, id: use.ID, binding: bindingOf(req), times: make(map[string]int), done: make(chan struct{}), asked: make(chan struct{}, 1),
		early: req.Params.InputResponses,
	}
	running.attach(attachmentOf(ctx, req))
	ctx, running.cancel = context.WithCancelCause(context.WithValue(ctx, callKey{}, running))
	session, err := c.admit(running)
	if err != nil {
		running.cancel(err)
		return nil, err
	}
	go running.run(ctx, session, use)
	return running, nil
}

// admit makes a call one of the session's.
func (c *clientSession) admit(running *call) (*host.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch most := c.server.options.MaxCalls; {
	case c.host == nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the session was closed"}
	case len(c.calls) >= most:
		return nil, &jsonrpc.Error{Code: codeBusy, Message: fmt.Sprintf("%d calls of this session are under way, which is the most at once: wait for one of them", most)}
	}
	running.host = c.host.ID()
	c.calls[running.id] = running
	return c.host, nil
}

// codeBusy is of the range that JSON-RPC leaves to servers.
const codeBusy = -32000

// callKey is where the context of a call, and of those that it makes in turn, carries it.
type callKey struct{}

// run runs the call in the host.
func (c *call) run(ctx context.Context, session *host.Session, use abi.ToolUse) {
	defer c.cancel(nil)
	defer close(c.done)
	result := abi.ErrorResult(use.ID, abi.Errorf(abi.CodeInternal, "the call has no result"))
	for e := range session.Call(ctx, use) {
		switch e.Kind {
		case host.EventProgress:
			c.tell(e.Progress, e.Line)
		case host.EventPersisted, host.EventReplaced, host.EventResult:
			c.session.store.add(use.ID, e.Stored)
			if e.Result != nil {
				result = *e.Result
			}
		}
	}
	c.result = withDue(ctx, result, session)
	if slices.ContainsFunc(result.Content, func(b abi.Block) bool { return b.Type == abi.BlockToolReference }) {
		c.session.refresh() // a search loaded tools that were deferred
	}
}

// tell passes on how far the call has come.
func (c *call) tell(now *host.Progress, line string) {
	c.attached().progress.tell(now, line)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = line
	if c.task != nil {
		c.task.touch(c.said)
	}
}

// attached is the request that waits for the call, or one that stands for none: a client can be
// asked for more when it comes back.
func (c *call) attached() *attachment {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		return c.last
	}
	return c.at
}

// await waits until the call has a result, or requires input of a client that is asked by a
// result. A request that ends before ends the call.
func (c *call) await(ctx context.Context, at *attachment, b becoming) (*mcp.CallToolResult, error) {
	c.attach(at)
	if b.now {
		if c.become(b) {
			return &mcp.CallToolResult{}, nil
		}
		if b.required {
			c.cancel(errLeft)
			c.session.forget(c)
			return nil, errTooManyTasks
		}
	}
	for {
		select {
		case <-c.done:
			c.session.forget(c)
			return c.outcome()
		case <-c.asked:
			if required := c.inputRequired(); required != nil {
				return required, nil
			}
		case <-b.after:
			b.after = nil
			if c.become(b) {
				return &mcp.CallToolResult{}, nil
			}
		case <-ctx.Done():
			c.cancel(errLeft)
			c.session.forget(c)
			return nil, context.Cause(ctx)
		}
	}
}

// outcome is what came of a call that is done.
func (c *call) outcome() (*mcp.CallToolResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lacking != nil {
		return nil, c.lacking
	}
	return resultOf(c.result, &c.session.store), nil
}

func (c *call) attach(at *attachment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.last = at, &attachment{revision: at.revision, capabilities: at.capabilities}
	if c.expiry != nil {
		c.expiry.Stop()
	}
	if at.ask == nil && len(c.open) > 0 { // what is still open is asked again
		c.wake()
	}
}

// wake has the request that waits tell the client of open questions.
func (c *call) wake() {
	select {
	case c.asked <- struct{}{}:
	default:
	}
}

// forget takes a call that is over, for its client, out of the session.
func (c *clientSession) forget(over *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, over.id)
	c.used = time.Now()
}

// find finds a call by its id, or returns nil.
func (c *clientSession) find(id string) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[id]
}
