package direct

import (
	"context"
	"fmt"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// assessTime bounds the guest's running time in one assess: it is asked about
// every call before anything is decided, and has nothing to wait for.
const assessTime = 250 * time.Millisecond

// module is one compiled plugin. It implements [plugins.Instance].
type module struct {
	name    string
	kept    bool
	limits  plugins.Limits
	shape   shape
	program *engine.Program
	pool    *engine.Pool[*guest]
}

var _ plugins.Instance = (*module)(nil)

func newModule(e *engine.Engine, m plugins.Module, program *engine.Program, s shape) *module {
	mod := &module{
		name:    m.Manifest.Name,
		kept:    m.Manifest.Instance == abi.InstanceKept,
		limits:  m.Limits,
		shape:   s,
		program: program,
	}
	plan := engine.Plan[*guest]{
		Name:  mod.name,
		Parts: []engine.Part{{Program: program, MaxMemory: m.Limits.Memory}},
		Time:  m.Limits.Time,
		Bind:  bind,
		Init:  mod.start,
		Stack: func(g *guest) int64 { return engine.StackOf(g.alloc, g.call, g.assess) },
		Fail:  mod.failedStart,
	}
	if m.Manifest.Instance == abi.InstanceReset {
		plan.Policy = engine.PutBackAll
	}
	mod.pool = engine.NewPool(e, plan)
	return mod
}

func (m *module) failedStart(run *engine.Run, err error) error {
	return m.explain(run, m.limits.Time, run.LastWords(), fmt.Errorf("while starting: %w", err))
}

// Call runs a tool. See [plugins.Instance].
func (m *module) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	c := newCall(ctx, m)
	c.do, c.report = inv.Capability, inv.Report
	if m.kept && inv.Session != nil {
		return m.callKept(ctx, c, inv)
	}
	in, err := m.pool.Take(ctx)
	if err != nil {
		return abi.ToolResult{}, err
	}
	result, err := m.serve(ctx, c, in.Host, inv)
	m.pool.Put(in, err == nil)
	return result, err
}

// Assess asks the guest's assess. See [plugins.Instance].
func (m *module) Assess(ctx context.Context, q plugins.Question) (abi.Assessment, error) {
	if !m.shape.assess {
		return abi.Assessment{}, nil
	}
	in, err := m.pool.Take(ctx)
	if err != nil {
		return abi.Assessment{}, err
	}
	c := newCall(ctx, m)
	c.limits.Time = min(c.limits.Time, assessTime)
	answer, err := c.assess(c.begun(ctx), in.Host, q)
	if err != nil {
		err = m.explain(ctx, c.limits.Time, c.said(), err)
	}
	c.end()
	m.pool.Put(in, err == nil)
	return answer, err
}

// Close frees the module. What a call that is still under way uses is freed when
// that call ends.
func (m *module) Close(ctx context.Context) error {
	m.pool.Close()
	return m.program.Close(context.WithoutCancel(ctx))
}
