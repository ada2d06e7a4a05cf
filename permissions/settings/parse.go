package settings

import (
	"fmt"
	"strings"

	"github.com/toolquay/toolquay/internal/stricttoml"
	"github.com/toolquay/toolquay/permissions"
)

// Parse reads the text of a settings.toml; path is for messages and sources.
// Unknown keys, wrong types, keys that this source may not set: all faults are
// reported at once, each a [*Fault]. What the rules say is judged by
// [permissions.Compile].
func Parse(kind permissions.SourceKind, path string, src []byte) (*File, error) {
	f := &File{Kind: kind, Path: path}
	p := parser{faults: faults{file: f}}
	body, ok := p.body(src)
	if ok {
		var bad []stricttoml.Fault
		p.doc, bad = stricttoml.Decode(body, &p.in)
		for _, fault := range bad {
			p.list = append(p.list, &Fault{f.source(fault.Line), fault.Path, fault.Message})
		}
		fillFile(&p)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return f, nil
}

func fillFile(p *parser) {
	in, f := &p.in, p.faults.file
	refuseForeign(p)
	f.Deny = rulesOf(p, "permissions.deny", in.Permissions.Deny)
	f.Ask = rulesOf(p, "permissions.ask", in.Permissions.Ask)
	if in.Permissions.AskToPlan {
		f.Ask = append(f.Ask, Rule{Text: "EnterPlanMode", Line: p.doc.Line("permissions.ask_to_plan")})
	}
	f.Allow = rulesOf(p, "permissions.allow", in.Permissions.Allow)
	f.Mode = keyOf(p, "permissions.mode", p.mode("permissions.mode", in.Permissions.Mode))
	for i, dir := range in.Permissions.Directories {
		key := fmt.Sprintf("permissions.additional_directories[%d]", i)
		f.Directories = append(f.Directories, keyOf(p, key, dir))
	}
	readPlugins(p)
	readHooks(p, PreToolUse, in.Hooks.PreToolUse)
	readHooks(p, PostToolUse, in.Hooks.PostToolUse)
	readHooks(p, PostToolUseFailure, in.Hooks.PostToolUseFailure)
	readHooks(p, TaskCreated, in.Hooks.TaskCreated)
	readHooks(p, TaskCompleted, in.Hooks.TaskCompleted)
	readHooks(p, WorktreeCreated, in.Hooks.WorktreeCreated)
	readHooks(p, WorktreeRemoved, in.Hooks.WorktreeRemoved)
	f.Judge = judgeOf(p)
	f.Log = logOf(p)
	f.Approvals = approvalsOf(p)
	f.Policy = policyOf(p)
	f.Results = resultsOf(p)
	f.Scheduler = schedulerOf(p)
	f.Tools = toolsOf(p)
	f.Tasks = tasksOf(p)
	f.Sessions = sessionsOf(p)
	f.Storage = storageOf(p)
	f.Telemetry = telemetryOf(p)
	f.Shell = shellOf(p)
	f.Sandbox = sandboxOf(p)
	readServers(p)
	f.Network = networkOf(p)
	f.Credentials = credentialsOf(p)
}

// refuseForeign refuses settings that this source may not make.
func refuseForeign(p *parser) {
	kind := p.faults.file.Kind
	if kind != permissions.SourcePolicy {
		for _, key := range []string{"only_policy_rules", "only_policy_hooks", "only_policy_servers", "forbid_modes", "require_log"} {
			if key = "permissions." + key; p.doc.Has(key) {
				p.fault(key, "only a policy may say this, and this is the %s's file", kind)
			}
		}
	}
	if projects(kind) {
		for _, key := range append([]string{"log", "approvals", "sessions", "storage", "telemetry", "network", "credentials", "tools.also"}, shellNeverProjects...) {
			if p.doc.Has(key) {
				p.fault(key, "a project has no say in this; it stands in the user's settings or a policy")
			}
		}
	}
}

func rulesOf(p *parser, list string, entries []ruleEntry) []Rule {
	out := make([]Rule, len(entries))
	for i := range entries {
		e, key := &entries[i], fmt.Sprintf("%s[%d]", list, i)
		out[i] = Rule{Text: e.Rule, Match: e.Match, NotMatch: e.NotMatch, Expires: e.Expires, Line: p.doc.Line(key)}
		if !e.plain && !p.doc.Has(key+".rule") {
			p.fault(key, "it has no rule; write rule = \"...\"")
		}
		// A time without an offset is another one on each machine.
		if strings.HasSuffix(e.Expires.Location().String(), "-local") {
			p.fault(key+".expires", "it lacks an offset from UTC; write it as 2027-01-01T00:00:00Z")
		}
	}
	return out
}

func policyOf(p *parser) Policy {
	in := &p.in.Permissions
	out := Policy{
		OnlyRules:   keyOf(p, "permissions.only_policy_rules", in.OnlyPolicyRules),
		OnlyHooks:   keyOf(p, "permissions.only_policy_hooks", in.OnlyPolicyHooks),
		OnlyServers: keyOf(p, "permissions.only_policy_servers", in.OnlyPolicyServers),
		RequireLog:  keyOf(p, "permissions.require_log", in.RequireLog),
	}
	for i, name := range in.ForbidModes {
		key := fmt.Sprintf("permissions.forbid_modes[%d]", i)
		out.ForbidModes = append(out.ForbidModes, keyOf(p, key, p.mode(key, name)))
	}
	return out
}
