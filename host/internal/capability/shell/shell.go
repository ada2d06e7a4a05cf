package shell

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/host/internal/warm"
	"github.com/toolquay/toolquay/internal/tempdir"
	"github.com/toolquay/toolquay/permissions"
)

// Capability answers shell.run. It is safe for concurrent use.
type Capability struct {
	opts             Options
	bash, powerShell func() (string, error)
	pool             *warm.Pool // nil is none

	// private is a directory of the capability alone, where commands reach the network by
	// host.
	private func() (*tempdir.Dir, error)

	mu sync.Mutex
	// running are the commands that calls wait for.
	running map[waiting]*run
}

var _ capability.Capability = (*Capability)(nil)

// New returns the capability. It is to be closed.
func New(o Options) *Capability {
	o.complete()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Mode == sandbox.Off {
		o.Sandbox = nil
	}
	c := &Capability{opts: o, running: make(map[waiting]*run)}
	c.bash = sync.OnceValues(func() (string, error) { return Look(abi.ShellBash, o.Bash) })
	c.powerShell = sync.OnceValues(func() (string, error) { return Look(abi.ShellPowerShell, o.PowerShell) })
	c.private = sync.OnceValues(tempdir.Make)
	if o.Sandbox != nil && o.Network == sandbox.NetworkHosts {
		_, _ = c.private() // who needs it is told why there is none
	}
	c.pool = c.newPool()
	return c
}

// Names lists the one operation.
func (*Capability) Names() []string { return []string{abi.CapShellRun} }

// Close lets go of the shells that are kept ready. What runs is the keepers' to end.
func (c *Capability) Close() error {
	if c.pool != nil {
		c.pool.Close()
	}
	if o := &c.opts; o.Sandbox == nil || o.Network != sandbox.NetworkHosts {
		return nil
	}
	dir, err := c.private()
	if err != nil {
		return nil //nolint:nilerr // there is nothing to remove
	}
	return dir.Close()
}

// waiting is a call that waits for its command. Ids tell calls apart within a session
// alone, which is known here by its tasks.
type waiting struct {
	tasks capability.Tasks
	call  string
}

// Background moves the command that a call of a session waits for to the background, as
// a person asked. It reports whether there is such a command; where no task can be made
// of it the call goes on waiting.
func (c *Capability) Background(tasks capability.Tasks, callID string) bool {
	c.mu.Lock()
	r := c.running[waiting{tasks, callID}]
	c.mu.Unlock()
	if r == nil || tasks == nil {
		return false
	}
	select {
	case r.moved <- struct{}{}:
	default: // it was asked before
	}
	return true
}

// Plan reads the request and analyses its command; see [capability.Capability].
func (c *Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	if scope.Shell == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "there is no session that could run commands")
	}
	p := &plan{c: c, scope: scope}
	if err := decode(req, &p.args); err != nil {
		return nil, err
	}
	if err := p.guard(); err != nil {
		return nil, err
	}
	return p, nil
}

// decode reads arguments strictly: what is not understood would run as something else
// than was meant.
func decode(req abi.Request, args *abi.ShellArgs) error {
	if !utf8.Valid(req.Args) {
		return abi.Errorf(abi.CodeInvalidInput, "the arguments of %s are not UTF-8", req.Name)
	}
	d := json.NewDecoder(bytes.NewReader(req.Args))
	d.DisallowUnknownFields()
	err := d.Decode(args)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("there is more behind them")
		}
	}
	if err != nil {
		return abi.Errorf(abi.CodeInvalidInput, "the arguments of %s: %w", req.Name, err)
	}
	return nil
}

// plan is a command that is understood and does not run yet.
type plan struct {
	c     *Capability
	scope capability.Scope
	args  abi.ShellArgs
	// program is the shell that it is for, and command what is known of it; nothing is
	// of one for PowerShell.
	program string
	command permissions.Command
}

var _ capability.Runner = (*plan)(nil)

// Shell is the one that the command is for.
func (p *plan) Shell() string { return cmp.Or(p.args.Shell, abi.ShellBash) }

// LeavesSandbox reports whether it is to run outside of the sandbox.
func (p *plan) LeavesSandbox() bool { return p.args.Unsandboxed }

// Accesses names the command.
func (p *plan) Accesses() []permissions.Access {
	return []permissions.Access{{Kind: permissions.AccessExec, Target: p.args.Command}}
}

// Close does nothing: nothing is held before the command runs.
func (*plan) Close() error { return nil }

// timeout is how long the command may take.
func (p *plan) timeout() time.Duration {
	if p.args.Timeout == 0 {
		return p.c.opts.Time.Default
	}
	// Compared in milliseconds, as what a call asks for may be any number.
	return time.Duration(min(p.args.Timeout, p.c.opts.Time.Max.Milliseconds())) * time.Millisecond
}

// Do runs the command. It returns when nothing of it is left, when it goes on in the
// background, or, where its end does not come, soon after it was told to end.
func (p *plan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	if p.scope.Rehearse {
		return abi.Answer{}, abi.Errorf(abi.CodeUnsupported, "what a command would do cannot be shown without running it")
	}
	r, err := p.start(ctx)
	if err != nil {
		return abi.Answer{}, err
	}
	if p.args.Background {
		return r.begin()
	}
	p.c.enter(r)
	defer p.c.leave(r)
	return r.follow(ctx)
}

// waiting is what the run is found by.
func (r *run) waiting() waiting { return waiting{r.scope.Tasks, r.scope.Call.ID} }

func (c *Capability) enter(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[r.waiting()] = r
}

func (c *Capability) leave(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[r.waiting()] == r {
		delete(c.running, r.waiting())
	}
}
