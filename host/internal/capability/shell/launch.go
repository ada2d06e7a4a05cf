package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/sandbox"
	"github.com/toolquay/toolquay/host/internal/warm"
	analysis "github.com/toolquay/toolquay/internal/shell"
)

// child is a command that runs, below a keeper or in a shell that was kept ready.
type child interface {
	// Done is closed when its first process ended, and Gone when nothing is left.
	Done() <-chan struct{}
	Gone() <-chan struct{}
	Status() process.Status
	// Stop asks it to end, and ends it after the time of grace.
	Stop(grace time.Duration)
}

// launch is a command on its way to run, and what must be let go of after it.
type launch struct {
	p      *plan
	policy capability.SandboxPolicy
	report *report
	out    *output
	// command is what is to run, as spec says where it is confined.
	command process.Command
	spec    sandbox.Spec
	// box is the sandbox it runs in, and replaced says what was lost from that.
	box      *sandbox.Wrapped
	replaced atomic.Pointer[string]
	// dir is where the shell was at its end, if that is known otherwise than by the
	// report; it is set when the command is gone.
	dir string
	// failed is why the command did not run after all; it is set as dir is.
	failed error
	after  []func() error
	// denied are the hosts that it asked for and that no rule allows.
	denied denials
	// late is what was given up while it started, and may need what was made for it
	// until it is gone.
	late *process.Process
}

// start runs the command one way or the other.
func (l *launch) start(ctx context.Context) (child, error) {
	if l.p.c.pool != nil && l.p.readOnly() && warm.Fit(l.p.args.Command) {
		return l.warmly(ctx), nil
	}
	return l.cold(ctx)
}

// cold runs the command in a process, and where it is to be in a sandbox, of its own.
func (l *launch) cold(ctx context.Context) (child, error) {
	if err := l.out.connect(); err != nil {
		return nil, err
	}
	defer l.out.started()
	stdout, stderr := l.out.writers()
	l.command = process.Command{
		Path: l.p.program, Args: l.argv(), Env: l.environment(), Dir: l.p.scope.Cwd,
		Files: []*os.File{nil, stdout, stderr}, Limits: l.p.c.opts.Limits,
	}
	if err := l.prepare(ctx); err != nil {
		return nil, err
	}
	p, err := l.confine(ctx)
	if errors.Is(err, sandbox.ErrChanged) { // as it may by what nobody meant
		p, err = l.confine(ctx)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// confine starts the command, in a sandbox where it is to be in one.
func (l *launch) confine(ctx context.Context) (*process.Process, error) {
	command, release, err := l.wrap(ctx)
	if err != nil {
		return nil, err
	}
	p, err := l.p.c.opts.Keepers.Start(ctx, command)
	if err != nil {
		l.late = p
		return nil, l.explain(ctx, err)
	}
	if err := release(ctx, p.Pid()); err != nil {
		p.Stop(0)
		if ctx.Err() != nil {
			l.late = p
			return nil, givenUp(ctx)
		}
		<-p.Gone()
		return nil, l.unconfined(err)
	}
	l.guard(p) //nolint:contextcheck // it lasts as long as the command
	return p, nil
}

// unconfined is the error of a command whose sandbox did not come to be as it was asked
// for, with what bubblewrap said where it made none.
func (l *launch) unconfined(err error) error {
	if !errors.Is(err, sandbox.ErrUnmade) {
		return abi.Errorf(abi.CodeIO, "the command was not run: %w", err)
	}
	l.out.finish()
	said, _ := l.out.all.ends(1 << 10)
	if text := strings.TrimSpace(string(said)); text != "" {
		err = fmt.Errorf("%w; it said %q", err, text)
	}
	return abi.Errorf(abi.CodeIO, "the command could not be confined, so its result does not count: %w", err)
}

// argv is the shell with the command, byte for byte.
func (l *launch) argv() []string {
	if l.p.isPowerShell() {
		return powerShellArgs(l.p.program, l.p.args.Command)
	}
	return []string{l.p.program, "-c", l.p.args.Command}
}

// environment is the session's, and where the shell stands.
func (l *launch) environment() []string {
	restrained := l.p.command.Restrained
	env := l.p.scope.Shell.Environment(restrained)
	if restrained {
		env = slices.DeleteFunc(env, func(setting string) bool { return !analysis.Needs(&l.p.command, setting) })
		env = searching(env, l.unsafe())
	} else {
		env = append(env, analysis.Functions(&l.p.command)...)
	}
	return append(l.withTemp(env), "PWD="+l.p.scope.Cwd)
}

// withTemp names the session's folder for temporary files by its own path, by which other
// tools find what is in it; /tmp is another place for them. Outside of a sandbox the user
// may have named another one.
func (l *launch) withTemp(env []string) []string {
	const name = "TMPDIR="
	isIt := func(setting string) bool { return strings.HasPrefix(setting, name) }
	if slices.ContainsFunc(env, isIt) && !l.p.confined() {
		return env
	}
	return append(slices.DeleteFunc(env, isIt), name+l.policy.Temp)
}

// explain says what a failure to start means.
func (l *launch) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return givenUp(ctx)
	}
	if info, failed := os.Stat(l.p.scope.Cwd); failed != nil || !info.IsDir() {
		return abi.Errorf(abi.CodeNotFound, "the session's directory %s is gone, so no command can run there: %w", l.p.scope.Cwd, err)
	}
	if code := abi.CodeOf(err); code != abi.CodeInternal {
		return abi.Errorf(code, "the command could not be started: %w", err)
	}
	return abi.Errorf(abi.CodeIO, "the command could not be started: %w", err)
}

// undo calls f when nothing of a command that did not start can be left: now, or behind
// the call where that was given up.
func (l *launch) undo(f func()) {
	if l.late == nil {
		f()
		return
	}
	go func() {
		<-l.late.Gone()
		f()
	}()
}

// close lets go of what the command needed to run, the last first.
func (l *launch) close() {
	for _, f := range slices.Backward(l.after) {
		if err := f(); err != nil {
			l.p.c.opts.Logger.Warn("something of a command that ended was left behind", "call", l.p.scope.Call.ID, "error", err)
		}
	}
}
