package permissions

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/toolquay/toolquay/permissions/internal/paths"
	"github.com/toolquay/toolquay/permissions/internal/protected"
)

// Setup is what a policy is compiled from.
type Setup struct {
	// Cwd is where the session begins: the first working directory, and what
	// relative patterns are relative to.
	Cwd Dir
	// Additional are further working directories.
	Additional []Dir
	// Home is what ~ stands for; empty is not known.
	Home Dir
	// ProjectRoot is what a pattern with one leading slash is relative to in
	// rules of the project; default Cwd.
	ProjectRoot Dir
	// SessionFolder is the session's own folder, readable unasked.
	SessionFolder Dir
	// TempFolder is what the session's commands have for temporary files, readable
	// unasked: what they write there, other tools are to find.
	TempFolder Dir
	// Sessions holds the folders of all sessions: reading what others keep asks, as
	// it does in credential stores.
	Sessions Dir
	// HostFolders hold the host's own settings and plugins; changing anything
	// there asks.
	HostFolders []Dir
	// PlanFile is the one file that may be written in ModePlan.
	PlanFile Dir

	// Mode is used where no rule set names one; empty is ModeDefault.
	Mode Mode
	// Forbidden are modes that are not offered: a policy in one is an error.
	Forbidden []Mode
	// ForbidBypass forbids ModeBypass.
	ForbidBypass bool
	// OnlyPolicyRules makes allow rules of other sources than policy grant
	// nothing. Their deny and ask rules stand.
	OnlyPolicyRules bool

	// Rules are the rules by source, in any order.
	Rules []RuleSet
	// Aliases maps other names of tools to the names that rules may use for
	// them.
	Aliases map[string]string
	// Tools are the tools there are. Of one that is not listed, a deny or ask
	// rule with parentheses that is not about paths, commands for Bash or hosts
	// for WebFetch takes every reading.
	Tools []Tool
	// Now is the time, for rules that expire. Without it allow rules that do
	// grant nothing.
	Now time.Time

	// FoldCase makes deny and ask rules match paths whatever the case of their
	// letters; set it where the file system does so ([FoldsCase]).
	FoldCase bool
	// Resolve returns where an absolute path really lies, as far as it exists,
	// the rest of the name left as it is; or empty. With it a deny or ask rule
	// that names a link also binds what the link points at. Compile and the
	// With methods call it, Decide never. Nil leaves links in rules alone.
	Resolve func(path string) string
	// ResolveDirectory is Resolve for the additional directories of rule sets. One that
	// answers the same for as long as a session lasts keeps a link that is changed
	// meanwhile from moving its working directories. Nil is Resolve.
	ResolveDirectory func(path string) string
	// Analyse reads a command, for the examples of rules on commands. Nil takes
	// them for one simple command each.
	Analyse func(text string) Command
}

// FoldsCase reports whether file systems of this platform commonly take names
// that differ in case for the same.
func FoldsCase() bool { return runtime.GOOS == "darwin" || runtime.GOOS == "windows" }

// RuleSet is the rules of one source.
type RuleSet struct {
	Source SourceKind
	// File is the settings file they stand in, for messages.
	File string
	// Folder is what patterns with one leading slash are relative to. Default:
	// for the project's rules the project root, for others that of File, else
	// the working directory.
	Folder Dir

	Deny, Ask, Allow []RuleText
	// Mode is the mode the source asks for. Of several, the weightiest
	// source's counts.
	Mode Mode
	// Directories are additional working directories, relative to Folder or
	// with ~.
	Directories []string
}

// RuleText is a rule as written.
type RuleText struct {
	Text string
	// Line is its line in the file; 0 is unknown.
	Line int
	// Match and NotMatch are examples that Compile holds the rule to: calls,
	// such as Read(/etc/hosts) or Bash(git push), or what stands in their
	// parentheses alone. See the package comment.
	Match, NotMatch []string
	// Expires is when the rule ceases to count; zero is never.
	Expires time.Time
}

// RuleTexts returns rules that stand in no file.
func RuleTexts(rules ...string) []RuleText {
	out := make([]RuleText, len(rules))
	for i, text := range rules {
		out[i].Text = text
	}
	return out
}

// Warning is something about a rule or setting that its writer may not expect.
// It never loosens anything.
type Warning struct {
	Source Source
	// Rule is the rule's text; empty for other settings.
	Rule    string
	Message string
}

// String returns the warning with its place.
func (w Warning) String() string {
	if w.Rule == "" {
		return fmt.Sprintf("%s: %s", w.Source, w.Message)
	}
	return fmt.Sprintf("%s: rule %s: %s", w.Source, w.Rule, w.Message)
}

// Policy is everything one decision depends on besides the request: rules,
// mode, directories. It is immutable and safe for concurrent use; the With
// methods return changed copies.
type Policy struct {
	mode      Mode
	forbidden []Mode
	only      bool
	now       time.Time
	planFile  []string
	tools     tools
	analyse   func(string) Command
	// rules are all rules, sorted, so that the order they came in tells in
	// nothing, not even in which of two equal rules a decision names.
	rules   []*Rule
	aliases map[string]string
	// resolveDirectory is the setup's; nil resolves nothing.
	resolveDirectory func(string) string
	project          Dir
	places           places
	// working are the names of the working directories, and workingReal where
	// they really are; session and temp those of the session's folders.
	working, workingReal []string
	session, temp        []string
	// critical are the directories whose removal asks in every mode, besides /
	// and its children.
	critical []string
	guards   protected.Paths
	book     book
}

// Compile builds a policy. Malformed allow rules grant nothing and are warned
// about; a malformed deny or ask rule is an error, as leaving it out would
// loosen what its writer meant. All errors are reported at once.
func Compile(s Setup) (*Policy, []Warning, error) {
	if err := checkDirs(&s); err != nil {
		return nil, nil, err
	}
	p := &Policy{
		mode: s.Mode, forbidden: slices.Clone(s.Forbidden), only: s.OnlyPolicyRules, now: s.Now,
		planFile: slashed(s.PlanFile), session: slashed(s.SessionFolder), temp: slashed(s.TempFolder),
		tools: newTools(s.Tools), analyse: s.Analyse, aliases: aliases(&s), project: s.ProjectRoot,
		places:           places{home: s.Home, start: s.Cwd, cwd: s.Cwd, fold: s.FoldCase, resolve: s.Resolve},
		resolveDirectory: s.ResolveDirectory,
	}
	if p.resolveDirectory == nil {
		p.resolveDirectory = s.Resolve
	}
	if p.project.Path == "" {
		p.project = s.Cwd
	}
	if s.ForbidBypass {
		p.forbidden = append(p.forbidden, ModeBypass)
	}
	hostFolders := make([][]string, len(s.HostFolders))
	for i, dir := range s.HostFolders {
		hostFolders[i] = dir.forms()
	}
	p.guards = protected.Paths{Index: protected.New(s.Home.forms(), s.Sessions.forms(), hostFolders), Session: p.session}
	p.work(s.Cwd)
	p.work(s.Additional...)
	p.critical = criticalPaths(&p.places)
	warnings, err := p.take(s.Rules)
	if err != nil {
		return nil, warnings, err
	}
	return p, append(warnings, p.SetAside()...), nil
}

// aliases are those of the setup and of its tools; the setup's count first.
func aliases(s *Setup) map[string]string {
	all := make(map[string]string)
	for i := range s.Tools {
		for _, alias := range s.Tools[i].Aliases {
			all[alias] = s.Tools[i].Name
		}
	}
	maps.Copy(all, s.Aliases)
	return all
}

func checkDirs(s *Setup) error {
	var errs []error
	check := func(what string, needed bool, dirs ...Dir) {
		for _, d := range dirs {
			for _, form := range []string{d.Path, d.Real} {
				if form != "" && !paths.IsClean(filepath.ToSlash(form)) || needed && d.Path == "" {
					errs = append(errs, fmt.Errorf("the %s %q is not an absolute, clean path", what, form))
				}
			}
		}
	}
	check("working directory", true, s.Cwd)
	check("working directory", true, s.Additional...)
	check("home", false, s.Home)
	check("project root", false, s.ProjectRoot)
	check("session folder", false, s.SessionFolder)
	check("folder for temporary files", false, s.TempFolder)
	check("directory of sessions", false, s.Sessions)
	check("plan file", false, s.PlanFile)
	check("host folder", true, s.HostFolders...)
	return errors.Join(errs...)
}

// work adds working directories.
func (p *Policy) work(dirs ...Dir) {
	for _, d := range dirs {
		if forms := slashed(d); len(forms) > 0 {
			p.working = append(p.working, forms...)
			p.workingReal = append(p.workingReal, forms[len(forms)-1])
		}
	}
}

// slashed is the names of a directory as [below] takes them.
func slashed(d Dir) []string {
	var out []string
	for _, form := range d.forms() {
		out = append(out, paths.Prefix(form))
	}
	return out
}

// inside and insideReal report whether a path is in the working directories, by
// its name and as it really is.
func (p *Policy) inside(path string) bool     { return paths.InsideAny(p.working, path) }
func (p *Policy) insideReal(path string) bool { return paths.InsideAny(p.workingReal, path) }

// readable and readableReal report whether it is there or in the session's
// folders.
func (p *Policy) readable(path string) bool {
	return p.inside(path) || paths.InsideAny(p.session, path) || paths.InsideAny(p.temp, path)
}

func (p *Policy) readableReal(path string) bool {
	return p.insideReal(path) || paths.InsideAny(last(p.session), path) || paths.InsideAny(last(p.temp), path)
}

// last is the last name of a directory, by which it really lies; none has none.
func last(forms []string) []string { return forms[max(0, len(forms)-1):] }

// take adds rule sets to a policy that is being built, and binds all rules.
func (p *Policy) take(sets []RuleSet) ([]Warning, error) {
	var l loader
	l.policy = p
	sets = slices.Clone(sets)
	slices.SortStableFunc(sets, func(a, b RuleSet) int { return int(a.Source) - int(b.Source) })
	for i := range sets {
		l.load(&sets[i])
	}
	for i := range sets {
		if sets[i].Mode != "" {
			p.mode = sets[i].Mode
			break
		}
	}
	if err := p.checkMode(); err != nil {
		l.errs = append(l.errs, err)
	}
	if err := errors.Join(l.errs...); err != nil {
		return l.warnings, err
	}
	slices.SortStableFunc(p.rules, compareRules)
	p.book = newBook(p.rules, &p.places)
	return l.warnings, nil
}

func (p *Policy) checkMode() error {
	if p.mode == "" {
		p.mode = ModeDefault
	}
	if _, err := ParseMode(string(p.mode)); err != nil {
		return err
	}
	if slices.Contains(p.forbidden, p.mode) {
		return fmt.Errorf("the mode %s is forbidden by policy", p.mode)
	}
	return nil
}

// Modes are the modes that policy does not forbid.
func (p *Policy) Modes() []Mode {
	return slices.DeleteFunc(slices.Clone(allModes), func(m Mode) bool { return slices.Contains(p.forbidden, m) })
}

// WithMode returns the policy in another mode, or an error where that is
// unknown or forbidden.
func (p *Policy) WithMode(m Mode) (*Policy, error) {
	q := *p
	q.mode = m
	if err := q.checkMode(); err != nil {
		return nil, err
	}
	return &q, nil
}

// WithCwd returns the policy for a session that has moved. Deny and ask rules
// with relative patterns bind there as well as where the session began; allow
// rules stay where it began, and the working directories are what they were.
func (p *Policy) WithCwd(cwd Dir) *Policy {
	q := *p
	q.places.cwd = cwd
	q.book = newBook(q.rules, &q.places)
	q.critical = criticalPaths(&q.places)
	return &q
}

// WithPlanFile returns the policy with another file that may be written in
// ModePlan.
func (p *Policy) WithPlanFile(file Dir) *Policy {
	q := *p
	q.planFile = slashed(file)
	return &q
}

// At returns the policy as it is at a later time: without the rules that have
// expired. It is the same policy where none has.
func (p *Policy) At(now time.Time) *Policy {
	if !slices.ContainsFunc(p.rules, func(r *Rule) bool { return r.expired(now) }) {
		return p
	}
	q := *p
	q.now = now
	q.rules = slices.DeleteFunc(slices.Clone(p.rules), func(r *Rule) bool { return r.expired(now) })
	q.book = newBook(q.rules, &q.places)
	return &q
}

// WithRules returns the policy with one more rule set, such as what a person
// allowed for the session.
func (p *Policy) WithRules(set RuleSet) (*Policy, []Warning, error) {
	q := *p
	q.rules = slices.Clone(p.rules)
	q.working, q.workingReal = slices.Clone(p.working), slices.Clone(p.workingReal)
	warnings, err := q.take([]RuleSet{set})
	if err != nil {
		return nil, warnings, err
	}
	return &q, warnings, nil
}

// SetAside says which allow rules grant nothing because of the mode: in ModeAuto
// those that come to allowing any command, so that a judge sees what they would
// let pass.
func (p *Policy) SetAside() []Warning {
	if p.mode != ModeAuto {
		return nil
	}
	var out []Warning
	for _, r := range p.rules {
		if r.overBroad() {
			out = append(out, Warning{Source: r.Source, Rule: r.text, Message: "it is set aside in the mode auto: it would allow any command"})
		}
	}
	return out
}

// Mode is the policy's mode.
func (p *Policy) Mode() Mode { return p.mode }

// Cwd is the session's working directory.
func (p *Policy) Cwd() Dir { return p.places.cwd }

// WorkingDirs are the session's working directories, as they really lie.
func (p *Policy) WorkingDirs() []string {
	out := make([]string, len(p.workingReal))
	for i, dir := range p.workingReal {
		out[i] = cmp.Or(dir, "/")
	}
	return out
}

// Rules returns the rules that count, by source, file and line.
func (p *Policy) Rules() []*Rule { return slices.Clone(p.rules) }

// Offered reports whether the model is to be told of a tool: not where a deny
// rule binds all of its calls.
func (p *Policy) Offered(tool string, aliases ...string) bool {
	return p.OfferedFrom(Origin{}, tool, aliases...)
}

// OfferedFrom is Offered for a tool of which more is on record than its name.
func (p *Policy) OfferedFrom(origin Origin, tool string, aliases ...string) bool {
	q := Request{Tool: tool, Aliases: aliases, Origin: origin}
	return !slices.ContainsFunc(p.book.tools[Deny], func(r *Rule) bool { return r.names(&q) })
}
