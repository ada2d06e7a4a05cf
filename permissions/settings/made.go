package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/toolquay/toolquay/permissions"
)

// Made is one setting of the tables of how calls run, for people to see.
type Made struct {
	// Text is like "scheduler.max_calls = 20", with all that does not print escaped.
	Text   string
	Source permissions.Source
}

// String returns "scheduler.max_calls = 20 (user, .../settings.toml:3)".
func (m Made) String() string { return fmt.Sprintf("%s (%s)", m.Text, m.Source) }

// Made are the settings of these tables that count, each with where it stands. What is
// not among them is as usual.
func (l *Loaded) Made() []Made {
	out := made(&l.Results, &l.Scheduler, &l.Tools)
	addTo(&out, "sessions.directory", l.Sessions.Directory)
	addTo(&out, "sessions.keep", l.Sessions.Keep)
	addTo(&out, "sessions.history", l.Sessions.History)
	addTo(&out, "sessions.history_keep", l.Sessions.HistoryKeep)
	addTo(&out, "sessions.history_max", l.Sessions.HistoryMax)
	addTo(&out, "telemetry.endpoint", l.Telemetry.Endpoint)
	for _, name := range slices.Sorted(maps.Keys(l.Telemetry.Headers.Value)) {
		variable := Key[string]{l.Telemetry.Headers.Value[name], true, l.Telemetry.Headers.Source}
		addTo(&out, "telemetry.headers."+name, variable)
	}
	addTo(&out, "telemetry.content", l.Telemetry.Content)
	return append(out, l.madeOfCommands()...)
}

// madeOfCommands are the settings of how commands run and what they are kept from.
func (l *Loaded) madeOfCommands() []Made {
	var out []Made
	shell, sandbox := &l.Shell, &l.Sandbox
	addTo(&out, "shell.default_timeout", shell.DefaultTimeout)
	addTo(&out, "shell.max_timeout", shell.MaxTimeout)
	addTo(&out, "shell.budget", shell.Budget)
	addTo(&out, "shell.at_limit", shell.AtLimit)
	addTo(&out, "shell.environment", shell.Environment)
	addTo(&out, "shell.max_background", shell.MaxBackground)
	addTo(&out, "shell.max_output", shell.MaxOutput)
	addTo(&out, "shell.bash", shell.Bash)
	addTo(&out, "shell.powershell", shell.PowerShell)
	addTo(&out, "sandbox.mode", sandbox.Mode)
	addTo(&out, "sandbox.network", sandbox.Network)
	addTo(&out, "sandbox.hosts", sandbox.Hosts)
	addTo(&out, "sandbox.writable", sandbox.Writable)
	addTo(&out, "sandbox.max_processes", sandbox.MaxProcesses)
	addTo(&out, "sandbox.max_memory", sandbox.MaxMemory)
	addTo(&out, "sandbox.max_open_files", sandbox.MaxOpenFiles)
	return out
}

// made are the settings in the tables that a project may have.
func made(r *Results, s *Scheduler, t *Tools) []Made {
	var out []Made
	addTo(&out, "results.max_chars", r.MaxChars)
	addTo(&out, "results.max_turn_chars", r.MaxTurnChars)
	addTo(&out, "results.strategy", r.Strategy)
	addTo(&out, "results.duplicates", r.Duplicates)
	for _, name := range slices.Sorted(maps.Keys(r.Tools)) {
		addTo(&out, "results.tools."+name+".max_chars", r.Tools[name].MaxChars)
		addTo(&out, "results.tools."+name+".strategy", r.Tools[name].Strategy)
	}
	addTo(&out, "scheduler.mode", s.Mode)
	addTo(&out, "scheduler.max_concurrent", s.MaxConcurrent)
	addTo(&out, "scheduler.max_calls", s.MaxCalls)
	addTo(&out, "scheduler.max_per_plugin", s.MaxPerPlugin)
	addTo(&out, "scheduler.cascade", s.Cascade)
	addTo(&out, "tools.preset", t.Preset)
	addTo(&out, "tools.only", t.Only)
	addTo(&out, "tools.defer", t.Defer)
	addTo(&out, "tools.defer_over_tools", t.DeferOverTools)
	addTo(&out, "tools.defer_over_chars", t.DeferOverChars)
	return out
}

// addTo adds a setting, if it was made.
func addTo[T any](list *[]Made, key string, k Key[T]) {
	if !k.Set {
		return
	}
	value := fmt.Sprint(k.Value)
	if value == strconv.Itoa(Unlimited) {
		value = unlimited
	}
	*list = append(*list, Made{printable(key + " = " + value), k.Source})
}
