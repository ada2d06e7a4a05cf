package settings

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolquay/toolquay/permissions"
)

func resultsOf(p *parser) Results {
	in := &p.in.Results
	out := Results{
		MaxChars:     p.chars("results.max_chars", in.MaxChars),
		MaxTurnChars: p.chars("results.max_turn_chars", in.MaxTurnChars),
		Strategy:     strategyOf(p, "results.strategy", in.Strategy),
		Duplicates:   keyOf(p, "results.duplicates", in.Duplicates),
	}
	for _, name := range slices.Sorted(maps.Keys(in.Tools)) {
		key := "results.tools." + name
		if !toolName().MatchString(name) {
			p.fault("results.tools."+strconv.Quote(name), "this is no name of a tool")
			continue
		}
		if out.Tools == nil {
			out.Tools = make(map[string]ToolResults)
		}
		out.Tools[name] = ToolResults{
			MaxChars: p.chars(key+".max_chars", in.Tools[name].MaxChars),
			Strategy: strategyOf(p, key+".strategy", in.Tools[name].Strategy),
		}
	}
	return out
}

// toolName is the name of a tool, those of MCP servers included.
var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

func strategyOf(p *parser, key, value string) Key[string] {
	p.oneOf(key, value, PreviewStart, PreviewEnd, PreviewBoth)
	return keyOf(p, key, value)
}

func schedulerOf(p *parser) Scheduler {
	in := &p.in.Scheduler
	p.oneOf("scheduler.mode", in.Mode, ByLocks, ByBatch)
	p.oneOf("scheduler.cascade", in.Cascade, CascadeBatch, CascadeTurn, CascadeOff)
	return Scheduler{
		Mode:          keyOf(p, "scheduler.mode", in.Mode),
		MaxConcurrent: p.count("scheduler.max_concurrent", in.MaxConcurrent, MaxConcurrent),
		MaxCalls:      p.count("scheduler.max_calls", in.MaxCalls, maxBound),
		MaxPerPlugin:  p.count("scheduler.max_per_plugin", in.MaxPerPlugin, maxBound),
		Cascade:       keyOf(p, "scheduler.cascade", in.Cascade),
	}
}

func tasksOf(p *parser) Tasks {
	kind := p.in.Tasks.Kind
	p.oneOf("tasks.kind", kind, KindTasks, KindTodo)
	return Tasks{Kind: keyOf(p, "tasks.kind", kind)}
}

func toolsOf(p *parser) Tools {
	in := &p.in.Tools
	p.oneOf("tools.preset", in.Preset, PresetFull, PresetMinimal)
	p.oneOf("tools.defer", in.Defer, DeferAuto, DeferAlways, DeferNever)
	if p.doc.Has("tools.preset") && p.doc.Has("tools.only") {
		p.fault("tools.only", "there is a preset too; write one of the two")
	}
	if p.doc.Has("tools.only") && len(in.Only) == 0 {
		p.fault("tools.only", "it names no tool; write those that are to be offered, or deny the others")
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"tools.only", in.Only}, {"tools.also", in.Also}} {
		for i, name := range list.names {
			if !toolName().MatchString(name) {
				p.fault(fmt.Sprintf("%s[%d]", list.key, i), "%.40q is no name of a tool", name)
			}
		}
	}
	return Tools{
		Preset:         keyOf(p, "tools.preset", in.Preset),
		Only:           keyOf(p, "tools.only", in.Only),
		Also:           keyOf(p, "tools.also", in.Also),
		Defer:          keyOf(p, "tools.defer", in.Defer),
		DeferOverTools: p.count("tools.defer_over_tools", in.DeferOverTools, maxBound),
		DeferOverChars: p.count("tools.defer_over_chars", in.DeferOverChars, maxBound),
	}
}

func sessionsOf(p *parser) Sessions {
	in := &p.in.Sessions
	p.directory("sessions.directory", in.Directory)
	keep := p.span("sessions.keep", duration(in.Keep), 0, maxKeep)
	historyKeep := p.span("sessions.history_keep", duration(in.HistoryKeep), 0, maxKeep)
	for i, name := range in.HistoryExcept {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\*\x00") {
			p.fault(fmt.Sprintf("sessions.history_except[%d]", i), "%.40q is not the name of a directory: write a name without slashes, such as node_modules", name)
		}
	}
	return Sessions{
		Directory:     keyOf(p, "sessions.directory", in.Directory),
		Keep:          keyOf(p, "sessions.keep", keep),
		History:       keyOf(p, "sessions.history", in.History),
		HistoryKeep:   keyOf(p, "sessions.history_keep", historyKeep),
		HistoryMax:    p.size("sessions.history_max", in.HistoryMax, minHistory, maxHistory),
		HistoryExcept: keyOf(p, "sessions.history_except", in.HistoryExcept),
	}
}

func storageOf(p *parser) Storage {
	in := &p.in.Storage
	keep := p.span("storage.keep", duration(in.Keep), 0, maxKeep)
	return Storage{Keep: keyOf(p, "storage.keep", keep), Max: p.size("storage.max", in.Max, minHistory, maxHistory)}
}

func telemetryOf(p *parser) Telemetry {
	in := &p.in.Telemetry
	checkEndpoint(p, "telemetry.endpoint", in.Endpoint)
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		key := "telemetry.headers." + name
		if !headerName().MatchString(name) {
			p.fault("telemetry.headers."+strconv.Quote(name), "this is no name of an HTTP header")
			continue
		}
		p.secret(key, in.Headers[name], "the header's value")
	}
	if p.doc.Has("telemetry.headers") && !p.doc.Has("telemetry.endpoint") {
		p.fault("telemetry.headers", "they are for the endpoint beside them, and there is none; write endpoint = \"...\"")
	}
	return Telemetry{
		Endpoint: keyOf(p, "telemetry.endpoint", in.Endpoint),
		Headers:  keyOf(p, "telemetry.headers", in.Headers),
		Content:  keyOf(p, "telemetry.content", in.Content),
	}
}

// headerName is a name that stands for itself in TOML and in HTTP.
var headerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// checkEndpoint checks a URL that traces may be sent to. What people run beside them
// is most often without https, so that it is taken wherever it is.
func checkEndpoint(p *parser, key, text string) {
	if !p.doc.Has(key) {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		p.fault(key, "it is no URL such as http://localhost:4318")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		p.fault(key, "it has a user, a query or a fragment; write scheme, host and path only")
	case u.Scheme == "http" && len(p.in.Telemetry.Headers) > 0 && !loopback(u.Hostname()):
		p.fault(key, "it sends the headers in the clear; only this machine itself is sent secrets without https")
	}
}

func shellOf(p *parser) Shell {
	in := &p.in.Shell
	timeout := p.span("shell.default_timeout", in.DefaultTimeout, 0, maxShellTimeout)
	most := p.span("shell.max_timeout", in.MaxTimeout, 0, maxShellTimeout)
	if p.doc.Has("shell.default_timeout") && p.doc.Has("shell.max_timeout") && timeout > most {
		p.fault("shell.max_timeout", "it is less than the default of %v", timeout)
	}
	p.oneOf("shell.at_limit", in.AtLimit, AtLimitBackground, AtLimitKill)
	for i, name := range in.Environment {
		p.variables(fmt.Sprintf("shell.environment[%d]", i), name)
	}
	p.program("shell.bash", in.Bash)
	p.program("shell.powershell", in.PowerShell)
	return Shell{
		DefaultTimeout: keyOf(p, "shell.default_timeout", timeout),
		MaxTimeout:     keyOf(p, "shell.max_timeout", most),
		Budget:         keyOf(p, "shell.budget", p.span("shell.budget", in.Budget, 0, maxShellTimeout)),
		AtLimit:        keyOf(p, "shell.at_limit", in.AtLimit),
		Environment:    keyOf(p, "shell.environment", in.Environment),
		MaxBackground:  p.between("shell.max_background", in.MaxBackground, 0, maxBackground),
		MaxOutput:      p.size("shell.max_output", in.MaxOutput, minOutput, maxOutput),
		Bash:           keyOf(p, "shell.bash", in.Bash),
		PowerShell:     keyOf(p, "shell.powershell", in.PowerShell),
	}
}

func sandboxOf(p *parser) Sandbox {
	in := &p.in.Sandbox
	p.oneOf("sandbox.mode", in.Mode, SandboxOff, SandboxWhenAvailable, SandboxRequired)
	p.oneOf("sandbox.network", in.Network, NetworkOff, NetworkHosts, NetworkAll)
	p.oneOf("sandbox.unasked", in.Unasked, unaskedValues...)
	p.oneOf("sandbox.contained", in.Contained, permissions.ContainedValues()...)
	for i, host := range in.Hosts {
		p.host(fmt.Sprintf("sandbox.hosts[%d]", i), host)
	}
	for i, dir := range in.Writable {
		key := fmt.Sprintf("sandbox.writable[%d]", i)
		p.directory(key, dir)
		if filepath.Clean(dir) == "/" {
			p.fault(key, "it is everything; write mode = \"off\" if there is to be no sandbox")
		}
	}
	return Sandbox{
		Mode:         keyOf(p, "sandbox.mode", in.Mode),
		Network:      keyOf(p, "sandbox.network", in.Network),
		Hosts:        keyOf(p, "sandbox.hosts", in.Hosts),
		Writable:     keyOf(p, "sandbox.writable", in.Writable),
		Outside:      keyOf(p, "sandbox.outside", in.Outside),
		Unasked:      keyOf(p, "sandbox.unasked", in.Unasked),
		Contained:    keyOf(p, "sandbox.contained", in.Contained),
		MaxProcesses: p.between("sandbox.max_processes", in.MaxProcesses, minProcesses, maxBound),
		MaxMemory:    p.size("sandbox.max_memory", in.MaxMemory, minMemory, maxMemory),
		MaxOpenFiles: p.between("sandbox.max_open_files", in.MaxOpenFiles, minOpenFiles, maxOpenMax),
	}
}
