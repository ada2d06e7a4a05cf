package commands

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/capability"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/internal/tempdir"
)

// A sandbox that was wanted and not found is looked for again, after longer and longer
// pauses: the machine may have been too busy, or somebody may install what is missing.
const (
	firstPause = 15 * time.Second
	lastPause  = 10 * time.Minute
)

// engine is what commands run by: supervisors, a shell and perhaps a sandbox. Its other
// fields are set when ready is closed.
type engine struct {
	ready       chan struct{}
	err         error // why there is nothing else
	supervisors *process.Supervisors
	shell       *shell.Capability
	sandbox     *sandbox.Sandbox // nil, and one that does not confine, is what there is instead
	// state is the sandbox's directory, if it does not outlive the host.
	state *tempdir.Dir
	// again is when to look for a sandbox once more, and pause how long to wait after that;
	// both are zero where there is a sandbox, or none is wanted.
	again time.Time
	pause time.Duration
}

// succeed begins an engine that is to take the place of another one, if that is not nil.
func succeed(old *engine) *engine {
	e := &engine{ready: make(chan struct{}), pause: firstPause}
	if old != nil {
		e.pause = min(2*old.pause, lastPause)
	}
	return e
}

// isReady reports whether the engine has been made.
func (e *engine) isReady() bool {
	select {
	case <-e.ready:
		return true
	default:
		return false
	}
}

// due reports whether it is time to look for a sandbox again.
func (e *engine) due(now time.Time) bool {
	return e.isReady() && !e.again.IsZero() && now.After(e.again)
}

// make looks for a sandbox and sets everything up. Where there is still no sandbox, it takes
// over what the old engine has.
func (e *engine) make(o *Options, old *engine) (err error) {
	supervisors := process.New(process.Options{Command: o.Supervisor, Logger: o.Logger})
	defer func() {
		if e.supervisors != supervisors {
			err = errors.Join(err, supervisors.Close())
		}
	}()
	report, err := e.findSandbox(o, supervisors, old)
	if err != nil {
		return err
	}
	// Tidy up after processes that were killed. Hosts that run no command need not look through
	// all temporary files.
	tempdir.Sweep(context.Background(), o.Logger)
	_, warning, err := sandbox.Choose(o.Mode, report) // a sandbox that exists is used
	if err != nil {
		return abi.Errorf(abi.CodeDenied, "%w", errors.Join(err, e.closeSandbox()))
	}
	if warning != "" {
		e.again = time.Now().Add(e.pause)
		o.Logger.Warn("no command is confined", "reason", warning, "looking_again_in", e.pause)
	}
	if len(report.Lost) > 0 && old == nil { // once
		o.Logger.Warn("what a sandbox would hold, and the kernel alone does not", "lost", strings.Join(report.Lost, " "))
	}
	if !e.confines() && old != nil {
		e.supervisors, e.shell, e.sandbox = old.supervisors, old.shell, old.sandbox
		return nil
	}
	if e.confines() && old != nil {
		o.Logger.Info("commands are confined from now on", "sandbox", report.String())
	}
	e.supervisors, e.shell = supervisors, shell.New(shell.Options{
		Settings: o.Shell, Supervisors: supervisors, Mode: o.Mode, Sandbox: e.sandbox, Missing: warning, Logger: o.Logger,
	})
	return nil
}

// confines reports whether commands run in a sandbox.
func (e *engine) confines() bool { return e.sandbox != nil && e.sandbox.Confines() }

// findSandbox looks for a sandbox, unless none is wanted.
func (e *engine) findSandbox(o *Options, supervisors *process.Supervisors, old *engine) (report sandbox.Report, err error) {
	if o.Mode == sandbox.Off {
		return report, nil
	}
	options := o.Sandbox
	options.Supervisors = supervisors
	if options.State == "" {
		if old != nil {
			e.state = old.state
		}
		if e.state == nil {
			if e.state, err = tempdir.Make(); err != nil {
				return report, abi.Errorf(abi.CodeIO, "a directory for the sandbox of commands: %w", err)
			}
		}
		options.State = filepath.Join(e.state.Path, "sandbox")
	}
	e.sandbox, report = sandbox.Find(context.Background(), options)
	return report, nil
}

// moveToBackground moves the command that a call waits for to the background.
func (e *engine) moveToBackground(tasks capability.Tasks, callID string) bool {
	return e.isReady() && e.shell != nil && e.shell.Background(tasks, callID)
}

// close ends everything that runs. The sandbox goes last: its files on the disk are removed
// once the commands are gone.
func (e *engine) close() error {
	if e.shell == nil {
		return nil // making it failed, and the command was told so
	}
	return errors.Join(e.shell.Close(), e.supervisors.Close(), e.closeSandbox())
}

// closeSandbox closes the sandbox, if there is one, and removes its directory, if that does not
// outlive the host.
func (e *engine) closeSandbox() error {
	var err error
	if e.sandbox != nil {
		err = e.sandbox.Close()
	}
	if e.state != nil {
		err = errors.Join(err, e.state.Close())
	}
	return err
}

// Examine reports what this machine offers to confine commands with, for people.
func Examine(ctx context.Context, o Options) sandbox.Report {
	options := o.Sandbox
	options.Supervisors = process.New(process.Options{Command: o.Supervisor})
	defer func() { _ = options.Supervisors.Close() }() // nothing of them runs any more
	found, report := sandbox.Find(ctx, options)
	if found == nil {
		return report
	}
	if report.Available && options.State != "" {
		if err := found.TryOverlay(ctx, existing(options.State)); err != nil {
			report.Unstaged = err.Error()
		}
	}
	_ = found.Close() // it was only tried
	return report
}

// existing returns dir, or the nearest directory above it that exists: missing ones will be made there.
func existing(dir string) string {
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
	}
	return dir
}
