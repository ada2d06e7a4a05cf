package direct

import (
	"context"
	"sync/atomic"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// keptInstance is the one instance that a session keeps of a plugin. Calls
// take turns.
type keptInstance struct {
	// turn holds one token while the instance is free.
	turn chan struct{}
	// gone says that no call may come any more.
	gone atomic.Bool
	// in is nil before the first call, and after a loss.
	in *engine.Instance[*guest]
}

// Close ends the instance once the call in it has ended. Where ctx ends first,
// that call does it.
func (k *keptInstance) Close(ctx context.Context) error {
	k.gone.Store(true)
	select {
	case <-k.turn:
		k.yield()
		return nil
	case <-ctx.Done():
		return abi.Errorf(abi.CodeTimeout, "a kept instance is still in a call: %w", context.Cause(ctx))
	}
}

// yield ends a turn, and the instance with it if there is to be no other.
func (k *keptInstance) yield() {
	if k.gone.Load() {
		k.end()
	}
	k.turn <- struct{}{}
	if !k.gone.Load() {
		return
	}
	// Close may have come in between, and may not have waited.
	select {
	case <-k.turn:
		k.end()
		k.turn <- struct{}{}
	default: // whoever has the turn now does it
	}
}

func (k *keptInstance) end() {
	if k.in != nil {
		k.in.Close()
		k.in = nil
	}
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
		return abi.ToolResult{}, m.explain(ctx, m.limits.Time, "", ctx.Err())
	}
	defer k.yield()
	if k.gone.Load() {
		return abi.ToolResult{}, abi.Errorf(abi.CodeCancelled, "plugin %s: %w", m.name, plugins.ErrSessionClosed)
	}
	return m.serveKept(ctx, k, c, inv)
}

func (m *module) serveKept(ctx context.Context, k *keptInstance, c *call, inv plugins.Invocation) (abi.ToolResult, error) {
	if k.in == nil {
		in, err := m.pool.Make(ctx)
		if err != nil {
			return abi.ToolResult{}, err
		}
		k.in = in
	}
	result, err := m.serve(ctx, c, k.in.Host, inv)
	if err != nil {
		// A trap leaves memory in an unknown state.
		k.end()
		if inv.Report != nil {
			inv.Report(abi.ProgressHead{Log: &abi.Log{Level: "warn", Message: "plugin " + m.name + " lost the state it kept for this session: its instance failed"}})
		}
	}
	return result, err
}
