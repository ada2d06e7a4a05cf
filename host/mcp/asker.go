package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
)

// asker asks the person through the client of the call that a question is about. It implements
// [host.Asker].
type asker struct {
	session *clientSession
}

// Ask elicits an answer. Keys are random, so that a client can answer only what it was asked.
func (a *asker) Ask(ctx context.Context, q host.Approval) (host.Reply, error) {
	running := a.session.find(q.CallID)
	if running == nil {
		return host.Reply{}, fmt.Errorf("the client of the call %s is gone", q.CallID)
	}
	form := approvalForm(&q)
	result, err := a.elicit(ctx, running, form.params())
	if err != nil {
		return host.Reply{}, err
	}
	return form.reply(result), nil
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
