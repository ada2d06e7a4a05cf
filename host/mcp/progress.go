package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
)

// progress tells a client how far a call has come, where it asked for that.
type progress struct {
	ctx     context.Context // of the request: notifications take the way of its answer
	session *mcp.ServerSession
	token   any
	done    float64
}

// progressOf is the progress that a request asks for, or nil.
func progressOf(ctx context.Context, req *mcp.CallToolRequest) *progress {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	return &progress{ctx: ctx, session: req.Session, token: token}
}

// tell sends what a tool told, with the line for it. Progress must grow, so where a tool says nothing of how far it
// is, or goes back, it grows by one.
func (p *progress) tell(now *host.Progress, line string) {
	if p == nil {
		return
	}
	done := now.Done
	if done <= p.done {
		done = p.done + 1
	}
	total := now.Total
	if total < done {
		total = 0 // unknown
	}
	p.done = done
	// A client that is gone is noticed where its requests are read.
	_ = p.session.NotifyProgress(p.ctx, &mcp.ProgressNotificationParams{ProgressToken: p.token, Message: line, Progress: done, Total: total})
}
