package commands

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
)

// Runner runs the commands of all sessions, as the capability shell.run. What it needs for
// that is made when the first command is to run. It is safe for concurrent use.
type Runner struct {
	options Options

	mu     sync.Mutex
	closed error // why nothing runs any more
	// engine is the one in use or being made; nil until it is needed. Former are those that
	// had no sandbox: commands may still run by them.
	engine *engine
	former []*engine
	live   liveCopies

	usual, looking func() []string // the environments of commands
	powerShell     func() error
	once           sync.Once
	tried          atomic.Bool // that the directories of Writable can be written
}

var _ capability.Capability = (*Runner)(nil)

// NewRunner returns a runner, which the caller closes.
func NewRunner(o Options) *Runner {
	environment := func(looks bool) func() []string {
		return sync.OnceValue(func() []string { return environmentOf(o.Environ, o.Environment, looks) })
	}
	usual := environment(false)
	reading := sync.OnceValue(func() []string { return baseView(o.Sandbox.Home, usual(), false) })
	writing := sync.OnceValue(func() []string { return baseView(o.Sandbox.Home, usual(), true) })
	o.base = func(writes bool) []string {
		if writes {
			return writing()
		}
		return reading()
	}
	o.Shell.Times = shell.NewTimes(o.Shell.Time)
	return &Runner{
		options: o, usual: usual, looking: environment(true),
		powerShell: sync.OnceValue(func() error { return shell.Installed(abi.ShellPowerShell, o.Shell.PowerShell) }),
	}
}

// SetTime sets how long the commands to come may run.
func (r *Runner) SetTime(t shell.Time) { r.options.Shell.Times.Set(t) }

// Names lists the one operation.
func (*Runner) Names() []string { return []string{abi.CapShellRun} }

// place is what the runner asks of the [capability.Scope].Shell of a session that has one
// of this package.
type place interface {
	// Cwd is the directory that commands begin in.
	Cwd() string
	// Backgrounds reports whether commands may move to the background.
	Backgrounds() bool
}

// Plan reads a request to run a command; see [capability.Capability].
func (r *Runner) Plan(ctx context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	e, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	if p, ok := scope.Shell.(place); ok {
		scope.Cwd = p.Cwd()
		if !p.Backgrounds() {
			scope.Tasks = nil // the tasks that there are can be read, and no more
		}
	}
	return e.shell.Plan(ctx, scope, req)
}

// Confines reports whether commands run in a sandbox, unless they are to leave it.
func (r *Runner) Confines(ctx context.Context) bool {
	e, err := r.open(ctx)
	return err == nil && e.confines()
}

// copies returns the copies of files that commands have, nil if the sandbox can show none.
func (r *Runner) copies() *liveCopies {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.engine; e == nil || !e.isReady() || e.sandbox == nil || !e.sandbox.Copies() {
		return nil
	}
	return &r.live
}

// protects reports whether commands are kept from changing what is protected: a partial sandbox
// protects nothing, and then it need not be looked for.
func (r *Runner) protects() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.engine
	return e == nil || !e.isReady() || e.sandbox == nil || e.confines()
}

// ReachesByRule reports whether commands reach the hosts that rules allow.
func (r *Runner) ReachesByRule() bool { return r.options.Shell.Network == sandbox.NetworkHosts }

// Bounds reports whether the sandbox of commands, where they run in one, bounds what they see
// and reach: no socket of this machine, and no hosts but by name.
func (r *Runner) Bounds() bool {
	o := &r.options.Shell
	return sandbox.Bounds && !o.UnixSockets && o.Network != sandbox.NetworkAll
}

// MissingPowerShell says why there is no PowerShell, or returns nil.
func (r *Runner) MissingPowerShell() error { return r.powerShell() }

// Environment returns the environment of commands; see [capability.Shell]. The caller may
// change it.
func (r *Runner) Environment(looks bool) []string {
	if looks {
		return slices.Clone(r.looking())
	}
	return slices.Clone(r.usual())
}

// open returns the engine, and makes it the first time. That takes as long as starting some
// processes, so no lock is held meanwhile, and a call that is over does not wait for it.
func (r *Runner) open(ctx context.Context) (*engine, error) {
	e, err := r.start() //nolint:contextcheck // it is made for all calls, whichever comes first
	if err != nil {
		return nil, err
	}
	select {
	case <-e.ready:
		return e, e.err
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
}

// start begins to make an engine, unless there is one or it is being made.
func (r *Runner) start() (*engine, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed != nil {
		return nil, abi.Errorf(abi.CodeCancelled, "the host: %w", r.closed)
	}
	if old := r.engine; old == nil || old.due(time.Now()) {
		e := succeed(old)
		if old != nil {
			r.former = append(r.former, old)
		}
		r.engine = e
		go func() {
			defer close(e.ready)
			switch e.err = e.make(&r.options, old); {
			case e.err != nil:
				r.forget(e)
			case old != nil && e.shell == old.shell:
				r.replaced(old)
			}
		}()
	}
	return r.engine, nil
}

// forget makes the next command try again: by then somebody may have installed what is
// missing.
func (r *Runner) forget(e *engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine == e {
		r.engine = nil
	}
}

// replaced drops an engine that the next one has taken over.
func (r *Runner) replaced(old *engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.former = slices.DeleteFunc(r.former, func(e *engine) bool { return e == old })
}

// LookAgain makes the next command look for a sandbox again, if one is missing.
func (r *Runner) LookAgain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.engine; e != nil && e.isReady() && !e.again.IsZero() {
		e.again = time.Now().Add(-time.Second)
	}
}

// MoveToBackground moves the command that a call waits for to the background. It reports
// false where there is no such command.
func (r *Runner) MoveToBackground(tasks capability.Tasks, callID string) bool {
	return slices.ContainsFunc(r.all(), func(e *engine) bool { return e.moveToBackground(tasks, callID) })
}

// Dial connects to a port of the loopback that the commands of a session share; see
// [shell.Capability.Dial].
func (r *Runner) Dial(ctx context.Context, ended <-chan struct{}, port int) (net.Conn, error) {
	r.mu.Lock()
	e := r.engine
	r.mu.Unlock()
	if e == nil || !e.isReady() || e.shell == nil {
		return nil, syscall.ECONNREFUSED // no command has run
	}
	return e.shell.Dial(ctx, ended, port)
}

// all returns the engine in use and the former ones.
func (r *Runner) all() []*engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine == nil {
		return slices.Clone(r.former)
	}
	return append(slices.Clone(r.former), r.engine)
}

// Close ends everything that runs. Whoever asks for a command later is told the reason.
func (r *Runner) Close(reason error) (err error) {
	r.once.Do(func() { err = r.close(reason) })
	return err
}

func (r *Runner) close(reason error) error {
	r.mu.Lock()
	r.closed = reason
	r.mu.Unlock()
	if last := r.all(); len(last) > 0 {
		<-last[len(last)-1].ready // the others are already
	}
	var errs []error
	for _, e := range r.all() { // by now no two share anything
		errs = append(errs, e.close())
	}
	return errors.Join(errs...)
}

// cancelled is the error of a call whose context is over: the reason, where that is one for
// a model.
func cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	if known, ok := errors.AsType[*abi.Error](cause); ok {
		return known
	}
	return abi.Errorf(abi.CodeCancelled, "the call was cancelled: %w", cause)
}
