package config

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/toolquay/toolquay/host"
	"github.com/toolquay/toolquay/host/internal/shell"
	"github.com/toolquay/toolquay/host/internal/shell/process"
	"github.com/toolquay/toolquay/host/internal/shell/sandbox"
	"github.com/toolquay/toolquay/permissions"
	"github.com/toolquay/toolquay/permissions/settings"
)

// The variables that set the time limits of commands, in milliseconds. They override
// settings, but not the maximum of a policy.
const (
	defaultTimeoutVariable = "BASH_DEFAULT_TIMEOUT_MS"
	maxTimeoutVariable     = "BASH_MAX_TIMEOUT_MS"
)

// shellOf is how the user's commands run, from settings and an environment.
func shellOf(dirs Dirs, l *settings.Loaded, environ []string) (*host.Shell, error) {
	s, b := &l.Shell, &l.Sandbox
	o := &host.Shell{
		Optional: true, // calls that run no command still work
		Sandbox: host.SandboxOptions{
			State:    dirs.sandboxes(),
			Mode:     sandbox.Mode(b.Mode.Value),
			Network:  sandbox.Network(cmp.Or(b.Network.Value, settings.DefaultNetwork)),
			Hosts:    b.Hosts.Value,
			Writable: b.Writable.Value,
			Caches:   dirs.layers(),
			Unasked:  permissions.Unasked(b.Unasked.Value),

			Contained: permissions.Contained(b.Contained.Value),
		},
		SettingsFile: dirs.Settings(),

		Environ:     environ,
		Environment: s.Environment.Value,
		Limits: process.Limits{
			Processes: cmp.Or(b.MaxProcesses.Value, settings.DefaultMaxProcesses),
			Memory:    int64(cmp.Or(b.MaxMemory.Value, settings.DefaultMaxMemory)),
			OpenFiles: uint64(cmp.Or(b.MaxOpenFiles.Value, settings.DefaultMaxOpenFiles)),
		},
		Time: host.CommandTime{
			Budget:  s.Budget.Value,
			AtLimit: shell.AtLimit(s.AtLimit.Value),
		},
		MaxOutput:     int64(cmp.Or(s.MaxOutput.Value, settings.DefaultMaxOutput)),
		MaxBackground: backgroundOf(s.MaxBackground),
	}
	var errs [3]error
	o.Bash, errs[0] = programOf("shell.bash", s.Bash.Value)
	o.PowerShell, errs[1] = programOf("shell.powershell", s.PowerShell.Value)
	errs[2] = limitTime(o, s, environ)
	return o, errors.Join(errs[:]...)
}

// backgroundOf is the maximum of background tasks. The setting 0 means none, which the
// option says with a negative number.
func backgroundOf(most settings.Key[int]) int {
	if most.Set && most.Value == 0 {
		return -1
	}
	return most.Value
}

// limitTime sets the default and the maximum time limit. The maximum of the settings
// bounds their default; a variable with a higher default raises the maximum to it.
func limitTime(o *host.Shell, s *settings.Shell, environ []string) error {
	o.Time.Max = cmp.Or(s.MaxTimeout.Value, settings.DefaultMaxShellTimeout)
	o.Time.Default = min(cmp.Or(s.DefaultTimeout.Value, settings.DefaultShellTimeout), o.Time.Max)
	usual, err := milliseconds(environ, defaultTimeoutVariable)
	if err != nil {
		return err
	}
	most, err := milliseconds(environ, maxTimeoutVariable)
	if err != nil {
		return err
	}
	o.Time.Default = cmp.Or(usual, o.Time.Default)
	o.Time.Max = max(cmp.Or(most, o.Time.Max), o.Time.Default)
	if s.MaxTimeout.Set && s.MaxTimeout.Source.Kind == permissions.SourcePolicy {
		o.Time.Max = min(o.Time.Max, s.MaxTimeout.Value)
		o.Time.Default = min(o.Time.Default, o.Time.Max)
	}
	return nil
}

// milliseconds is the value of a variable, 0 if it is not set.
func milliseconds(environ []string, variable string) (time.Duration, error) {
	for _, setting := range environ {
		text, ok := strings.CutPrefix(setting, variable+"=")
		if !ok || text == "" {
			continue
		}
		ms, err := strconv.ParseInt(text, 10, 32)
		if err != nil || ms <= 0 {
			return 0, fmt.Errorf("the variable %s is %q; write a number of milliseconds, such as 120000", variable, text)
		}
		return time.Duration(ms) * time.Millisecond, nil
	}
	return 0, nil
}

// programOf is the path of the program that a setting names. It is empty for the usual one.
func programOf(setting, program string) (string, error) {
	if program == "" || filepath.IsAbs(program) {
		return program, nil
	}
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("%s = %q: %w", setting, program, err)
	}
	return path, nil
}
