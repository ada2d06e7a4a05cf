package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/internal/forms"
	"github.com/toolquay/toolquay/internal/visible"
)

// asker asks the person through the client of the call that a question is about. It implements
// [host.Asker].
type asker struct{ forms, urls atomic.Bool }

// sees notes what the client of a request can be asked, and reports whether that is more than
// was known.
func (a *asker) sees(c *mcp.ClientCapabilities) (more bool) {
	if c == nil {
		return false
	}
	forms := canElicit(c, "form") && !a.forms.Swap(true)
	urls := canElicit(c, "url") && !a.urls.Swap(true)
	return forms || urls
}

// Carries is true of what a client of the session can be asked: of 2026-07-28, several may
// share it. Whether that of a call can is found when it is asked.
func (a *asker) Carries(kind host.QuestionKind) bool {
	switch kind {
	case host.QuestionApproval, host.QuestionForm, host.QuestionChoice, host.QuestionPlan:
		return a.forms.Load()
	case host.QuestionURL:
		return a.urls.Load()
	}
	return false
}

// Ask elicits an answer. Keys are random, so that a client can answer only what it was asked.
func (a *asker) Ask(ctx context.Context, q host.Question) (host.Reply, error) {
	running, _ := ctx.Value(callKey{}).(*call)
	if running == nil {
		return host.Reply{}, host.ErrNobody
	}
	params, read := elicitation(&q, running.attached().revision)
	if params == nil {
		return host.Reply{}, host.ErrNobody
	}
	result, err := a.elicit(ctx, running, params)
	if err != nil {
		return host.Reply{}, err
	}
	return read(result)
}

// elicitation is a question as a client of a revision is asked it, and how its answer reads.
func elicitation(q *host.Question, revision string) (*mcp.ElicitParams, func(*mcp.ElicitResult) (host.Reply, error)) {
	switch {
	case q.Approval != nil:
		form := approvalForm(q.Approval)
		if !form.shown() {
			return nil, nil
		}
		return form.params(revision), func(r *mcp.ElicitResult) (host.Reply, error) { return form.reply(r), nil }
	case q.Form != nil:
		// Clients may show its texts as they are, so these must show nothing else.
		if form, err := forms.Parse(q.Form.Schema); err != nil || !form.Plain() {
			return nil, nil
		}
		return &mcp.ElicitParams{Mode: "form", Message: asks(q, q.Form.Message), RequestedSchema: q.Form.Schema}, replyOf
	case q.Choice != nil:
		form := choiceForm{q}
		return form.params(revision), form.reply
	case q.Plan != nil:
		form := planForm{q}
		return form.params(revision), form.reply
	case q.URL != nil:
		return &mcp.ElicitParams{Mode: "url", Message: asks(q, q.URL.Message), URL: q.URL.URL, ElicitationID: q.ID}, replyOf
	}
	return nil, nil
}

// asks is a message of a tool's with the tool that it comes from.
func asks(q *host.Question, message string) string {
	who := visible.Name(q.Tool)
	if q.Plugin != "" {
		who += " (plugin " + visible.Name(q.Plugin) + ")"
	}
	if q.Server != "" {
		who += " (MCP server " + visible.Name(q.Server) + ")"
	}
	return who + " asks: " + visible.Text(message)
}

// replyOf is a client's answer to a form or a URL.
func replyOf(r *mcp.ElicitResult) (host.Reply, error) {
	switch r.Action {
	case "accept":
		if r.Content == nil {
			return host.Reply{Answer: host.AnswerAllow}, nil
		}
		content, err := json.Marshal(r.Content)
		return host.Reply{Answer: host.AnswerAllow, Content: content}, err
	case "decline":
		return host.Reply{Answer: host.AnswerDeny}, nil
	}
	return host.Reply{}, host.ErrDismissed
}

func (a *asker) elicit(ctx context.Context, running *call, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	key := rand.Text()
	responses, err := running.input(ctx, mcp.InputRequestMap{key: params})
	if err != nil {
		return nil, err
	}
	result, ok := responses[key].(*mcp.ElicitResult)
	if !ok {
		return nil, errors.New("the client's answer is none to a question")
	}
	return result, nil
}
