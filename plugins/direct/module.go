package direct

import (
	"context"
	"errors"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/internal/guestclock"
	"github.com/toolquay/toolquay/plugins"
)

// assessTime bounds the guest's running time in one assess: it is asked about
// every call before anything is decided, and has nothing to wait for.
const assessTime = 250 * time.Millisecond

// module is one compiled plugin. It implements [plugins.Instance].
type module struct {
	runner   *Runner
	name     string
	kept     bool
	limits   plugins.Limits
	compiled wazero.CompiledModule
	shape    shape
	pool     *pool
	memories *memories

	calls plugins.Calls
}

var _ plugins.Instance = (*module)(nil)

func newModule(r *Runner, m plugins.Module, compiled wazero.CompiledModule, s shape) *module {
	mod := &module{
		runner:   r,
		name:     m.Manifest.Name,
		kept:     m.Manifest.Instance == abi.InstanceKept,
		limits:   m.Limits,
		compiled: compiled,
		shape:    s,
	}
	mod.pool = newPool(r.opts.Ahead, mod.instantiate)
	mod.memories = &memories{limit: uint64(m.Limits.Memory), keep: mod.pool.most}
	mod.pool.shrunk = mod.memories.drop
	return mod
}

// Call runs a tool. See [plugins.Instance].
func (m *module) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	if err := m.calls.Enter(m.name); err != nil {
		return abi.ToolResult{}, err
	}
	defer m.calls.Leave()
	c := &call{
		parent:  callOf(ctx),
		module:  m,
		limits:  m.limits,
		do:      inv.Capability,
		report:  inv.Report,
		handles: make(map[uint32]*handle, 4),
	}
	if m.kept && inv.Session != nil {
		return m.callKept(ctx, c, inv)
	}
	in, err := m.pool.take(ctx)
	if err != nil {
		return abi.ToolResult{}, err
	}
	defer m.pool.done(in)
	return m.serve(ctx, c, in, inv)
}

// serve runs one call in an instance. Whatever it returns refers to nothing of
// the instance any more.
func (m *module) serve(ctx context.Context, c *call, in *instance, inv plugins.Invocation) (result abi.ToolResult, err error) {
	err = m.during(ctx, c, in, func(ctx context.Context) error {
		result, err = m.converse(ctx, c, in, inv)
		return err
	})
	if err != nil {
		return abi.ToolResult{}, err
	}
	result.ToolUseID = inv.ID
	return result, nil
}

// during lets a guest work for a call: its clock runs, its imports find the
// call, and its log is the call's. An error says whose doing it was.
func (m *module) during(ctx context.Context, c *call, in *instance, work func(context.Context) error) error {
	ctx, cancelCause := context.WithCancelCause(ctx)
	defer cancelCause(nil)
	ctx = context.WithValue(ctx, callKey{}, c)
	in.output.serve(c.tell)
	c.clock = guestclock.Start(c.limits.Time, cancelCause)
	defer c.end()
	defer in.output.serve(nil)
	if err := work(ctx); err != nil {
		return m.explain(ctx, c.limits, c.said(in), err)
	}
	return nil
}

func (m *module) converse(ctx context.Context, c *call, in *instance, inv plugins.Invocation) (abi.ToolResult, error) {
	head := abi.CallHead{Tool: inv.Tool.Name, ID: inv.ID, Cwd: inv.Cwd, Config: inv.Config}
	message, err := abi.EncodeCall(nil, head, inv.Input)
	if err != nil {
		return abi.ToolResult{}, err
	}
	answer, err := m.ask(ctx, in, in.call, message, m.limits.Output)
	if err != nil {
		return abi.ToolResult{}, err
	}
	// From here on the guest is done; only capabilities it left work to run.
	c.clock.Pause()
	return abi.DecodeResult(answer, m.limits.Output, func(id uint32, most int64) ([]byte, error) {
		h, ok := c.handles[id]
		if !ok {
			return nil, abi.Errorf(abi.CodeProtocol, "the result names the capability call %d, which was never made or is freed", id)
		}
		defer c.drop(id)
		return h.rest(ctx, most)
	})
}

// ask sends a message to an export and returns the answer, a view of the
// guest's memory.
func (m *module) ask(ctx context.Context, in *instance, fn api.Function, message []byte, limit int64) ([]byte, error) {
	ptr, err := in.send(ctx, message)
	if err != nil {
		return nil, err
	}
	return in.exchange(ctx, fn, ptr, len(message), limit)
}

// said is the last thing the guest logged, for the message of its failure.
func (c *call) said(in *instance) string {
	if log := in.output.last(); log != "" {
		return log
	}
	return c.lastLog
}

// maxAssessment bounds the answer of an assess, in bytes.
const maxAssessment = 64 << 10

// Assess asks the guest's assess. See [plugins.Instance].
func (m *module) Assess(ctx context.Context, q plugins.Question) (abi.Assessment, error) {
	if !m.shape.assess {
		return abi.Assessment{}, nil
	}
	if err := m.calls.Enter(m.name); err != nil {
		return abi.Assessment{}, err
	}
	defer m.calls.Leave()
	in, err := m.pool.take(ctx)
	if err != nil {
		return abi.Assessment{}, err
	}
	defer m.pool.done(in)

	c := &call{parent: callOf(ctx), module: m, limits: m.limits}
	c.limits.Time = min(c.limits.Time, assessTime)
	var answer abi.Assessment
	err = m.during(ctx, c, in, func(ctx context.Context) error {
		answer, err = m.assess(ctx, in, q)
		return err
	})
	return answer, err
}

func (m *module) assess(ctx context.Context, in *instance, q plugins.Question) (abi.Assessment, error) {
	head := abi.AssessHead{Tool: q.Tool.Name, Cwd: q.Cwd, Facts: q.Facts, Config: q.Config}
	message, err := abi.EncodeAssess(nil, head, q.Input)
	if err != nil {
		return abi.Assessment{}, err
	}
	answer, err := m.ask(ctx, in, in.assess, message, maxAssessment)
	if err != nil {
		return abi.Assessment{}, err
	}
	return abi.DecodeAssessment(answer)
}

// Close waits for the calls under way, or for ctx, and frees the module.
func (m *module) Close(ctx context.Context) error {
	first, late := m.calls.Drain(ctx, m.name)
	if !first {
		return nil
	}
	m.pool.close()
	return errors.Join(late, m.compiled.Close(context.WithoutCancel(ctx)))
}
