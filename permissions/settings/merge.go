package settings

import (
	"slices"

	"github.com/toolquay/toolquay/abi"
	"github.com/toolquay/toolquay/permissions"
)

// merge makes one of all files.
func merge(l *loader) {
	out := l.out
	for _, f := range l.files {
		out.Warnings = append(out.Warnings, f.Notes...)
		p := &out.Policy
		p.OnlyRules = demanded(p.OnlyRules, f.Policy.OnlyRules)
		p.OnlyHooks = demanded(p.OnlyHooks, f.Policy.OnlyHooks)
		p.OnlyServers = demanded(p.OnlyServers, f.Policy.OnlyServers)
		p.RequireLog = demanded(p.RequireLog, f.Policy.RequireLog)
		p.ForbidModes = append(p.ForbidModes, f.Policy.ForbidModes...)
	}
	var servers serverMerge
	for _, f := range l.files {
		if projects(f.Kind) {
			f = admit(l, f)
		}
		take(l, f)
		servers.take(l, f)
	}
	out.Servers = servers.list(l)
	for _, f := range l.files {
		if projects(f.Kind) { // on top of the user's, which count less
			tightenShell(l, f)
		}
	}
}

// Fill puts into a setup what the settings have to say of it: the rules, whether
// only the policy's may allow, and the modes that it forbids.
func (l *Loaded) Fill(s *permissions.Setup) {
	s.Rules = append(s.Rules, l.Rules...)
	s.OnlyPolicyRules = s.OnlyPolicyRules || l.Policy.OnlyRules.Value
	for _, m := range l.Policy.ForbidModes {
		s.Forbidden = append(s.Forbidden, m.Value)
	}
}

// demanded joins settings that any source may demand and none may waive for
// another.
func demanded(a, b Key[bool]) Key[bool] {
	if b.Value && !a.Value {
		return b
	}
	return a.Or(b)
}

// take adds a file to what is loaded. It comes after all that outweigh it.
func take(l *loader, f *File) {
	out := l.out
	set := permissions.RuleSet{
		Source: f.Kind, File: f.Path,
		Deny: valid(l, f, f.Deny), Ask: valid(l, f, f.Ask), Allow: valid(l, f, f.Allow),
		Mode: modeOf(l, f),
	}
	if projects(f.Kind) {
		set.Folder = l.o.Project
	} else {
		for _, entry := range f.Sandbox.Outside.Value {
			set.Outside = append(set.Outside, permissions.RuleText{Text: entry, Line: f.Sandbox.Outside.Source.Line})
		}
	}
	for _, dir := range f.Directories {
		set.Directories = append(set.Directories, dir.Value)
	}
	out.Rules = append(out.Rules, set)
	takeHooks(l, f)
	if out.Judge == nil {
		out.Judge = f.Judge
	}
	out.Log.Required = demanded(out.Log.Required, f.Log.Required)
	if !out.Log.Directory.Set {
		out.Log.Directory = l.directory("log.directory", f.Log.Directory)
	}
	if !out.Sessions.Directory.Set {
		out.Sessions.Directory = l.directory("sessions.directory", f.Sessions.Directory)
	}
	out.Log.fill(f.Log)
	out.Sessions.fill(f.Sessions)
	out.Storage.fill(f.Storage)
	out.Results.fill(f.Results)
	out.Scheduler.fill(f.Scheduler)
	out.Tools.fill(f.Tools)
	out.Tasks.Kind = out.Tasks.Kind.Or(f.Tasks.Kind)
	out.Telemetry.fill(f.Telemetry)
	out.Network.Proxy = out.Network.Proxy.Or(f.Network.Proxy)
	out.Credentials.Store = out.Credentials.Store.Or(f.Credentials.Store)
	out.PluginConfig.fill(f.PluginConfig)
	if !projects(f.Kind) {
		out.Shell.fill(&f.Shell)
		out.Sandbox.fill(&f.Sandbox)
	}
	if !out.Sandbox.Writable.Set {
		out.Sandbox.Writable = l.directories("sandbox.writable", f.Sandbox.Writable)
	}
	a := &out.Approvals
	a.Timeout = a.Timeout.Or(f.Approvals.Timeout)
	a.AlwaysTo = a.AlwaysTo.Or(f.Approvals.AlwaysTo)
	a.DenyEndsTurn = a.DenyEndsTurn.Or(f.Approvals.DenyEndsTurn)
	if f.Isolation.Value == abi.IsolationProcess && out.Isolation.Value != abi.IsolationProcess {
		out.Isolation = f.Isolation
	}
	out.Isolation = out.Isolation.Or(f.Isolation)
}

// valid leaves out the rules that have expired.
func valid(l *loader, f *File, rules []Rule) []permissions.RuleText {
	out := make([]permissions.RuleText, 0, len(rules))
	for _, r := range rules {
		if r.expired(l.now) {
			l.out.Warnings = append(l.out.Warnings, permissions.Warning{
				Source: f.source(r.Line), Rule: r.Text, Message: "it counts no longer: it has expired",
			})
			continue
		}
		if next := &l.out.Expires; !r.Expires.IsZero() && (next.IsZero() || r.Expires.Before(*next)) {
			*next = r.Expires
		}
		out = append(out, r.ruleText())
	}
	return out
}

// ruleText is the rule as the judgement takes it.
func (r *Rule) ruleText() permissions.RuleText {
	return permissions.RuleText{Text: r.Text, Line: r.Line, Match: r.Match, NotMatch: r.NotMatch, Expires: r.Expires}
}

// modeOf is the mode that a file asks for and the policy does not forbid.
func modeOf(l *loader, f *File) permissions.Mode {
	forbids := func(k Key[permissions.Mode]) bool { return f.Mode.Set && k.Value == f.Mode.Value }
	if i := slices.IndexFunc(l.out.Policy.ForbidModes, forbids); i >= 0 {
		l.warn(f.Mode.Source, "the mode %s left out: forbidden by %s", f.Mode.Value, l.out.Policy.ForbidModes[i].Source)
		return ""
	}
	return f.Mode.Value
}

func takeHooks(l *loader, f *File) {
	if only := l.out.Policy.OnlyHooks; only.Value && f.Kind != permissions.SourcePolicy {
		if len(f.Hooks) > 0 {
			l.warn(f.source(0), "%d hooks left out: %s lets only the policy's own count", len(f.Hooks), only.Source)
		}
		return
	}
	for _, h := range f.Hooks {
		l.out.Hooks[h.Event] = append(l.out.Hooks[h.Event], h)
	}
}
