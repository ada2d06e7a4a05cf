package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/capability/shell"
	"github.com/toolquay/toolquay/host/internal/gate"
	"github.com/toolquay/toolquay/host/process"
	"github.com/toolquay/toolquay/host/sandbox"
	"github.com/toolquay/toolquay/internal/tempdir"
	"github.com/toolquay/toolquay/permissions"
)

// Shell says how commands are run, those of the tools Bash and PowerShell and of
// plugins that declare shell.run. The zero value confines them to a sandbox where there
// is one, with no network and an empty environment; it asks of the program that it
// calls [process.Main].
type Shell struct {
	// Keeper starts a program that calls [process.Main] first thing; empty is this
	// program, which must have called it. Bridge and Confine are as in
	// [sandbox.Options].
	Keeper, Bridge, Confine []string
	// State is a directory for what must be tidied up after a crash, the same for all
	// hosts of a user. Empty is one that goes with the host: then what a crash leaves,
	// such as an empty .git/hooks, stays.
	State string

	// Environ is an environment of which commands get the usual part, such as PATH and
	// HOME, and what Environment names beyond that, by globs. Nothing is taken from this
	// process's own.
	Environ, Environment []string

	// Sandbox says when commands are confined; empty is where that is possible.
	Sandbox sandbox.Mode
	// Network is what of it confined commands reach, empty is nothing, and Hosts are
	// those of [sandbox.NetworkHosts], beyond what rules on WebFetch allow: names, or
	// *.NAME for what is below one.
	Network sandbox.Network
	Hosts   []string
	// Writable are directories that confined commands may write in, beyond the
	// session's own. UnixSockets lets them make Unix sockets.
	Writable    []string
	UnixSockets bool
	// Limits bound what one command uses.
	Limits process.Limits

	// Bash and PowerShell are the programs, absolute; empty ones are looked for where a
	// system keeps its programs.
	Bash, PowerShell string
	// Timeout, MaxTimeout, Budget, AtLimit and MaxOutput are as in [shell.Options].
	Timeout, MaxTimeout, Budget time.Duration
	AtLimit                     shell.AtLimit
	MaxOutput                   int64
	// MaxBackground is how many tasks of a session may run in the background at once; 0
	// is [tasks.DefaultMaxRunning]. Where it is negative none may: commands end at their
	// time limit, and models are not told of what is for tasks.
	MaxBackground int
}

// reaches reports whether the operator lets commands reach a host that no rule allows.
// What a rule holds back stays so.
func (o *Shell) reaches(policy *permissions.Policy, tool, host string) bool {
	h := permissions.HostOf(host)
	if h.Odd != "" || h.Local || policy.HoldsBackHost(tool, host) {
		return false
	}
	return slices.ContainsFunc(o.Hosts, func(pattern string) bool {
		parent, below := strings.CutPrefix(strings.ToLower(pattern), "*")
		return below && strings.HasSuffix(h.Name, parent) || strings.EqualFold(pattern, h.Name)
	})
}

// commands runs the commands of all sessions. What it takes is made when the first one
// is to run.
type commands struct {
	options *Options

	mu     sync.Mutex
	closed bool
	// works is what is there, or being made; nil until it is needed. Former is what was
	// there as long as no sandbox was found: commands may run by it still.
	works  *works
	former []*works

	environments environments

	powerShellOnce sync.Once
	noPowerShell   error // why there is none
}

var _ capability.Capability = (*commands)(nil)

// Names lists the one operation.
func (*commands) Names() []string { return []string{abi.CapShellRun} }

// Plan reads a request to run a command; see [capability.Capability].
func (c *commands) Plan(ctx context.Context, scope capability.Scope, req abi.Request) (capability.Plan, error) {
	w, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	if own, ok := scope.Shell.(*commander); ok {
		scope.Cwd = own.cwd()
		if !own.gate.call.session().backgrounds() {
			scope.Tasks = nil // what there is of them can be read, and no more
		}
	}
	return w.runner.Plan(ctx, scope, req)
}

// works are what commands are run by. Ready is closed when all of it is set.
type works struct {
	ready   chan struct{}
	err     error // why there is nothing else
	keepers *process.Keepers
	runner  *shell.Capability
	box     *sandbox.Sandbox // nil confines nothing
	// state is the directory of the sandbox's that goes with the host, if it does.
	state *tempdir.Dir
	// again is when a sandbox is looked for once more, and pause how long after that
	// the next time; both are zero where there is one, or none is wanted.
	again time.Time
	pause time.Duration
}

// A sandbox that was wanted and not found is looked for again, more and more seldom: the
// machine may only have been too busy, or somebody installs what is missing.
const (
	firstPause = 15 * time.Second
	lastPause  = 10 * time.Minute
)

// due reports whether it is time to look for a sandbox again. What is being made is not.
func (w *works) due(now time.Time) bool {
	select {
	case <-w.ready:
		return !w.again.IsZero() && now.After(w.again)
	default:
		return false
	}
}

// open makes what commands are run by, the first time. Looking for a sandbox takes as
// long as starting some processes, so nobody holds a lock meanwhile, and a call that is
// over does not wait for it.
func (c *commands) open(ctx context.Context) (*works, error) {
	w, err := c.opening() //nolint:contextcheck // it is made for all calls, whichever comes first
	if err != nil {
		return nil, err
	}
	select {
	case <-w.ready:
		return w, w.err
	case <-ctx.Done():
		return nil, gate.Cancelled(ctx)
	}
}

// opening begins to make it, unless somebody did.
func (c *commands) opening() (*works, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, abi.Errorf(abi.CodeCancelled, "the host: %w", ErrClosed)
	}
	if old := c.works; old == nil || old.due(time.Now()) {
		w := &works{ready: make(chan struct{}), pause: firstPause}
		if old != nil {
			w.pause = min(2*old.pause, lastPause)
			c.former = append(c.former, old)
		}
		c.works = w
		go func() {
			defer close(w.ready)
			switch w.err = w.make(c.options, old); {
			case w.err != nil:
				c.forget(w)
			case old != nil && w.runner == old.runner:
				c.replaced(old)
			}
		}()
	}
	return c.works, nil
}

// forget has the next command try again: by then somebody may have installed what is
// missing.
func (c *commands) forget(w *works) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.works == w {
		c.works = nil
	}
}

// replaced lets go of what the next one has taken over.
func (c *commands) replaced(old *works) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.former = slices.DeleteFunc(c.former, func(w *works) bool { return w == old })
}

// make looks for the sandbox and sets everything up, or, where there is none still,
// takes over what there was.
func (w *works) make(all *Options, old *works) (err error) {
	o, mode := all.Shell, cmp.Or(all.Shell.Sandbox, sandbox.WhenAvailable)
	keepers := process.New(process.Options{Command: o.Keeper, Logger: all.Logger})
	defer func() {
		if w.keepers != keepers {
			err = errors.Join(err, keepers.Close())
		}
	}()
	options := o.sandboxOptions(all.Home)
	options.Keepers = keepers
	var report sandbox.Report
	if mode != sandbox.Off {
		if options.State == "" && old != nil {
			w.state = old.state
		}
		if options.State == "" && w.state == nil {
			if w.state, err = tempdir.Make(); err != nil {
				return abi.Errorf(abi.CodeIO, "a directory for the sandbox of commands: %w", err)
			}
		}
		if w.state != nil {
			options.State = sandbox.StateIn(w.state.Path)
		}
		w.box, report = sandbox.Find(context.Background(), options)
	}
	// What killed processes left: what owes something does so no more where a sandbox was
	// found. Hosts that run no command are spared the look through all temporary files.
	tempdir.Sweep(context.Background(), all.Logger, sandbox.Owes)
	_, warning, err := sandbox.Choose(mode, report) // a sandbox that there is, is used
	if err != nil {
		return abi.Errorf(abi.CodeDenied, "%w", errors.Join(err, w.letGo()))
	}
	if warning != "" {
		w.again = time.Now().Add(w.pause)
		all.Logger.Warn("no command is confined", "reason", warning, "looking_again_in", w.pause)
	}
	if w.box == nil && old != nil {
		w.keepers, w.runner = old.keepers, old.runner
		return nil
	}
	if w.box != nil && old != nil {
		all.Logger.Info("commands are confined from now on", "sandbox", report.String())
	}
	w.keepers = keepers
	w.runner = shell.New(shell.Options{
		Keepers: w.keepers, Mode: mode, Sandbox: w.box, Missing: warning, Network: o.Network, UnixSockets: o.UnixSockets,
		Bash: o.Bash, PowerShell: o.PowerShell, Timeout: o.Timeout, MaxTimeout: o.MaxTimeout,
		Budget: o.Budget, AtLimit: o.AtLimit, MaxOutput: o.MaxOutput, Limits: o.Limits, Logger: all.Logger,
	})
	return nil
}

// letGo closes the sandbox, if there is one.
func (w *works) letGo() error {
	var err error
	if w.box != nil {
		err = w.box.Close()
	}
	if w.state != nil {
		err = errors.Join(err, w.state.Close())
	}
	return err
}

func (o *Shell) sandboxOptions(home string) sandbox.Options {
	return sandbox.Options{State: o.State, Home: home, Bridge: o.Bridge, Confine: o.Confine, Limits: o.Limits}
}

// refuses says why a built-in tool that has to do with commands is not offered, or nil.
func (c *commands) refuses(t tool) error {
	switch {
	case !builtIn(t):
		return nil
	case t.contract().Name != powerShell:
		return nil
	}
	c.powerShellOnce.Do(func() { c.noPowerShell = shell.LookForPowerShell(c.options.Shell.PowerShell) })
	if c.noPowerShell != nil {
		return abi.Errorf(abi.CodeDisabled, "there is no PowerShell here: %w", c.noPowerShell)
	}
	return nil
}

// refusesTasks says why a built-in tool that is for background tasks is not offered where
// no more of them begin, or nil: those that the session had can be read.
func (s *Session) refusesTasks(t tool) error {
	_, reads := t.declares(abi.CapTaskOutput)
	_, stops := t.declares(abi.CapTaskStop)
	if !builtIn(t) || !reads && !stops || s.backgrounds() {
		return nil
	}
	if reads && len(s.Tasks()) > 0 {
		return nil
	}
	return abi.Errorf(abi.CodeDisabled, "nothing runs in the background here, so there is nothing for %s", t.contract().Name)
}

// background moves the command that a call of a session waits for to the background.
func (c *commands) background(tasks capability.Tasks, callID string) bool {
	for _, w := range c.all() {
		select {
		case <-w.ready:
			if w.runner != nil && w.runner.Background(tasks, callID) {
				return true
			}
		default: // nothing runs by it yet
		}
	}
	return false
}

// all is what commands are run by, and were.
func (c *commands) all() []*works {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.works == nil {
		return slices.Clone(c.former)
	}
	return append(slices.Clone(c.former), c.works)
}

// close ends all that runs.
func (c *commands) close() error {
	c.mu.Lock()
	closed := c.closed
	c.closed = true
	c.mu.Unlock()
	if closed {
		return nil
	}
	if last := c.all(); len(last) > 0 {
		<-last[len(last)-1].ready // what came before it is
	}
	var errs []error
	for _, w := range c.all() { // by now none of them is of another
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}

// close ends all that runs. The sandbox goes last: what it put on the disk for
// commands is removed when they are gone.
func (w *works) close() error {
	if w.runner == nil {
		return nil // making it failed, which the command was told
	}
	return errors.Join(w.runner.Close(), w.keepers.Close(), w.letGo())
}

// Confinement says what this machine offers to confine commands with, for people.
func (o *Shell) Confinement(ctx context.Context, home string) sandbox.Report {
	options := o.sandboxOptions(home)
	options.Keepers = process.New(process.Options{Command: o.Keeper})
	defer func() { _ = options.Keepers.Close() }() // they have nothing left
	_, report := sandbox.Find(ctx, options)
	return report
}
