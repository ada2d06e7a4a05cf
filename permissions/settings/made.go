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
	out := made(&l.Results, &l.Scheduler, &l.Tools, &l.Tasks)
	addTo(&out, "tools.also", l.Tools.Also)
	addTo(&out, "sessions.directory", l.Sessions.Directory)
	addTo(&out, "sessions.keep", l.Sessions.Keep)
	addTo(&out, "sessions.history", l.Sessions.History)
	addTo(&out, "sessions.history_keep", l.Sessions.HistoryKeep)
	addTo(&out, "sessions.history_max", l.Sessions.HistoryMax)
	addTo(&out, "sessions.history_except", l.Sessions.HistoryExcept)
	addTo(&out, "storage.keep", l.Storage.Keep)
	addTo(&out, "storage.max", l.Storage.Max)
	addTo(&out, "log.inputs", l.Log.Inputs)
	addTo(&out, "log.rotate_at", l.Log.RotateAt)
	addTo(&out, "log.rotate_after", l.Log.RotateAfter)
	addTo(&out, "log.keep", l.Log.Keep)
	addTo(&out, "log.max", l.Log.Max)
	addTo(&out, "telemetry.endpoint", l.Telemetry.Endpoint)
	for _, name := range slices.Sorted(maps.Keys(l.Telemetry.Headers.Value)) {
		variable := Key[string]{l.Telemetry.Headers.Value[name], true, l.Telemetry.Headers.Source}
		addTo(&out, "telemetry.headers."+name, variable)
	}
	addTo(&out, "telemetry.content", l.Telemetry.Content)
	addTo(&out, "network.proxy", l.Network.Proxy)
	addTo(&out, "credentials.store", l.Credentials.Store)
	out = append(out, l.PluginConfig.made()...)
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
	addTo(&out, "sandbox.outside", sandbox.Outside)
	addTo(&out, "sandbox.unasked", sandbox.Unasked)
	addTo(&out, "sandbox.contained", sandbox.Contained)
	addTo(&out, "sandbox.max_processes", sandbox.MaxProcesses)
	addTo(&out, "sandbox.max_memory", sandbox.MaxMemory)
	addTo(&out, "sandbox.max_open_files", sandbox.MaxOpenFiles)
	return out
}

// made are the settings in the tables that a project may have.
func made(r *Results, s *Scheduler, t *Tools, w *Tasks) []Made {
	var out []Made
	eachKey(r, s, t, w, func(name string, k anyKey) {
		if m, set := k.made(name); set {
			out = append(out, m)
		}
	})
	return out
}

// eachKey calls do with each setting of these tables, by its name. What do unsets is
// taken out.
func eachKey(r *Results, s *Scheduler, t *Tools, w *Tasks, do func(name string, k anyKey)) {
	do("results.max_chars", &r.MaxChars)
	do("results.max_turn_chars", &r.MaxTurnChars)
	do("results.strategy", &r.Strategy)
	do("results.duplicates", &r.Duplicates)
	for _, name := range slices.Sorted(maps.Keys(r.Tools)) {
		was := r.Tools[name]
		tool := was
		do("results.tools."+name+".max_chars", &tool.MaxChars)
		do("results.tools."+name+".strategy", &tool.Strategy)
		switch {
		case tool == ToolResults{}:
			delete(r.Tools, name)
		case tool != was:
			r.Tools[name] = tool
		}
	}
	do("scheduler.mode", &s.Mode)
	do("scheduler.max_concurrent", &s.MaxConcurrent)
	do("scheduler.max_calls", &s.MaxCalls)
	do("scheduler.max_per_plugin", &s.MaxPerPlugin)
	do("scheduler.cascade", &s.Cascade)
	do("tools.preset", &t.Preset)
	do("tools.only", &t.Only)
	do("tools.defer", &t.Defer)
	do("tools.defer_over_tools", &t.DeferOverTools)
	do("tools.defer_over_chars", &t.DeferOverChars)
	do("tasks.kind", &w.Kind)
}

// anyKey is a setting whatever the type of its value.
type anyKey interface {
	made(name string) (m Made, set bool)
	unset()
}

func (k *Key[T]) made(name string) (m Made, set bool) {
	if !k.Set {
		return Made{}, false
	}
	value := fmt.Sprint(k.Value)
	if value == strconv.Itoa(Unlimited) {
		value = unlimited
	}
	return Made{printable(name + " = " + value), k.Source}, true
}

func (k *Key[T]) unset() { *k = Key[T]{} }

// addTo adds a setting, if it was made.
func addTo[T any](list *[]Made, name string, k Key[T]) {
	if m, set := k.made(name); set {
		*list = append(*list, m)
	}
}

// made are the values, for people to see.
func (c PluginConfig) made() []Made {
	var out []Made
	for _, plugin := range slices.Sorted(maps.Keys(c)) {
		for _, name := range slices.Sorted(maps.Keys(c[plugin])) {
			k := c[plugin][name]
			addTo(&out, "plugins."+keyText(plugin)+"."+keyText(name), Key[string]{string(k.Value), k.Set, k.Source})
		}
	}
	return out
}
