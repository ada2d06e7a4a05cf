package shell

import (
	"cmp"
	"context"
	"sync"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/permissions"
)

// Capability answers shell.run. It is safe for concurrent use.
type Capability struct {
	setup *setup
	// running has the commands that calls wait for, as *run by waiting.
	running sync.Map
}

var _ capability.Capability = (*Capability)(nil)

// New returns the capability. It is to be closed.
func New(o Options) *Capability { return &Capability{setup: newSetup(o)} }

// Names lists the one operation.
func (*Capability) Names() []string { return []string{abi.CapShellRun} }

// Close removes what commands needed. The supervisors end the commands that run.
func (c *Capability) Close() error {
	if c.setup.private == nil {
		return nil
	}
	if dir, err := c.setup.private(); err == nil { // else there is nothing to remove
		return dir.Close()
	}
	return nil
}

// waiting is a call that waits for its command. IDs are unique within a session, which its
// tasks identify.
type waiting struct {
	tasks capability.Tasks
	call  string
}

// Background moves the command that a call of a session waits for to the background, because
// a person asked. It reports whether there is such a command. If it cannot become a task, the
// call goes on waiting.
func (c *Capability) Background(tasks capability.Tasks, callID string) bool {
	r, ok := c.running.Load(waiting{tasks, callID})
	if !ok || tasks == nil {
		return false
	}
	select {
	case r.(*run).moved <- struct{}{}: //nolint:errcheck // it holds nothing else
	default: // it was asked before
	}
	return true
}

// Plan reads the request and analyses its command; see [capability.Capability].
func (c *Capability) Plan(_ context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	if scope.Shell == nil {
		return nil, abi.Errorf(abi.CodeUnsupported, "there is no session that could run commands")
	}
	p := &plan{c: c, command: command{setup: c.setup, times: c.setup.Times.now(), scope: scope}}
	if err := decode(req, &p.args); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if err := p.findShell(); err != nil {
		return nil, err
	}
	if c.setup.Mode == sandbox.Required && !c.setup.confines() && !p.args.Unsandboxed {
		return nil, abi.Errorf(abi.CodeUnsupported, "commands must run in a sandbox here, and there is none: %s", c.setup.Missing)
	}
	if err := p.analyse(); err != nil {
		return nil, err
	}
	return p, nil
}

// plan is a command that does not run yet.
type plan struct {
	c *Capability
	command
	refused []string
}

var _ capability.Retrier = (*plan)(nil)

// findShell finds the program of the shell that is asked for.
func (p *plan) findShell() (err error) {
	find, known := p.setup.programs[p.Shell()]
	if !known {
		return abi.Errorf(abi.CodeInvalidInput, "%q is no shell; there are %s and %s", p.args.Shell, abi.ShellBash, abi.ShellPowerShell)
	}
	if p.program, err = find(); err != nil {
		return err
	}
	if !p.isPowerShell() {
		return nil
	}
	if n := len(encoded(p.args.Command)); n > maxCommand {
		return abi.Errorf(abi.CodeInvalidInput, "the command has %d bytes as PowerShell takes it; at most %d are possible, so write it to a file and run that", n, maxCommand)
	}
	return nil
}

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

// Do runs the command. It returns when nothing of it is left, when it goes on in the
// background, or soon after it was told to end.
func (p *plan) Do(ctx context.Context, _ capability.Judge) (abi.Answer, error) {
	if p.scope.Rehearse {
		return abi.Answer{}, abi.Errorf(abi.CodeUnsupported, "what a command would do cannot be shown without running it")
	}
	p.refused = nil
	r, err := start(ctx, &p.command)
	if err != nil {
		return abi.Answer{}, err
	}
	if p.args.Background {
		return r.begin()
	}
	key := waiting{p.scope.Tasks, p.scope.Call.ID}
	p.c.running.Store(key, r)
	defer p.c.running.CompareAndDelete(key, r)
	answer, err := r.follow(ctx)
	if ok, ended := answer.OK.(abi.ShellOK); ended && ok.Task == "" {
		p.refused = r.refused()
	}
	return answer, err
}

// Refused are the hosts that the command was kept from because nothing allows them.
func (p *plan) Refused() []string { return p.refused }
