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

// newPool makes the pool of shells that are kept ready.
func (c *Capability) newPool() *warm.Pool {
	program, err := c.bash()
	if err != nil || c.opts.Sandbox == nil {
		return nil
	}
	return warm.New(warm.Options{
		Start: warm.Sandboxed(c.opts.Keepers, c.opts.Sandbox, c.opts.Limits), Bash: program, Logger: c.opts.Logger,
	})
}

// request is the command as a shell that is kept ready is given it.
func (l *launch) request() *warm.Request {
	spec := l.specify()
	spec.Cwd = "/" // the shell's own: commands of all directories share it
	r := &warm.Request{
		Key:  keyOf(&spec),
		Spec: spec, Env: l.withTemp(searching(l.p.scope.Shell.Environment(true), l.unsafe())), Dir: l.p.scope.Cwd, Command: l.p.args.Command,
		Stdout: l.out.sink(l.out.out),
	}
	if l.out.err != nil {
		r.Stdout, r.Stderr = l.out.sink(l.out.out, l.out.all), l.out.sink(l.out.err, l.out.all)
	}
	return r
}

// keyOf tells apart what commands have in sight. A mask lies on a file and not on a name:
// it goes with the file, when that is removed or another takes its name, and a shell kept
// ready would see the new one. So files count by what they are.
func keyOf(spec *sandbox.Spec) string {
	parts := []string{spec.Temp}
	for _, path := range slices.Concat(spec.Writable, spec.Hidden) {
		parts = append(parts, path, identity(path))
	}
	for _, b := range spec.Bind {
		parts = append(parts, "", b.Source, b.Target, identity(b.Source))
	}
	return strings.Join(parts, "\x00")
}

// warmly starts the command in a shell that is kept ready. Where that turns out not to
// do, it is started the other way.
func (l *launch) warmly(ctx context.Context) *warmChild {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &warmChild{gone: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(c.gone)
		defer cancel()
		result, err := l.p.c.pool.Run(ctx, l.request())
		switch {
		case err == nil:
			l.dir = result.Dir
			c.end(process.Status{Code: result.Exit, Left: count(result.Left)})
		case ctx.Err() != nil:
			c.end(process.Status{Code: exitKilled, Signal: syscall.SIGKILL})
		case errors.Is(err, warm.ErrUnfit), errors.Is(err, warm.ErrAgain):
			l.out.forget()
			c.anew(func() (next child, err error) {
				next, l.failed = l.cold(ctx)
				return next, l.failed
			})
		default:
			c.end(process.Status{Code: exitKilled, Err: err})
		}
	}()
	return c
}

// count is how many processes there were, where it is only known whether.
func count(some bool) int {
	if some {
		return 1
	}
	return 0
}

// warmChild is a command in a shell that is kept ready, or one that should have been.
type warmChild struct {
	gone   chan struct{}
	cancel func()

	mu     sync.Mutex
	status process.Status
	// next is how it runs since it was started the other way, and stopped how long it
	// was given when it was told to end before that.
	next    child
	stopped *time.Duration
}

// Done implements [child].
func (c *warmChild) Done() <-chan struct{} { return c.gone }

// Gone implements [child].
func (c *warmChild) Gone() <-chan struct{} { return c.gone }

// Status implements [child].
func (c *warmChild) Status() process.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// Stop implements [child]. What only reads is ended at once.
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

func (c *warmChild) end(s process.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status = s
}

// anew starts the command the other way, and waits for its end.
func (c *warmChild) anew(start func() (child, error)) {
	next, err := start()
	if err != nil {
		c.end(process.Status{Code: exitKilled, Err: err})
		return
	}
	c.mu.Lock()
	c.next = next
	if c.stopped != nil {
		next.Stop(*c.stopped)
	}
	c.mu.Unlock()
	<-next.Gone()
	c.end(next.Status())
}
