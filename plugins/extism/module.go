package extism

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// module is one compiled plugin. It implements [plugins.Instance].
type module struct {
	name    string
	limits  plugins.Limits
	program *engine.Program
	start   start

	// started holds guests whose runtime is initialised ahead of the call, bare
	// ones those where each call has to: the guest's start looks at the call, so
	// that go-sdk's order of things has to be kept.
	started, bare *engine.Pool[*guest]
	startInCall   atomic.Bool
}

var _ plugins.Instance = (*module)(nil)

func newModule(r *runner, m plugins.Module, kernel, program *engine.Program) *module {
	mod := &module{name: m.Manifest.Name, limits: m.Limits, program: program, start: startOf(program.Compiled.ExportedFunctions())}
	plan := engine.Plan[*guest]{
		Name: mod.name,
		Parts: []engine.Part{
			{Program: kernel, As: moduleEnv, MaxMemory: m.Limits.Memory},
			{Program: program, MaxMemory: m.Limits.Memory},
		},
		Time:  m.Limits.Time,
		Bind:  bind,
		Stack: (*guest).stackSize,
		Fail: func(run *engine.Run, err error) error {
			return mod.explain(run, run.LastWords(), fmt.Errorf("while starting: %w", err))
		},
	}
	if m.Manifest.Instance == abi.InstanceReset {
		plan.Policy = engine.PutBackAll
	}
	mod.bare = engine.NewPool(r.engine, plan)
	plan.Init, plan.Fail = mod.startAhead, failAhead(plan.Fail)
	mod.started = engine.NewPool(r.engine, plan)
	mod.startInCall.Store(!mod.start.needed() || startsItself(m.Manifest.Tools))
	return mod
}

// startsItself reports whether a tool is an export that go-sdk calls without
// initialising anything before.
func startsItself(tools []abi.Tool) bool {
	for i := range tools {
		if isStart(exportOf(&tools[i])) {
			return true
		}
	}
	return false
}

func isStart(export string) bool { return export == exportCommand || export == exportReactor }

// startAhead initialises a guest's runtime before there is a call. A start that
// used the kernel may have looked at the call's input.
func (m *module) startAhead(ctx context.Context, g *guest) error {
	if err := m.start.run(ctx, g); err != nil {
		return err
	}
	if g.used() {
		return errNeedsCall
	}
	return nil
}

// failAhead keeps a start that needs a call from being a failure.
func failAhead(fail func(*engine.Run, error) error) func(*engine.Run, error) error {
	return func(run *engine.Run, err error) error {
		if errors.Is(err, errNeedsCall) {
			return errNeedsCall
		}
		return fail(run, err)
	}
}

// take returns a guest with clean memory and the pool it is to be put back to.
func (m *module) take(ctx context.Context) (*engine.Instance[*guest], *engine.Pool[*guest], error) {
	if !m.startInCall.Load() {
		in, err := m.started.Take(ctx)
		if !errors.Is(err, errNeedsCall) {
			return in, m.started, err
		}
		m.startInCall.Store(true)
	}
	in, err := m.bare.Take(ctx)
	return in, m.bare, err
}

// Call runs a tool in memory of its own. See [plugins.Instance].
func (m *module) Call(ctx context.Context, inv plugins.Invocation) (abi.ToolResult, error) {
	in, pool, err := m.take(ctx)
	if err != nil {
		return abi.ToolResult{}, err
	}
	c := m.begin(ctx, in.Host, inv)
	result, err := m.serve(c, inv, pool == m.bare) //nolint:contextcheck // c is the context, and the caller's behind it
	c.end()
	if err != nil {
		c.traced(err)
		err = m.explain(&c.Run, c.LastWords(), err)
	}
	pool.Put(in, err == nil && !c.exited)
	return result, err
}

// serve runs the export as go-sdk does. What it returns refers to nothing of the
// guest any more.
func (m *module) serve(c *call, inv plugins.Invocation, bare bool) (abi.ToolResult, error) {
	export := exportOf(inv.Tool)
	input, err := inputOf(inv)
	room := false
	if err == nil {
		room, err = c.guest.setInput(c, input)
	}
	if err == nil && !room {
		err = abi.Errorf(abi.CodeLimit, "the input of %d bytes does not fit into the limit memory = %s", len(input), abi.Size(m.limits.Memory))
	}
	if err == nil && bare && !isStart(export) {
		err = m.start.run(c, c.guest)
	}
	if err != nil {
		return abi.ToolResult{}, err
	}
	code, err := c.guest.call(c, export)
	if status, ok := exited(err); ok && export == exportCommand && status == 0 {
		code, err, c.exited = 0, nil, true // how a program returns
	}
	if err != nil {
		return abi.ToolResult{}, err
	}
	failure, err := c.guest.failure(c)
	if err != nil {
		return abi.ToolResult{}, err
	}
	o := outcome{code: int32(uint32(code)), output: c.guest.output(), failure: failure}
	return o.result(inv, m.limits.Output)
}

// Assess answers nothing: Extism modules have no such export.
func (m *module) Assess(context.Context, plugins.Question) (abi.Assessment, error) {
	return abi.Assessment{}, nil
}

// Close frees the module. What a call that is still under way uses is freed when
// that call ends.
func (m *module) Close(ctx context.Context) error {
	m.started.Close()
	m.bare.Close()
	return m.program.Close(context.WithoutCancel(ctx))
}
