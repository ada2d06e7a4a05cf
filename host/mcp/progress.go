package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolquay/toolquay/host"
)

// progress tells a client how far a call has come, where it asked for that.
type progress struct {
	session *mcp.ServerSession
	token   any
	done    float64
}

func progressOf(req *mcp.CallToolRequest) *progress {
	return &progress{session: req.Session, token: req.Params.GetProgressToken()}
}

// tell sends what a tool told. Progress must grow, so where a tool says nothing of how far it
// is, or goes back, it grows by one.
func (p *progress) tell(ctx context.Context, now *host.Progress) {
	if p.token == nil {
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
	message := now.Message
	if message == "" {
		message = lastLine(now.Tail)
	}
	// A client that is gone is noticed where its requests are read.
	_ = p.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: p.token, Message: message, Progress: done, Total: total})
}
