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
)

// tables reads the settings of how calls run and what is told of them.
func (p *parser) tables() {
	f := p.faults.file
	f.Results = p.results()
	f.Scheduler = p.scheduler()
	f.Tools = p.tools()
	f.Sessions = p.sessions()
	f.Telemetry = p.telemetry()
	f.Shell = p.shell()
	f.Sandbox = p.sandbox()
}

func (p *parser) results() Results {
	in := &p.in.Results
	out := Results{
		MaxChars:     p.chars("results.max_chars", in.MaxChars),
		MaxTurnChars: p.chars("results.max_turn_chars", in.MaxTurnChars),
		Strategy:     p.strategy("results.strategy", in.Strategy),
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
			Strategy: p.strategy(key+".strategy", in.Tools[name].Strategy),
		}
	}
	return out
}

// toolName is the name of a tool, those of MCP servers included.
var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

func (p *parser) chars(key string, n chars) Key[int] {
	if n == Unlimited {
		return keyOf(p, key, Unlimited)
	}
	return p.count(key, int(n), maxBound)
}

// count reads a number from 1 to most.
func (p *parser) count(key string, n, most int) Key[int] {
	return p.between(key, n, 1, most)
}

func (p *parser) strategy(key, value string) Key[string] {
	p.oneOf(key, value, PreviewStart, PreviewEnd, PreviewBoth)
	return keyOf(p, key, value)
}

func (p *parser) scheduler() Scheduler {
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

func (p *parser) tools() Tools {
	in := &p.in.Tools
	p.oneOf("tools.preset", in.Preset, PresetFull, PresetMinimal)
	p.oneOf("tools.defer", in.Defer, DeferAuto, DeferAlways, DeferNever)
	if p.doc.Has("tools.preset") && p.doc.Has("tools.only") {
		p.fault("tools.only", "there is a preset too; write one of the two")
	}
	if p.doc.Has("tools.only") && len(in.Only) == 0 {
		p.fault("tools.only", "it names no tool; write those that are to be offered, or deny the others")
	}
	for i, name := range in.Only {
		if !toolName().MatchString(name) {
			p.fault(fmt.Sprintf("tools.only[%d]", i), "%.40q is no name of a tool", name)
		}
	}
	return Tools{
		Preset:         keyOf(p, "tools.preset", in.Preset),
		Only:           keyOf(p, "tools.only", in.Only),
		Defer:          keyOf(p, "tools.defer", in.Defer),
		DeferOverTools: p.count("tools.defer_over_tools", in.DeferOverTools, maxBound),
		DeferOverChars: p.count("tools.defer_over_chars", in.DeferOverChars, maxBound),
	}
}

func (p *parser) sessions() Sessions {
	in := &p.in.Sessions
	p.directory("sessions.directory", in.Directory)
	keep := p.span("sessions.keep", duration(in.Keep), 0, maxKeep)
	historyKeep := p.span("sessions.history_keep", duration(in.HistoryKeep), 0, maxKeep)
	return Sessions{
		Directory:   keyOf(p, "sessions.directory", in.Directory),
		Keep:        keyOf(p, "sessions.keep", keep),
		History:     keyOf(p, "sessions.history", in.History),
		HistoryKeep: keyOf(p, "sessions.history_keep", historyKeep),
		HistoryMax:  p.size("sessions.history_max", in.HistoryMax, minHistory, maxHistory),
	}
}

// directory checks a path that no working directory has a say in.
func (p *parser) directory(key, dir string) {
	switch {
	case !p.doc.Has(key):
	case strings.ContainsRune(dir, 0):
		p.fault(key, "it holds a NUL, which no path can")
	case !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/"):
		p.fault(key, "%.100q is not an absolute path, nor one that begins with ~/", dir)
	}
}

func (p *parser) telemetry() Telemetry {
	in := &p.in.Telemetry
	p.endpoint("telemetry.endpoint", in.Endpoint)
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

// endpoint checks a URL that traces may be sent to. What people run beside them
// is most often without https, so that it is taken wherever it is.
func (p *parser) endpoint(key, text string) {
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
