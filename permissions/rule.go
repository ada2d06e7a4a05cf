package permissions

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/toolquay/toolquay/permissions/internal/commandrule"
	"github.com/toolquay/toolquay/permissions/internal/hosts"
	"github.com/toolquay/toolquay/permissions/internal/pathrule"
	"github.com/toolquay/toolquay/permissions/internal/toolrule"
)

// SourceKind says who wrote a rule. Rules of all sources count together; the
// kind says what may edit it, and who is shown.
type SourceKind uint8

// The sources, the most weighty first.
const (
	SourcePolicy SourceKind = iota
	SourceCommandLine
	SourceSession
	SourceProjectLocal
	SourceProject
	SourceUser
)

var sourceNames = [...]string{"policy", "command line", "session", "project-local", "project", "user"}

// String returns the kind's name, such as "project-local".
func (k SourceKind) String() string {
	if int(k) < len(sourceNames) {
		return sourceNames[k]
	}
	return fmt.Sprintf("source(%d)", uint8(k))
}

// Source is where a rule stands.
type Source struct {
	Kind SourceKind
	// File is the settings file, or empty.
	File string
	// Line is 1-based; 0 is unknown.
	Line int
}

// String returns "project, .toolquay/settings.toml:3" or as much of it as is
// known.
func (s Source) String() string {
	out := s.Kind.String()
	if s.File != "" {
		out += ", " + s.File
		if s.Line > 0 {
			out += ":" + strconv.Itoa(s.Line)
		}
	}
	return out
}

// Rule is one line of a deny, ask or allow list.
type Rule struct {
	Verdict Verdict
	// Tool is the tool it binds, an alias resolved.
	Tool string
	// Spec is what stood in parentheses; empty for the whole tool.
	Spec   string
	Source Source

	text string
	// folder is what a pattern that starts with one slash is relative to.
	folder Dir
	name   toolrule.Name
	// expires is when it ceases to count; zero is never.
	expires time.Time
	coverage
}

// coverage is what a rule binds.
type coverage struct {
	// whole says that the rule binds calls of the tool as such.
	whole bool
	// path is set where it binds accesses to paths: reads where reads is set,
	// and writes where writes is.
	path          *pathrule.Spec
	reads, writes bool
	// command, host and param are set where it binds commands, hosts and calls
	// with a field of the input; of every tool where everyTool is set.
	command   *commandrule.Pattern
	host      *hosts.Pattern
	param     *toolrule.Field
	everyTool bool
	// outside says that the rule is no entry of a list of rules, but of the commands that may
	// leave the sandbox.
	outside bool
}

// String returns the rule as it was written.
func (r *Rule) String() string { return r.text }

// binds reports whether the rule binds anything.
func (r *coverage) binds() bool {
	return r.whole || r.path != nil || r.command != nil || r.host != nil || r.param != nil
}

// names reports whether the rule's name is that of the request's tool.
func (r *Rule) names(q *Request) bool {
	switch {
	case q.Origin.Server != "" && r.Verdict == Allow:
		return r.name.Grants(q.Tool, q.Origin.Server, q.Origin.Tool)
	case q.Origin.Server != "":
		return r.name.HoldsBack(q.Tool, q.Origin.Server, q.Origin.Tool)
	case r.Verdict == Allow && q.Origin.Plugin != "" && r.name.IsMCP():
		return false // a plugin's tool that calls itself a server's
	}
	return r.name.Match(q.Tool) || slices.ContainsFunc(q.Aliases, r.name.Match)
}

// speaksOf reports whether an allow rule on commands covers a part.
func (r *Rule) speaksOf(p *Part) bool {
	return !p.Inner && (len(p.Env) == 0 || p.EnvTunes) && r.command.Allows(p.Words)
}

// expired reports whether the rule has ceased to count.
func (r *Rule) expired(now time.Time) bool { return !r.expires.IsZero() && !r.expires.After(now) }

// Expires is when the rule ceases to count; zero is never.
func (r *Rule) Expires() time.Time { return r.expires }

// overBroad reports whether an allow comes to allowing any command.
func (r *Rule) overBroad() bool {
	if r.Verdict != Allow || r.outside {
		return false
	}
	if r.command != nil {
		return r.command.OverBroad()
	}
	return r.whole && (r.Tool == toolBash || r.Tool == toolPowerShell)
}

// byVerdict are rules in order, by their verdict.
type byVerdict [Deny + 1][]*Rule

func (l *byVerdict) add(r *Rule) { l[r.Verdict] = append(l[r.Verdict], r) }
