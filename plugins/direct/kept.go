package direct

import (
	"context"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
)

// keptInstance is the one instance that a session keeps of a plugin. Calls
// take turns.
type keptInstance struct {
	turn chan struct{} // holds one token while the instance is free
	in   *instance     // nil before the first call, and after a loss
}

// Close ends the instance once the call in it has ended.
func (k *keptInstance) Close(ctx context.Context) error {
	select {
	case <-k.turn:
	case <-ctx.Done():
		return abi.Errorf(abi.CodeTimeout, "a kept instance is still in a call: %w", context.Cause(ctx))
	}
	if k.in != nil {
		k.in.close(ctx)
		k.in = nil
	}
	return nil
}

func (m *module) callKept(ctx context.Context, c *call, inv plugins.Invocation) (abi.ToolResult, error) {
	for p := c.parent; p != nil; p = p.parent {
		if p.module == m {
			return abi.ToolResult{}, abi.Errorf(abi.CodeReentry, "plugin %s keeps one instance (instance = \"kept\") and cannot be called by itself", m.name)
		}
	}
	keeper, err := inv.Session.Keep(m, func() plugins.Keeper {
		k := &keptInstance{turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		return k
	})
	if err != nil {
		return abi.ToolResult{}, abi.Errorf(abi.CodeCancelled, "plugin %s: %w", m.name, err)
	}
	k, ok := keeper.(*keptInstance)
	if !ok {
		return abi.ToolResult{}, abi.Errorf(abi.CodeInternal, "plugin %s: the session keeps a %T for it", m.name, keeper)
	}
	select {
	case <-k.turn:
	case <-ctx.Done():
		return abi.ToolResult{}, m.explain(ctx, m.limits, "", ctx.Err())
	}
	defer func() { k.turn <- struct{}{} }()
	return m.serveKept(ctx, k, c, inv)
}

func (m *module) serveKept(ctx context.Context, k *keptInstance, c *call, inv plugins.Invocation) (abi.ToolResult, error) {
	if k.in == nil {
		in, err := m.instantiate(ctx)
		if err != nil {
			return abi.ToolResult{}, err
		}
		k.in = in
	}
	result, err := m.serve(ctx, c, k.in, inv)
	if err != nil {
		// A trap leaves memory in an unknown state.
		k.in.close(ctx)
		k.in = nil
		if inv.Report != nil {
			inv.Report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: "plugin " + m.name + " lost the state it kept for this session: its instance failed"}})
		}
	}
	return result, err
}
