package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/capability"
)

// duePrompts are scheduled prompts that came due. A server cannot begin a turn of its client's
// model, and clients need not show a model what a server tells them otherwise: so they wait for
// the next result of the session, and stand behind it.
type duePrompts struct {
	mu   sync.Mutex
	list []*duePrompt
}

type duePrompt struct {
	capability.DuePrompt
	// gone is closed when the prompt has left with a result.
	gone chan struct{}
}

// maxDue bounds the prompts behind one result, in bytes, but for the first of them.
const maxDue = 50_000

// follow keeps what comes due in a session, until ctx ends. A durable prompt counts as told when
// it has left, so that another process tells it if this one ends before.
func (d *duePrompts) follow(ctx context.Context, session *host.Session) {
	for p := range session.Prompts(ctx) {
		waits := d.put(ctx, p)
		if !p.Durable {
			continue
		}
		select {
		case <-waits.gone:
		case <-ctx.Done():
			return
		}
	}
}

// put has a prompt wait, unless the session has ended: another time of a job that waits already
// counts as that one.
func (d *duePrompts) put(ctx context.Context, p capability.DuePrompt) *duePrompt {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := slices.IndexFunc(d.list, func(w *duePrompt) bool { return w.ID == p.ID }); at >= 0 {
		d.list[at].Last = p.Last
		return d.list[at]
	}
	waits := &duePrompt{p, make(chan struct{})}
	if ctx.Err() == nil { // else they were forgotten
		d.list = append(d.list, waits)
	}
	return waits
}

// behind is a result with those that wait behind it: in its text, and with that in its structured
// content, as some clients show nothing else.
func (d *duePrompts) behind(r abi.ToolResult) *abi.ToolResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	size, n := 0, 0
	for ; n < len(d.list); n++ {
		p := d.list[n]
		if size += len(p.Prompt); n > 0 && size > maxDue {
			break
		}
		r.Content = append(slices.Clip(r.Content), abi.TextBlock(p.text()))
		close(p.gone)
	}
	d.list = d.list[n:]
	return &r
}

// forget drops those of a session that has ended.
func (d *duePrompts) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = nil
}

// text is a prompt as a model gets it.
func (p *duePrompt) text() string {
	about := ""
	if p.Recurring && p.Last {
		about = ", for the last time"
	}
	return fmt.Sprintf("[The prompt that you scheduled as %s came due at %s%s:]\n%s", p.ID, p.Due.Format(time.RFC3339), about, p.Prompt)
}
