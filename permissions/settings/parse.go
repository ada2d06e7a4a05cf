package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
		p.file()
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return f, nil
}

// parser makes a [File] of what was decoded, and checks it.
type parser struct {
	faults
	in  format
	doc *stricttoml.Document
}

func (p *parser) fault(key, format string, args ...any) {
	p.add(p.doc.Line(key), key, format, args...)
}

// keyOf returns a setting as made in the file, if it was.
func keyOf[T any](p *parser, key string, value T) Key[T] {
	if !p.doc.Has(key) {
		return Key[T]{}
	}
	return Key[T]{value, true, p.faults.file.source(p.doc.Line(key))}
}

func (p *parser) file() {
	in, f := &p.in, p.faults.file
	p.allowed()
	f.Deny = p.rules("permissions.deny", in.Permissions.Deny)
	f.Ask = p.rules("permissions.ask", in.Permissions.Ask)
	f.Allow = p.rules("permissions.allow", in.Permissions.Allow)
	f.Mode = keyOf(p, "permissions.mode", p.mode("permissions.mode", in.Permissions.Mode))
	for i, dir := range in.Permissions.Directories {
		key := fmt.Sprintf("permissions.additional_directories[%d]", i)
		f.Directories = append(f.Directories, keyOf(p, key, dir))
	}
	p.plugins()
	p.hooks(PreToolUse, in.Hooks.PreToolUse)
	p.hooks(PostToolUse, in.Hooks.PostToolUse)
	p.hooks(PostToolUseFailure, in.Hooks.PostToolUseFailure)
	f.Judge = p.judge()
	f.Log = p.log()
	f.Approvals = p.approvals()
	f.Policy = p.policy()
	p.tables()
}

// allowed refuses settings that this source may not make.
func (p *parser) allowed() {
	kind := p.faults.file.Kind
	if kind != permissions.SourcePolicy {
		for _, key := range []string{"only_policy_rules", "only_policy_hooks", "forbid_modes", "require_log"} {
			if key = "permissions." + key; p.doc.Has(key) {
				p.fault(key, "only a policy may say this, and this is the %s's file", kind)
			}
		}
	}
	if projects(kind) {
		for _, key := range append([]string{"log", "approvals", "sessions", "telemetry"}, shellNeverProjects...) {
			if p.doc.Has(key) {
				p.fault(key, "a project has no say in this; it stands in the user's settings or a policy")
			}
		}
	}
}

// projects reports whether a source is what a repository brings.
func projects(kind permissions.SourceKind) bool {
	return kind == permissions.SourceProject || kind == permissions.SourceProjectLocal
}

func (p *parser) rules(list string, entries []ruleEntry) []Rule {
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

// mode reads a mode where there is one.
func (p *parser) mode(key, name string) permissions.Mode {
	if !p.doc.Has(key) {
		return ""
	}
	mode, err := permissions.ParseMode(name)
	if err != nil {
		p.fault(key, "%v", err)
	}
	return mode
}

func (p *parser) oneOf(key, value string, values ...string) {
	if p.doc.Has(key) && !slices.Contains(values, value) {
		p.fault(key, "%.40q is not known; write one of %s", value, strings.Join(values, ", "))
	}
}

// span reads a duration that must be over zero and at most most.
func (p *parser) span(key string, d duration, usual, most time.Duration) time.Duration {
	if !p.doc.Has(key) {
		return usual
	}
	if v := time.Duration(d); v <= 0 || v > most {
		p.fault(key, "%v is not over 0 and up to %v", v, most)
	}
	return time.Duration(d)
}

func (p *parser) policy() Policy {
	in := &p.in.Permissions
	out := Policy{
		OnlyRules:  keyOf(p, "permissions.only_policy_rules", in.OnlyPolicyRules),
		OnlyHooks:  keyOf(p, "permissions.only_policy_hooks", in.OnlyPolicyHooks),
		RequireLog: keyOf(p, "permissions.require_log", in.RequireLog),
	}
	for i, name := range in.ForbidModes {
		key := fmt.Sprintf("permissions.forbid_modes[%d]", i)
		out.ForbidModes = append(out.ForbidModes, keyOf(p, key, p.mode(key, name)))
	}
	return out
}
