package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/visible"
)

// The modes of an elicitation, and the answers to one.
const (
	modeForm = "form"
	modeURL  = "url"

	actionAccept  = "accept"
	actionDecline = "decline"
	actionCancel  = "cancel"
)

// options are what the client does for a server. It samples nothing.
func (c *connection) options() *mcp.ClientOptions {
	o := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
		ElicitationHandler:          c.elicit,                                   // by [connection.guard]
		MultiRoundTrip:              &mcp.MultiRoundTripOptions{Disabled: true}, // by [connection.rounds]
		ProgressNotificationHandler: c.progress,
		LoggingMessageHandler:       c.logged,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { c.noteChanged() },
		PromptListChangedHandler:    func(context.Context, *mcp.PromptListChangedRequest) { c.noteChanged() },
	}
	if len(c.roots()) > 0 {
		o.Capabilities.RootsV2 = &mcp.RootCapabilities{}
	}
	return o
}

// roots are the directories that a program may use.
func (c *connection) roots() []*mcp.Root {
	roots, config := []*mcp.Root{}, &c.server.config
	if config.URL != "" {
		return roots
	}
	for _, dir := range slices.Concat(config.Write, config.Read) {
		roots = append(roots, &mcp.Root{Name: filepath.Base(dir), URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()})
	}
	return roots
}

// noteChanged has the tools and prompts listed again.
func (c *connection) noteChanged() {
	select {
	case c.listChanged <- struct{}{}:
	default:
	}
}

// logged takes what a server logs.
func (c *connection) logged(_ context.Context, r *mcp.LoggingMessageRequest) {
	text, _ := json.Marshal(r.Params.Data) // it came as JSON
	c.server.log.Debug("an MCP server says", "level", visible.Short(string(r.Params.Level), maxClaim), "text", visible.Short(string(text), maxLine))
}

// guard takes a server's questions before the SDK looks at them, which is not made for all that
// one may send: a null in the wrong place would end this program.
func (c *connection) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		switch r := r.(type) {
		case *mcp.ElicitRequest:
			return c.elicit(ctx, r)
		case *mcp.ElicitationCompleteNotificationRequest:
			return nil, nil // nobody waits for it
		}
		return next(ctx, method, r)
	}
}

// elicit asks the person a question of the server's, for the call that it belongs to.
func (c *connection) elicit(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	of, err := c.asking()
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	return of.elicit(r.Params)
}

// elicit asks the person a question of the call's server.
func (of *call) elicit(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if p == nil || p.Mode != "" && p.Mode != modeForm && p.Mode != modeURL {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "it is no question of the mode form or url"}
	}
	q := host.Ask{URL: &host.URLQuestion{Message: p.Message, URL: p.URL}}
	if p.Mode != modeURL {
		schema, err := json.Marshal(p.RequestedSchema)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		q = host.Ask{Form: &host.Form{Message: p.Message, Schema: schema}}
	}
	return answer(of.ask(q))
}

// maxRounds is how often a server may ask for something before it answers a request.
const maxRounds = 10

// rounds makes a request again with what was answered, as long as the server asks for more, as
// revision 2026-07-28 has it. Each time do makes it with the answers and the server's state. The
// SDK would look at the questions first, see [connection.guard].
func (c *connection) rounds(of *call, do func(given mcp.InputResponseMap, state string) (asked mcp.InputRequestMap, next string, err error)) error {
	var given mcp.InputResponseMap
	state := ""
	for range maxRounds {
		asked, next, err := do(given, state)
		if err != nil || asked == nil {
			return err
		}
		given, state = make(mcp.InputResponseMap), next
		for _, id := range slices.Sorted(maps.Keys(asked)) {
			if given[id], err = c.give(of, asked[id]); err != nil {
				return abi.Errorf(abi.CodeIO, "the MCP server %s asked for what it does not get: %w", c.server.config.Name, shown{err})
			}
		}
	}
	return abi.Errorf(abi.CodeIO, "the MCP server %s asked for something more than %d times before it answered", c.server.config.Name, maxRounds)
}

// give answers one of the things that a server asks for.
func (c *connection) give(of *call, asked mcp.InputRequest) (mcp.InputResponse, error) {
	switch asked := asked.(type) {
	case *mcp.ElicitParams:
		return of.elicit(asked)
	case *mcp.ListRootsParams:
		return &mcp.ListRootsResult{Roots: c.roots()}, nil
	}
	return nil, fmt.Errorf("there is no answer to %T here", asked)
}

// maxQuestions is how many questions a server may ask for one call.
const maxQuestions = 50

// ask asks the person, while the call's time stands still.
func (of *call) ask(q host.Ask) (host.Reply, error) {
	if of.asked.Add(1) > maxQuestions {
		return host.Reply{}, abi.Errorf(abi.CodeInvalidInput, "it is one of more than %d questions for one call", maxQuestions)
	}
	of.limit.pause()
	defer of.limit.resume()
	return of.Ask(of.ctx, q)
}

// answer is a person's reply as a server gets it. Who is not there to answer has not declined.
func answer(said host.Reply, err error) (*mcp.ElicitResult, error) {
	switch {
	case abi.CodeOf(err) == abi.CodeInvalidInput && err != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	case err != nil:
		return &mcp.ElicitResult{Action: actionCancel}, nil //nolint:nilerr // it is what the server is told
	case said.Answer != host.AnswerAllow:
		return &mcp.ElicitResult{Action: actionDecline}, nil
	}
	r := &mcp.ElicitResult{Action: actionAccept}
	if len(said.Content) > 0 {
		if err := json.Unmarshal(said.Content, &r.Content); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// asking finds the call that a question belongs to. Revision 2026-07-28 asks in the answer to a
// call. Before that a question names none: then it belongs to the call that began last, if all
// that run are of one session, since no other session's person may be asked.
func (c *connection) asking() (*call, error) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	var last *call
	newest := ""
	for token, of := range c.calls {
		if last != nil && last.Session != of.Session {
			return nil, errors.New("calls of several sessions are running, and the question does not say which one it belongs to")
		}
		if len(token) > len(newest) || len(token) == len(newest) && token > newest {
			last, newest = of, token
		}
	}
	if last == nil {
		return nil, errors.New("no call is running that a question could belong to")
	}
	return last, nil
}

// maxURLs is how many URLs a call may have a person open before it runs.
const maxURLs = 5

// urlsOf are the URLs that a server wants opened before it runs a call, as revision 2025-11-25
// has it; nil is none.
func urlsOf(err error) []*mcp.ElicitParams {
	answer, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || answer.Code != mcp.CodeURLElicitationRequired {
		return nil
	}
	var data struct {
		Elicitations []*mcp.ElicitParams `json:"elicitations"`
	}
	if json.Unmarshal(answer.Data, &data) != nil || len(data.Elicitations) > maxURLs || slices.Contains(data.Elicitations, nil) {
		return nil
	}
	return data.Elicitations
}

// visit has the person open URLs. The call is then made once more.
func (c *connection) visit(of *call, urls []*mcp.ElicitParams) error {
	for _, u := range urls {
		said, err := of.ask(host.Ask{URL: &host.URLQuestion{Message: u.Message, URL: u.URL}})
		if err != nil {
			return err
		}
		if said.Answer != host.AnswerAllow {
			return abi.Errorf(abi.CodeDenied, "the person did not open the URL that the MCP server %s asked for", c.server.config.Name)
		}
	}
	return nil
}
