package warm

import (
	"context"
	"fmt"

	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/sandbox"
)

// Sandboxed returns what starts shells in sandboxes under supervisors, for
// [Options].Start. Whatever a request's specification says, nothing can be written
// and no network is reached.
func Sandboxed(k *process.Supervisors, box *sandbox.Sandbox, limits process.Limits) func(context.Context, *Launch) (Process, error) {
	return func(ctx context.Context, l *Launch) (Process, error) {
		spec := l.Spec
		spec.ReadOnly = true
		const std = 3
		// Which descriptors the shell's are is known only when the sandbox's are. The
		// command ends the arguments as it is, but for these.
		argv := l.Argv(std)
		w, err := box.Wrap(ctx, spec, argv)
		if err != nil {
			return nil, fmt.Errorf("make a sandbox for a warm shell: %w", err)
		}
		copy(w.Args[len(w.Args)-len(argv):], l.Argv(std+len(w.Files)))
		files := append(append(l.Std[:std:std], w.Files...), l.Extra...)
		p, err := k.Start(ctx, process.Command{Path: w.Path, Args: w.Args, Env: l.Env, Files: files, Limits: limits})
		if err != nil {
			letGo(p, w)
			return nil, fmt.Errorf("start a warm shell: %w", err)
		}
		if err := w.Release(ctx, p.Pid()); err != nil {
			p.Stop(0)
			<-p.Gone()
			_ = w.Close() // what was held back is the one to tell
			return nil, fmt.Errorf("start a warm shell: %w", err)
		}
		kept := kept{p, make(chan struct{})}
		go func() {
			defer close(kept.gone)
			<-p.Gone()
			_ = w.Close() // nothing was written that could be left
		}()
		return kept, nil
	}
}

// letGo gives up the sandbox of a shell that did not start: behind the call, where that was
// given up and the shell may start yet. That it did not start is what there is to tell.
func letGo(p *process.Process, w *sandbox.Wrapped) {
	if p == nil {
		_ = w.Close()
		return
	}
	go func() {
		<-p.Gone()
		_ = w.Close()
	}()
}

// kept is a shell under a supervisor.
type kept struct {
	*process.Process
	gone chan struct{}
}

// Kill has the supervisor kill the sandbox.
func (k kept) Kill() { k.Stop(0) }

// Gone is closed when the sandbox is given up too.
func (k kept) Gone() <-chan struct{} { return k.gone }
