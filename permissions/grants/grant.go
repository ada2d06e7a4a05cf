package grants

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolquay/toolquay/permissions"
)

// Scope says where a grant holds.
type Scope string

// The scopes.
const (
	// ScopeSession is one session, for as long as the process that runs it.
	ScopeSession Scope = "session"
	// ScopeProject is every session in one project.
	ScopeProject Scope = "project"
	// ScopeUser is every session of the user's.
	ScopeUser Scope = "user"
)

// Bounds of a list.
const (
	// MaxGrants is the most grants of a file, and of the sessions in memory.
	MaxGrants = 1000
	// maxText is the longest rule, path or name, in bytes.
	maxText = 4 << 10
	// skew is how far clocks may be apart, or set back, before the time of a
	// grant counts as made up.
	skew = 5 * time.Minute
)

// Grant is one rule that a person allowed.
type Grant struct {
	// ID names it, to revoke it. Add chooses it.
	ID string `json:"id"`
	// Rule is an allow rule. With ScopeProject and ScopeUser a pattern for paths
	// is anchored: //absolute, ~/home, or, in a project, /below-its-root. Others
	// would mean another place in each session.
	Rule  string `json:"rule"`
	Scope Scope  `json:"scope"`
	// Session is the session's id, with ScopeSession.
	Session string `json:"session,omitempty"`
	// Project is the project's root, absolute and clean, with ScopeProject.
	Project string `json:"project,omitempty"`
	// Granted is when; Add fills it in.
	Granted time.Time `json:"granted"`
	// Expires is when it ends; the zero time is never.
	Expires time.Time `json:"expires,omitzero"`
	// By says how the person said so: "terminal", "approval ID".
	By string `json:"by,omitempty"`
	// Tool and Plugin are those of the call that was asked about, for the person
	// who looks at the list later. They bind nothing.
	Tool   string `json:"tool,omitempty"`
	Plugin string `json:"plugin,omitempty"`
}

// Expired reports whether a grant has ended.
func (g *Grant) Expired(now time.Time) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) }

// check reports everything wrong with a grant.
func (g *Grant) check(now time.Time) error {
	var errs []error
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	for what, text := range map[string]string{
		"rule": g.Rule, "session": g.Session, "project": g.Project, "by": g.By, "tool": g.Tool, "plugin": g.Plugin,
	} {
		fault(len(text) > maxText || !utf8.ValidString(text), "its %s is over %d bytes or not text", what, maxText)
	}
	if len(errs) == 0 {
		errs = append(errs, g.checkScope(), g.checkRule())
	}
	fault(g.Granted.IsZero(), "it does not say when it was granted")
	fault(g.Granted.After(now.Add(skew)), "it was granted in the future, %s", g.Granted.Format(time.RFC3339))
	fault(!g.Expires.IsZero() && !g.Expires.After(g.Granted), "it ended before it was granted")
	return errors.Join(errs...)
}

func (g *Grant) checkScope() error {
	session, project := g.Scope == ScopeSession, g.Scope == ScopeProject
	switch {
	case !session && !project && g.Scope != ScopeUser:
		return fmt.Errorf("%q is no scope; there are %s, %s and %s", g.Scope, ScopeSession, ScopeProject, ScopeUser)
	case session != (g.Session != ""):
		return errors.New("a session belongs to the scope session, and to no other")
	case project != (g.Project != ""):
		return errors.New("a project belongs to the scope project, and to no other")
	case project && (!filepath.IsAbs(g.Project) || filepath.Clean(g.Project) != g.Project):
		return fmt.Errorf("the project %q is not an absolute, clean path", g.Project)
	}
	return nil
}

// checkRule wants a rule that grants all it seems to, the same in every session.
func (g *Grant) checkRule() error {
	rule, warning, err := permissions.ParseRule(permissions.Allow, g.Rule, permissions.Source{Kind: permissions.SourceSession}, nil)
	switch {
	case err != nil:
		return fmt.Errorf("the rule %q: %w", g.Rule, err)
	case warning != "":
		return fmt.Errorf("the rule %q: %s", g.Rule, warning)
	case g.Scope == ScopeSession || rule.Spec == "" || rule.Tool != "Read" && rule.Tool != "Edit":
		return nil
	case strings.HasPrefix(rule.Spec, "//"), strings.HasPrefix(rule.Spec, "~/"),
		g.Scope == ScopeProject && strings.HasPrefix(rule.Spec, "/"):
		return nil
	}
	return fmt.Errorf("the rule %q would mean another place in each session; begin the path with // or ~/, or in a project with /", g.Rule)
}

// holds reports whether a grant is for a session in a project.
func (g *Grant) holds(session, project string) bool {
	switch g.Scope {
	case ScopeUser:
		return true
	case ScopeProject:
		return g.Project == project
	case ScopeSession:
		return g.Session == session
	}
	return false
}

// compare orders grants by age, the oldest first.
func compare(a, b Grant) int {
	return cmp.Or(a.Granted.Compare(b.Granted), cmp.Compare(a.ID, b.ID))
}
