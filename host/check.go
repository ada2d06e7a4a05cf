package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/host/internal/capability/shell"
	"github.com/toolquay/toolquay/host/internal/process"
	"github.com/toolquay/toolquay/host/internal/sandbox"
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
	if o.Workers {
		if err := m.works(); err != nil {
			f.add("Options.Workers", "%w; call host.Main first in main", err)
		}
	}
	if o.Isolate && !o.Workers && len(o.Isolated) == 0 {
		f.add("Options.Isolate", "nothing can isolate plugins; set Options.Workers, or Options.Isolated to runners that do")
	}
}

func (o *Options) checkLimits(f *faults) {
	f.limits(
		limit{"Options.MaxConcurrent", int64(o.MaxConcurrent)},
		limit{"Options.MaxCalls", int64(o.MaxCalls)},
		limit{"Options.MaxPerPlugin", int64(o.MaxPerPlugin)},
		limit{"Options.MaxHeldResults", o.MaxHeldResults},
		limit{"Options.History", o.History.MaxBytes},
	)
	f.time("Options.CallTimeout", o.CallTimeout)
	f.time("Options.ScanTimeout", o.ScanTimeout)
	f.time("Options.KeepSessions", o.KeepSessions)
	f.time("Options.History", o.History.MaxAge)
	if j := &o.Judge; j.Timeout < 0 || j.MaxConcurrent < 0 || j.MaxQuestions < 0 || j.MaxTokens < 0 {
		f.add("Options.Judge", "a limit is negative; 0 is the default")
	}
	if o.Cascade < scheduler.CascadeBatch || o.Cascade > scheduler.CascadeOff {
		f.add("Options.Cascade", "%d is unknown; write one of scheduler.CascadeBatch, CascadeTurn and CascadeOff", o.Cascade)
	}
	f.absolute("Options.Sessions", o.Sessions)
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
	oneOf(f, "Shell.Sandbox", s.Sandbox, SandboxOff, SandboxWhenAvailable, SandboxRequired)
	oneOf(f, "Shell.Network", s.Network, NetworkOff, NetworkAll, NetworkHosts)
	oneOf(f, "Shell.AtLimit", s.AtLimit, AtLimitBackground, AtLimitKill)
	f.absolute("Shell.State", s.State)
	f.limits(limit{"Shell.MaxOutput", s.MaxOutput})
	f.time("Shell.Timeout", s.Timeout)
	f.time("Shell.MaxTimeout", s.MaxTimeout)
	f.time("Shell.Budget", s.Budget)
	if !s.Optional {
		s.checkMachine(f, m)
	}
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
	if s.Sandbox != SandboxRequired {
		return
	}
	if err := m.sandbox(); err != nil {
		f.add("Shell.Sandbox", "a sandbox is required: %w"+remedy, err)
	}
}
