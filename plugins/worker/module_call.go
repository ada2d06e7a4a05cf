package worker

import (
	"context"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// Call runs a tool. See [plugins.Instance].
func (m *module) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	message, err := callMessage(inv)
	if err != nil {
		return abi.ToolResult{}, err
	}
	c := &call{
		link:     link{m, linkOf(ctx)},
		message:  message,
		watch:    watch{most: 2*m.source.Limits.Time + grace},
		reports:  reports{to: inv.Report},
		requests: requests{do: inv.Capability},
		texts:    texts{make: inv.Spill},
	}
	var r reply
	if m.source.Manifest.Instance == abi.InstanceKept && inv.Session != nil {
		r = m.exchangeKept(ctx, c, inv.Session)
	} else {
		r = m.exchange(ctx, c)
	}
	defer c.texts.discard()
	if r.err != nil {
		return abi.ToolResult{}, r.err
	}
	result, err := c.texts.result(r.payload, m.source.Limits.Output)
	if err != nil {
		return abi.ToolResult{}, &abi.Error{Code: abi.CodeOf(err), Message: "plugin " + m.name + ": " + engine.Told(err.Error()), Err: err}
	}
	result.ToolUseID = inv.ID
	return result, nil
}

// sessionSize is the length of the session's number before a call's message.
const sessionSize = 8

func callMessage(inv plugins.Invocation) ([]byte, error) {
	head := abi.CallHead{Tool: inv.Tool.Name, ID: inv.ID, Cwd: inv.Cwd, UserModified: inv.UserModified, Config: inv.Config}
	b := newMessage(kindCall, 0, 0, len(inv.Input)+256)
	if inv.Spill != nil {
		b[5] = flagSpill
	}
	return abi.EncodeCall(append(b, make([]byte, sessionSize)...), head, inv.Input)
}

// assessTime bounds the guest's running time in one assess, as far as the host
// looks: the worker's own runner holds it to less.
const assessTime = time.Second

// Assess asks the guest's assess. See [plugins.Instance].
func (m *module) Assess(ctx context.Context, q plugins.Question) (abi.Assessment, error) {
	head := abi.AssessHead{Tool: q.Tool.Name, Cwd: q.Cwd, Facts: q.Facts, Config: q.Config}
	message, err := abi.EncodeAssess(newMessage(kindAssess, 0, 0, len(q.Input)+256), head, q.Input)
	if err != nil {
		return abi.Assessment{}, err
	}
	c := &call{link: link{m, linkOf(ctx)}, message: message, watch: watch{most: m.source.Limits.Time + assessTime + grace}}
	r := m.exchange(ctx, c)
	if r.err != nil {
		return abi.Assessment{}, r.err
	}
	return abi.DecodeAssessment(r.payload)
}
