package worker

import (
	"context"
	"errors"

	"github.com/toolquay/toolquay/plugins"
	"github.com/toolquay/toolquay/plugins/internal/engine"
)

// Runner runs each plugin of one ABI in a worker process of its own. It
// implements [plugins.Runner] around the ABI's own runner, which [Main] has in
// the worker.
type Runner struct {
	abi  string
	opts Options
}

var _ plugins.Runner = (*Runner)(nil)

// New returns a runner for an ABI, such as [abi.ABIDirect]. It starts nothing
// before a plugin is loaded.
func New(abi string, o Options) *Runner { return &Runner{abi: abi, opts: o.withDefaults()} }

// ABI is the one the runner was made for.
func (r *Runner) ABI() string { return r.abi }

// Load starts a worker and has it load the module. The worker is given up when
// it has had nothing to do for a while, and started again when it is needed, so
// the module's bytes are kept.
func (r *Runner) Load(ctx context.Context, m plugins.Module) (plugins.Instance, error) {
	if err := r.opts.startable(); err != nil {
		return nil, err
	}
	if err := engine.CheckSize(len(m.Wasm), r.opts.MaxModule); err != nil {
		return nil, err
	}
	mod := newModule(r, m)
	if _, err := mod.running(ctx); err != nil {
		return nil, errors.Join(err, mod.Close(context.WithoutCancel(ctx)))
	}
	return mod, nil
}

// Close does nothing: every worker belongs to a module.
func (r *Runner) Close(context.Context) error { return nil }
