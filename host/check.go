package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/plugins/worker"
	"github.com/toolquay/toolquay/scheduler"
)

// machine answers what a check of options asks about this program and its machine. It starts
// no process, so that opening a host stays quick.
type machine struct {
	supervises func(command []string) error
	works      func() error
	shell      func(name, given string) error
	sandbox    func() error
}

var thisMachine = machine{
	supervises: process.Startable,
	works: func() error {
		if _, err := worker.Self(); errors.Is(err, worker.ErrNotReady) {
			return err
		}
		return nil // a program whose file is not found runs, and refuses plugins that need workers
	},
	shell:   shell.Installed,
	sandbox: func() error { return sandbox.Installed(sandbox.Options{}) },
}

// faults are what is wrong with options.
type faults []error

// add notes a fault of an option.
func (f *faults) add(option, format string, args ...any) {
	*f = append(*f, fmt.Errorf(option+": "+format, args...))
}

// absolute requires a path that is absolute or empty.
func (f *faults) absolute(option, path string) {
	if path != "" && !filepath.IsAbs(path) {
		f.add(option, "%q is not an absolute path; make it one, with filepath.Abs", path)
	}
}

// limit is the value of an option that must not be negative.
type limit struct {
	option string
	value  int64
}

func (f *faults) limits(all ...limit) {
	for _, l := range all {
		if l.value < 0 {
			f.add(l.option, "%d is negative; 0 is the default", l.value)
		}
	}
}

// time requires a duration that is not negative.
func (f *faults) time(option string, d time.Duration) {
	if d < 0 {
		f.add(option, "%v is negative; 0 is the default", d)
	}
}

// oneOf requires one of the values or none.
func oneOf[T ~string](f *faults, option string, value T, values ...T) {
	if value != "" && !slices.Contains(values, value) {
		f.add(option, "%q is unknown; write one of %q", value, values)
	}
}

// check returns everything that is wrong with the options and would otherwise fail at the
// first session, command or isolated plugin.
func (o *Options) check(m *machine) error {
	var f faults
	o.checkPlugins(&f, m)
	o.checkLimits(&f)
	if o.Shell != nil {
		o.Shell.check(&f, m)
	}
	return errors.Join(f...)
}

func (o *Options) checkPlugins(f *faults, m *machine) {
	if o.Plugins.Workers {
		if err := m.works(); err != nil {
			f.add("Options.Plugins.Workers", "%w; call host.Main first in main", err)
		}
	}
	if o.Plugins.Isolate && !o.Plugins.Workers && len(o.Plugins.Isolated) == 0 {
		f.add("Options.Plugins.Isolate", "nothing can isolate plugins; set Options.Plugins.Workers, or Options.Plugins.Isolated to runners that do")
	}
}

func (o *Options) checkLimits(f *faults) {
	f.limits(
		limit{"Options.Limits.MaxConcurrent", int64(o.Limits.MaxConcurrent)},
		limit{"Options.Limits.MaxCalls", int64(o.Limits.MaxCalls)},
		limit{"Options.Limits.MaxPerPlugin", int64(o.Limits.MaxPerPlugin)},
		limit{"Options.Limits.MaxHeldResults", o.Limits.MaxHeldResults},
		limit{"Options.Storage.History", o.Storage.History.MaxBytes},
		limit{"Options.Storage.Max", o.Storage.Max},
	)
	f.time("Options.Limits.CallTimeout", o.Limits.CallTimeout)
	f.time("Options.Limits.ScanTimeout", o.Limits.ScanTimeout)
	f.time("Options.Storage.KeepSessions", o.Storage.KeepSessions)
	f.time("Options.Storage.Keep", o.Storage.Keep)
	f.time("Options.Storage.History", o.Storage.History.MaxAge)
	if j := &o.Permissions.Judge; j.Timeout < 0 || j.MaxConcurrent < 0 || j.MaxQuestions < 0 || j.MaxTokens < 0 {
		f.add("Options.Permissions.Judge", "a limit is negative; 0 is the default")
	}
	if o.Limits.Cascade < scheduler.CascadeBatch || o.Limits.Cascade > scheduler.CascadeOff {
		f.add("Options.Limits.Cascade", "%d is unknown; write one of scheduler.CascadeBatch, CascadeTurn and CascadeOff", o.Limits.Cascade)
	}
	f.absolute("Options.Storage.Sessions", o.Storage.Sessions)
	f.absolute("Options.Storage.Worktrees", o.Storage.Worktrees)
}

func (s *Shell) check(f *faults, m *machine) {
	if err := m.supervises(s.Supervisor); err != nil {
		f.add("Options.Shell", "%w; call host.Main first in main, or set Shell.Supervisor", err)
	}
	if len(s.Supervisor) > 0 && filepath.IsAbs(s.Supervisor[0]) {
		if _, err := os.Stat(s.Supervisor[0]); err != nil {
			f.add("Shell.Supervisor", "%w; name a program that calls host.Main", err)
		}
	}
	oneOf(f, "Shell.Sandbox.Mode", s.Sandbox.Mode, SandboxOff, SandboxWhenAvailable, SandboxRequired)
	oneOf(f, "Shell.Sandbox.Network", s.Sandbox.Network, NetworkOff, NetworkAll, NetworkHosts)
	f.absolute("Shell.Sandbox.State", s.Sandbox.State)
	f.limits(limit{"Shell.MaxOutput", s.MaxOutput})
	s.Time.check(f)
	if !s.Optional {
		s.checkMachine(f, m)
	}
}

func (t *CommandTime) check(f *faults) {
	oneOf(f, "Shell.Time.AtLimit", t.AtLimit, AtLimitBackground, AtLimitKill)
	f.time("Shell.Time.Default", t.Default)
	f.time("Shell.Time.Max", t.Max)
	f.time("Shell.Time.Budget", t.Budget)
}

// checkMachine requires the shells that are named, or any, and a sandbox if one is required.
func (s *Shell) checkMachine(f *faults, m *machine) {
	const remedy = "; install it, or set Shell.Optional to open without"
	bash, power := m.shell(abi.ShellBash, s.Bash), m.shell(abi.ShellPowerShell, s.PowerShell)
	if bash != nil && (s.Bash != "" || power != nil) {
		f.add("Shell.Bash", "%w"+remedy, bash)
	}
	if power != nil && s.PowerShell != "" {
		f.add("Shell.PowerShell", "%w"+remedy, power)
	}
	if s.Sandbox.Mode != SandboxRequired {
		return
	}
	if err := m.sandbox(); err != nil {
		f.add("Shell.Sandbox.Mode", "a sandbox is required: %w"+remedy, err)
	}
}
