package shell

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/host/internal/warm"
)

// warmChild is a command in a shell that is kept ready, or one that such a shell refused.
type warmChild struct {
	*launch
	cancel func()
	gone   chan struct{}
	result result // set when gone is closed

	mu sync.Mutex
	// next is the command once it was started cold. Stopped is the time of grace if it was
	// told to end before that.
	next    child
	stopped *time.Duration
}

// warmly starts the command in a shell that is kept ready.
func (l *launch) warmly(ctx context.Context) *warmChild {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &warmChild{launch: l, gone: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(c.gone)
		defer cancel()
		c.result = c.run(ctx)
	}()
	return c
}

// run runs the command to its end, cold if no shell that is kept ready can run it.
func (c *warmChild) run(ctx context.Context) result {
	ran, err := c.setup.ready.Run(ctx, c.request())
	switch {
	case err == nil:
		r := result{cwd: ran.Dir, status: process.Status{Code: ran.Exit}}
		if ran.Left {
			r.status.Left = 1 // or more: how many is not known
		}
		return r
	case ctx.Err() != nil:
		return result{status: process.Status{Code: exitKilled, Signal: syscall.SIGKILL}}
	case errors.Is(err, warm.ErrUnfit), errors.Is(err, warm.ErrAgain):
		c.out.forget()
		return c.anew(ctx)
	}
	return result{status: process.Status{Code: exitKilled, Err: err}}
}

// anew starts the command cold, and waits for its end.
func (c *warmChild) anew(ctx context.Context) result {
	next, err := c.cold(ctx)
	if err != nil {
		return result{failed: err, status: process.Status{Code: exitKilled, Err: err}}
	}
	c.mu.Lock()
	c.next = next
	if c.stopped != nil {
		next.Stop(*c.stopped)
	}
	c.mu.Unlock()
	<-next.Gone()
	return next.end()
}

// request is the command as shells that are kept ready take it.
func (c *warmChild) request() *warm.Request {
	spec := c.held.spec("/") // the shell's own directory: commands of all directories share it
	sinks := c.out.sinks()
	r := &warm.Request{
		Key:  keyOf(&spec),
		Spec: spec, Env: c.withTemp(searching(c.scope.Shell.Environment(true), c.unsafe())), Dir: c.scope.Cwd, Command: c.args.Command,
		Stdout: sinks[0],
	}
	if len(sinks) > 1 {
		r.Stderr = sinks[1]
	}
	return r
}

// keyOf identifies what a sandbox can see. A mount covers a file and not its name: if another
// file takes that name, a shell that was kept ready would see it. So files are identified by
// their numbers too.
func keyOf(spec *sandbox.Spec) string {
	parts := []string{spec.Temp}
	for _, path := range slices.Concat(spec.Writable, spec.Visible, spec.Hidden) {
		parts = append(parts, path, identity(path))
	}
	for _, b := range spec.Bind {
		parts = append(parts, "", b.Source, b.Target, identity(b.Source))
	}
	return strings.Join(parts, "\x00")
}

// Done implements [child].
func (c *warmChild) Done() <-chan struct{} { return c.gone }

// Gone implements [child].
func (c *warmChild) Gone() <-chan struct{} { return c.gone }

// Stop implements [child]. A command that only reads is ended at once.
func (c *warmChild) Stop(grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = &grace
	if c.next != nil {
		c.next.Stop(grace)
		return
	}
	c.cancel()
}

// end implements [child].
func (c *warmChild) end() result { return c.result }
