package servers

import (
	"context"
	"encoding/json"
	"errors"
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
		ElicitationHandler:          c.elicit,
		ProgressNotificationHandler: c.progress,
		LoggingMessageHandler:       c.logged,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { c.noteChanged() },
	}
	if len(c.roots()) > 0 {
		o.Capabilities.RootsV2 = &mcp.RootCapabilities{}
	}
	return o
}

// roots are the directories that a program may use.
func (c *connection) roots() []string {
	config := &c.server.config
	if config.URL != "" {
		return nil
	}
	return slices.Concat(config.Write, config.Read)
}

func (c *connection) addRoots(client *mcp.Client) {
	for _, dir := range c.roots() {
		client.AddRoots(&mcp.Root{Name: filepath.Base(dir), URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()})
	}
}

// noteChanged has the tools listed again.
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

// elicit asks the person a question of the server's, for the call that it belongs to.
func (c *connection) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	of, err := c.asking(ctx)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	q := host.Question{Kind: host.QuestionURL, URL: &host.URLQuestion{Message: r.Params.Message, URL: r.Params.URL}}
	if r.Params.Mode != modeURL {
		schema, err := json.Marshal(r.Params.RequestedSchema)
		if err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		q = host.Question{Kind: host.QuestionForm, Form: &host.Form{Message: r.Params.Message, Schema: schema}}
	}
	return answer(of.ask(q))
}

// ask asks the person, while the call's time stands still.
func (of *call) ask(q host.Question) (host.Reply, error) {
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
func (c *connection) asking(ctx context.Context) (*call, error) {
	if of, ok := ctx.Value(callKey{}).(*call); ok {
		return of, nil
	}
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
	if json.Unmarshal(answer.Data, &data) != nil || len(data.Elicitations) > maxURLs {
		return nil
	}
	return data.Elicitations
}

// visit has the person open URLs. The call is then made once more.
func (c *connection) visit(of *call, urls []*mcp.ElicitParams) error {
	for _, u := range urls {
		said, err := of.ask(host.Question{Kind: host.QuestionURL, URL: &host.URLQuestion{Message: u.Message, URL: u.URL}})
		if err != nil {
			return err
		}
		if said.Answer != host.AnswerAllow {
			return abi.Errorf(abi.CodeDenied, "the person did not open the URL that the MCP server %s asked for", c.server.config.Name)
		}
	}
	return nil
}
