package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// maxDue bounds the prompts behind one result, in bytes, but for the first of them.
const maxDue = 50_000

// dueTime bounds how long a result waits for another process that changes the durable prompts.
const dueTime = time.Second

// withDue is a result with the scheduled prompts of a session behind it that are due by now. A server
// cannot begin a turn of its client's model, and clients need not show a model what a server tells
// them otherwise. Until a result leaves nothing is taken, so that another process of the project can
// take a durable prompt.
func withDue(ctx context.Context, r abi.ToolResult, session *host.Session) *abi.ToolResult {
	ctx, cancel := context.WithTimeout(ctx, dueTime)
	defer cancel()
	size := 0
	for p := range session.DuePrompts(ctx) {
		if size += len(p.Prompt); size > maxDue && size > len(p.Prompt) {
			break // it comes behind the next one
		}
		r.Content = append(slices.Clip(r.Content), abi.TextBlock(dueText(&p)))
	}
	return &r
}

// dueText is a prompt as a model gets it.
func dueText(p *capability.DuePrompt) string {
	about := ""
	if p.Recurring && p.Last {
		about = ", for the last time"
	}
	return fmt.Sprintf("[The prompt that you scheduled as %s came due at %s%s:]\n%s", p.ID, p.Due.Format(time.RFC3339), about, p.Prompt)
}
