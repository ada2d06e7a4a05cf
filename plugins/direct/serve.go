package direct

import (
	"context"
	"io"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// serve runs one call in an instance. Whatever it returns refers to nothing of
// the instance any more.
func (m *module) serve(ctx context.Context, c *call, g *guest, inv plugins.Invocation) (abi.ToolResult, error) {
	under := c.begun(ctx)
	err := context.Cause(ctx)
	var result abi.ToolResult
	if err == nil {
		result, err = c.converse(under, g, inv)
	}
	if err != nil {
		said := c.said() // which ends the line that it was writing
		c.traced(err)
		err = m.explain(ctx, c.limits.Time, said, err)
	}
	c.end()
	if err != nil {
		return abi.ToolResult{}, err
	}
	result.ToolUseID = inv.ID
	return result, nil
}

// converse has the guest answer the call.
func (c *call) converse(ctx context.Context, g *guest, inv plugins.Invocation) (abi.ToolResult, error) {
	head := abi.CallHead{Tool: inv.Tool.Name, ID: inv.ID, Cwd: inv.Cwd, UserModified: inv.UserModified, Config: inv.Config}
	message, err := abi.EncodeCall(g.message[:0], head, inv.Input)
	if err != nil {
		return abi.ToolResult{}, err
	}
	answer, err := g.ask(ctx, g.call, message, c.limits.Output)
	if err != nil {
		return abi.ToolResult{}, err
	}
	// From here on the guest is done; only capabilities it left work to run.
	c.Pause()
	decoder := abi.ResultDecoder{
		Limit: c.limits.Output,
		Open:  func(id uint32) (io.ReadCloser, error) { return c.open(ctx, id) },
		Spill: inv.Spill,
		Room:  g.message,
	}
	result, err := decoder.Decode(answer)
	g.keep(decoder.Room)
	return result, err
}

// maxAssessment bounds the answer of an assess, in bytes.
const maxAssessment = 256 << 10

func (c *call) assess(ctx context.Context, g *guest, q plugins.Question) (abi.Assessment, error) {
	head := abi.AssessHead{Tool: q.Tool.Name, Cwd: q.Cwd, Facts: q.Facts, Config: q.Config}
	message, err := abi.EncodeAssess(g.message[:0], head, q.Input)
	if err != nil {
		return abi.Assessment{}, err
	}
	answer, err := g.ask(ctx, g.assessor(), message, maxAssessment)
	if err != nil {
		return abi.Assessment{}, err
	}
	return abi.DecodeAssessment(answer)
}
